"""Our own side is told: a bus of everything, and the contacts of an endpoint's trouble.

Belongs here: both services' forms. Does not: which events there are.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws.outages import told
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.event import Event, EventType
from fireflyassets.ports.webhooks import Announcer

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_sns import SNSClient

SOURCE: Final = "fireflyassets"
CUSTOMER_SUCCESS: Final = "cs"
_SUBJECT_LIMIT: Final = 100


class AwsAnnouncer(Announcer):
    """Puts events on a bus, and sends mail-like messages to topics. Safe to share by threads."""

    def __init__(
        self,
        bus: str,
        contacts: Mapping[str, str],
        *,
        events: "Callable[[], EventBridgeClient]",
        sns: "Callable[[], SNSClient]",
    ) -> None:
        self._bus = bus
        self._contacts = dict(contacts)
        self._events = events() if bus else None
        self._sns = sns() if contacts else None

    def announce(self, event: Event, body: str) -> None:
        """Tell the bus, and the contact of an endpoint that was disabled."""
        if self._events is not None:
            self._put(self._events, event, body)
        topic = self._contacts.get(CUSTOMER_SUCCESS)
        if self._sns is not None and topic and event.type is EventType.ENDPOINT_DISABLED:
            facts = event.facts
            with told("SNS"):
                self._sns.publish(
                    TopicArn=topic,
                    Subject=f"Webhooks of {event.customer} are {facts['reason']}"[:_SUBJECT_LIMIT],
                    Message=(
                        f"Customer {event.customer}, endpoint {facts['endpointId']}: "
                        f"{facts['reason']} since {facts['since']}.\n"
                        f"Last error: {facts['lastError']}\n"
                        f"How to return: {facts['howToReturn']}\n"
                    ),
                )

    def _put(self, client: "EventBridgeClient", event: Event, body: str) -> None:
        with told("EventBridge"):
            answer = client.put_events(
                Entries=[
                    {
                        "EventBusName": self._bus,
                        "Source": SOURCE,
                        "DetailType": event.type.value,
                        "Resources": [event.customer],
                        "Time": event.at,
                        "Detail": body,
                    }
                ]
            )
        if answer["FailedEntryCount"]:
            raise StoreUnavailable("EventBridge", str(answer["Entries"][0].get("ErrorCode")))
