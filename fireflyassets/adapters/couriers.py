"""Couriers: a delivery to a customer's server over HTTP, or to a topic of SNS.

Belongs here: one try of each kind, told as an attempt. Does not: when, and what follows.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from fireflyassets.adapters.adobe import retry_after
from fireflyassets.adapters.guarded_http import GuardedHttp, Unreachable
from fireflyassets.adapters.webhook_secrets import WebhookSecrets
from fireflyassets.core.endpoint import HEAD, Attempt, Delivery, Endpoint
from fireflyassets.core.errors import SecretUnreachable, UnusableConfiguration
from fireflyassets.ports.clock import Clock, Offload
from fireflyassets.ports.webhooks import Courier
from fireflyassets.webhooks.verify import signed_headers

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

_ALWAYS: Final = {"Content-Type": "application/json", "User-Agent": "fireflyassets-webhooks/1"}


class HttpCourier(Courier):
    """Signs a delivery anew for each try, and posts the very bytes that it signed."""

    def __init__(self, http: GuardedHttp, secrets: WebhookSecrets, clock: Clock) -> None:
        self._http = http
        self._secrets = secrets
        self._clock = clock

    async def bring(self, delivery: Delivery, endpoint: Endpoint) -> Attempt:
        """Try once; without a secret nothing is sent."""
        at = self._clock.now()
        body = delivery.body.encode()
        try:
            headers = signed_headers(
                body,
                webhook_id=delivery.webhook_id,
                at_seconds=int(at.timestamp()),
                secrets=self._secrets.all(endpoint, at),
            )
            answer = await self._http.post(endpoint.url, body, {**_ALWAYS, **headers})
        except (Unreachable, UnusableConfiguration, SecretUnreachable) as error:
            return Attempt(at, None, self._clock.now() - at, str(error)[:HEAD])
        return Attempt(
            at,
            answer.status,
            self._clock.now() - at,
            printable(answer.head),
            retry_after=retry_after.asked([answer.retry_after], now=at),
        )


class SnsCourier(Courier):
    """Publishes to a customer's topic; who may subscribe there is theirs to say."""

    def __init__(self, connect: "Callable[[], SNSClient]", clock: Clock, offload: Offload) -> None:
        """Take what makes the client, at first use: few installations need it."""
        self._connect = connect
        self._clock = clock
        self._offload = offload

    @cached_property
    def _client(self) -> "SNSClient":
        return self._connect()

    async def bring(self, delivery: Delivery, endpoint: Endpoint) -> Attempt:
        """Try once."""
        at = self._clock.now()
        status, said = await self._offload(self._publish, delivery, endpoint.url)
        return Attempt(at, status, self._clock.now() - at, said)

    def _publish(self, delivery: Delivery, topic: str) -> tuple[int | None, str]:
        said = {"type": delivery.type.value, "webhook-id": delivery.webhook_id}
        try:
            self._client.publish(
                TopicArn=topic,
                Message=delivery.body,
                MessageAttributes={
                    name: {"DataType": "String", "StringValue": value}
                    for name, value in said.items()
                },
            )
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode"), code
        except BotoCoreError as error:
            return None, type(error).__name__
        return 200, ""


def printable(head: bytes) -> str:
    """Return the first letters of a body, without any that would do something to a terminal."""
    text = head[: 4 * HEAD].decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else " " for letter in text)[:HEAD]
