"""Couriers on real sockets. Here: what a receiver gets, and what is told of it."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from standardwebhooks import Webhook

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.couriers import HttpCourier, printable
from fireflyassets.adapters.guarded_http import Guard, GuardedHttp
from fireflyassets.adapters.secrets import EnvironmentSecrets
from fireflyassets.adapters.webhook_secrets import WebhookSecrets
from fireflyassets.core.endpoint import HEAD, Attempt, Delivery, Endpoint
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.event import Event, EventType
from fireflyassets_tests.adapters.strange_servers import Behaviour, hanging, listening, saying
from fireflyassets_tests.contracts import webhooks
from fireflyassets_tests.contracts.ledgers import ACME, NOON

ROOT = {"HOOKS_ID": "root", "HOOKS_SECRET": "r" * 32}
BODY = '{"type":"job.failed","facts":"é 🌿 \u2028 </script> & 1.0"}'
ENDPOINT = webhooks.endpoint()
EVENT = Event("e", EventType.JOB_FAILED, ACME, NOON)
DELIVERY = replace(webhooks.delivery(EVENT, ENDPOINT), body=BODY)


def secrets(variables: dict[str, str] = ROOT, reference: str = "env:HOOKS") -> WebhookSecrets:
    return WebhookSecrets(EnvironmentSecrets(variables), reference, SystemClock())


def brought(
    behave: Behaviour,
    *,
    endpoint: Endpoint = ENDPOINT,
    delivery: Delivery = DELIVERY,
    signer: WebhookSecrets | None = None,
) -> tuple[Attempt, list[bytes]]:
    """Bring a delivery to a stranger; return what is told, and the requests that came."""

    async def run() -> tuple[Attempt, list[bytes]]:
        async with listening(behave) as stranger:
            http = GuardedHttp(Guard(trusted=("127.0.0.1",)), deadline=timedelta(seconds=0.3))
            courier = HttpCourier(http, signer or secrets(), SystemClock())
            to = replace(endpoint, url=f"http://127.0.0.1:{stranger.port}/")
            told = await courier.bring(delivery, to)
            await http.close()
            return told, stranger.requests

    return asyncio.run(run())


def received(request: bytes) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of a raw request, as a receiver of any language has them."""
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.decode("ascii").split("\r\n")[1:]
    return body, dict(line.split(": ", 1) for line in lines)


def test_a_receiver_with_the_standards_own_library_accepts_it() -> None:
    """Over the raw bytes that came, with the secret that its customer was shown."""
    told, (request,) = brought(saying(204))
    body, headers = received(request)

    assert Webhook(secrets().newest(ENDPOINT)).verify(body, headers)["facts"].startswith("é 🌿")
    assert body == BODY.encode()
    assert headers["webhook-id"] == DELIVERY.webhook_id
    assert told.status == 204
    assert told.took > timedelta(0)


def test_while_a_secret_is_rotated_receivers_with_either_accept() -> None:
    rotated = ENDPOINT.rotated(SystemClock().now())

    _, (request,) = brought(saying(200), endpoint=rotated)
    body, headers = received(request)

    older, newer = secrets().newest(ENDPOINT), secrets().newest(rotated)
    assert older != newer
    assert Webhook(older).verify(body, headers)
    assert Webhook(newer).verify(body, headers)


def test_while_the_root_is_rotated_receivers_of_before_accept() -> None:
    """Nobody has to be told at the same hour: both roots sign until the older one is taken away."""
    both = ROOT | {"HOOKS_SECRET": "s" * 32, "HOOKS_SECRET_OLDER": ROOT["HOOKS_SECRET"]}

    _, (request,) = brought(saying(200), signer=secrets(both))
    body, headers = received(request)

    assert Webhook(secrets().newest(ENDPOINT)).verify(body, headers)


@pytest.mark.parametrize(
    ("variables", "reference"),
    [(ROOT, ""), ({}, "env:HOOKS"), ({**ROOT, "HOOKS_SECRET": "short"}, "env:HOOKS")],
)
def test_without_a_secret_nothing_is_sent(variables: dict[str, str], reference: str) -> None:
    """It fails closed: an unsigned webhook teaches receivers to take what is not ours."""
    signer = secrets(variables, reference)

    told, requests = brought(saying(204), signer=signer)

    assert requests == []
    assert not told.succeeded
    with pytest.raises(UnusableConfiguration):
        signer.newest(ENDPOINT)


def test_no_two_endpoints_share_a_secret() -> None:
    names = [("a", "ep"), ("a", "ep2"), ("b", "ep"), ("ae", "p")]
    made = {secrets().newest(webhooks.endpoint(name, customer)) for customer, name in names}

    assert len(made) == len(names)


def test_a_retry_is_signed_anew_under_the_same_id() -> None:
    first, second = (received(brought(saying(500))[1][0]) for _ in range(2))

    assert first[0] == second[0]
    assert first[1]["webhook-id"] == second[1]["webhook-id"]


def test_what_is_told_holds_no_secret_and_no_control_letters() -> None:
    secret = secrets().newest(ENDPOINT)
    told, _ = brought(saying(500, b"\x1b[2J\r\nno " + b"x" * 5000))

    assert len(told.said) == HEAD
    assert told.said.isprintable()
    assert secret not in repr(told) + repr(secrets())
    assert printable("🌿".encode()[:3]) == "\ufffd"


def test_who_hangs_is_told_as_no_answer() -> None:
    told, _ = brought(hanging)

    assert told.status is None
    assert "No answer" in told.said


def test_a_retry_after_is_read() -> None:
    told, _ = brought(saying(429, Retry_After="120"))

    assert told.retry_after == timedelta(seconds=120)
