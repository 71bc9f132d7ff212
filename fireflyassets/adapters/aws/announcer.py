"""Our own side is told: a bus of everything, and the people that one event or another is for.

Belongs here: both services' forms. Does not: which events there are.
"""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from fireflyassets.adapters.aws.outages import told
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.event import Event, EventType
from fireflyassets.ports.webhooks import Announcer

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_sns import SNSClient

SOURCE: Final = "fireflyassets"
CUSTOMER_SUCCESS: Final = "cs"
REVIEWERS: Final = "review"
_SUBJECT_LIMIT: Final = 100


class Letter(NamedTuple):
    """What a person gets, and by which contact."""

    contact: str
    subject: str
    message: str


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
        """Tell the bus, and the contact that the event is for."""
        if self._events is not None:
            self._put(self._events, event, body)
        letter = letter_of(event, body)
        topic = self._contacts.get(letter.contact) if letter else None
        if letter and topic and self._sns is not None:
            subject = letter.subject[:_SUBJECT_LIMIT]
            with told("SNS"):
                self._sns.publish(TopicArn=topic, Subject=subject, Message=letter.message)

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


def letter_of(event: Event, body: str) -> Letter | None:
    """Return whom an event needs and what they must know; None: nobody has to act."""
    match event.type:
        case EventType.ENDPOINT_DISABLED:
            facts = event.facts
            return Letter(
                CUSTOMER_SUCCESS,
                f"Webhooks of {event.customer} are {facts['reason']}",
                f"Customer {event.customer}, endpoint {facts['endpointId']}: "
                f"{facts['reason']} since {facts['since']}.\n"
                f"Last error: {facts['lastError']}\n"
                f"How to return: {facts['howToReturn']}\n",
            )
        case EventType.JOB_REVIEW:
            of = json.loads(body)
            return Letter(
                REVIEWERS,
                f"A job of {event.customer} needs a look",
                f"Customer {event.customer}, campaign {of['campaignId']}, job {event.job_id}.\n"
                f"Class of the fault: {of['failureClass'] or 'none'}.\n"
                f"What to do: fireflyassets why {event.job_id}\n",
            )
        case _:
            return None
