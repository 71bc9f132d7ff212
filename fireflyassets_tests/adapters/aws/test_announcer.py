"""Our own side, and topics of customers, on the embedded AWS. Here: what comes out of them."""

import asyncio
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.announcer import AwsAnnouncer
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.couriers import SnsCourier
from fireflyassets.adapters.threads import lanes
from fireflyassets.core.endpoint import Kind
from fireflyassets.core.event import Event, EventType, body_of, facts_payload
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.status import Status
from fireflyassets.stages.notify import event_body
from fireflyassets_tests.aws_clients import aws_environment
from fireflyassets_tests.contracts import webhooks
from fireflyassets_tests.contracts.ledgers import ACME, NOON, job
from fireflyassets_tests.contracts.stores import unique

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

pytestmark = pytest.mark.stack

FACTS = {
    "endpointId": "ep_1",
    "reason": "down",
    "since": "2026-03-09T12:00:00Z",
    "lastError": "HTTP 503",
    "howToReturn": "Answer 2xx.",
}
DOWN = Event("e", EventType.ENDPOINT_DISABLED, ACME, NOON, facts=FACTS)


@pytest.fixture
def sns(ministack: str) -> "Iterator[SNSClient]":
    with aws_environment(ministack):
        client = clients.sns()
    yield client
    client.close()


@pytest.fixture
def events(ministack: str) -> "Iterator[EventBridgeClient]":
    with aws_environment(ministack):
        client = clients.events()
    yield client
    client.close()


def inbox(sqs: "SQSClient") -> tuple[str, str]:
    """Return address and ARN of a new queue."""
    url = sqs.create_queue(QueueName=unique("inbox"))["QueueUrl"]
    told = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return url, told["Attributes"]["QueueArn"]


def subscribed(sns: "SNSClient", arn: str) -> str:
    """Return the ARN of a new topic that the queue hears."""
    topic = sns.create_topic(Name=unique("topic"))["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    return topic


def heard(sqs: "SQSClient", url: str) -> dict[str, Any]:
    """Return the one message that came."""
    (message,) = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=5)["Messages"]
    return json.loads(message["Body"])


def test_an_event_comes_out_of_the_bus(
    events: "EventBridgeClient", sns: "SNSClient", sqs: "SQSClient"
) -> None:
    """A rule by its type sends the payload on, as it is."""
    bus, (url, arn) = unique("bus"), inbox(sqs)
    events.create_event_bus(Name=bus)
    pattern = json.dumps({"detail-type": ["endpoint.disabled"]})
    events.put_rule(Name=bus, EventBusName=bus, EventPattern=pattern)
    events.put_targets(Rule=bus, EventBusName=bus, Targets=[{"Id": "q", "Arn": arn}])
    announcer = AwsAnnouncer(bus, {}, events=lambda: events, sns=lambda: sns)

    announcer.announce(DOWN, body_of(facts_payload(DOWN)))

    told = heard(sqs, url)
    assert (told["source"], told["detail-type"]) == ("fireflyassets", "endpoint.disabled")
    assert told["detail"]["facts"] == FACTS


def test_customer_success_hears_of_an_endpoint_that_is_down(
    events: "EventBridgeClient", sns: "SNSClient", sqs: "SQSClient"
) -> None:
    """With the last error and how to return; of other events nothing."""
    url, arn = inbox(sqs)
    announcer = AwsAnnouncer(
        "", {"cs": subscribed(sns, arn)}, events=lambda: events, sns=lambda: sns
    )

    announcer.announce(Event("f", EventType.CAMPAIGN_COMPLETED, ACME, NOON), "{}")
    announcer.announce(DOWN, "{}")

    told = heard(sqs, url)
    assert told["Subject"] == "Webhooks of acme are down"
    assert "HTTP 503" in told["Message"]
    assert "Answer 2xx." in told["Message"]


def test_reviewers_hear_of_a_job_that_needs_a_look(
    events: "EventBridgeClient", sns: "SNSClient", sqs: "SQSClient"
) -> None:
    """By its own topic, with what to ask for more; customer success is left alone."""
    (mine, at), (others, elsewhere) = inbox(sqs), inbox(sqs)
    contacts = {"review": subscribed(sns, at), "cs": subscribed(sns, elsewhere)}
    announcer = AwsAnnouncer("", contacts, events=lambda: events, sns=lambda: sns)
    row = job("k1", status=Status.REVIEW, failure=FailureClass.UNSAFE_CONTENT)
    event = Event("r", EventType.JOB_REVIEW, ACME, NOON, job_id=row.job_id, status=row.status)

    announcer.announce(event, event_body(event, row, api_url="https://api.example"))

    told = heard(sqs, mine)
    assert told["Subject"] == "A job of acme needs a look"
    assert f"job {row.job_id}." in told["Message"]
    assert "unsafe-content" in told["Message"]
    assert "Messages" not in sqs.receive_message(QueueUrl=others)


def test_a_topic_is_a_way_to_be_told(sns: "SNSClient", sqs: "SQSClient") -> None:
    url, arn = inbox(sqs)
    to = webhooks.endpoint(kind=Kind.SNS, url=subscribed(sns, arn))
    made = webhooks.delivery(DOWN, to)
    courier = SnsCourier(lambda: sns, SystemClock(), lanes().ledger)

    attempt = asyncio.run(courier.bring(made, to))

    assert attempt.succeeded
    told = heard(sqs, url)
    assert told["Message"] == made.body
    assert told["MessageAttributes"]["webhook-id"]["Value"] == made.webhook_id


def test_a_topic_that_is_gone_is_no_receipt(sns: "SNSClient") -> None:
    gone = "arn:aws:sns:eu-west-1:000000000000:gone"
    to = webhooks.endpoint(kind=Kind.SNS, url=gone)
    courier = SnsCourier(lambda: sns, SystemClock(), lanes().ledger)

    attempt = asyncio.run(courier.bring(webhooks.delivery(DOWN, to), to))

    assert not attempt.succeeded
    assert attempt.said
