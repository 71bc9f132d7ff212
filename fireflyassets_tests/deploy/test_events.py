"""The template of the bus: its rule, made on the embedded AWS, gets what we put there.

The emulator makes no API destinations: a queue stands in for one, by the same rule and path.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.announcer import SOURCE, AwsAnnouncer
from fireflyassets.core.event import Event, EventType, body_of, facts_payload
from fireflyassets_tests.aws_clients import aws_environment
from fireflyassets_tests.contracts.ledgers import ACME, NOON
from fireflyassets_tests.contracts.stores import unique

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_sqs import SQSClient

TEMPLATE = Path(__file__).parents[2] / "deploy" / "events.yaml"


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short forms: ``!Ref X`` is ``{"Ref": "X"}``."""


def _short(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[str, object]:
    if isinstance(node, yaml.SequenceNode):
        return {suffix: loader.construct_sequence(node, deep=True)}
    assert isinstance(node, yaml.ScalarNode)
    return {suffix: loader.construct_scalar(node)}


_Loader.add_multi_constructor("!", _short)


def made_with(**parameters: str) -> dict[str, Any]:
    """Return the rule's properties with parameters in place."""
    template = yaml.load(TEMPLATE.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a SafeLoader.
    assert set(parameters) <= set(template["Parameters"])

    def resolved(value: object) -> object:
        match value:
            case {"Ref": str(name)} if name in parameters:
                return parameters[name]
            case dict():
                return {key: resolved(one) for key, one in value.items()}
            case list():
                return [resolved(one) for one in value]
            case _:
                return value

    properties = resolved(template["Resources"]["ToCustomer"]["Properties"])
    assert isinstance(properties, dict)
    return properties


@pytest.fixture
def aws(ministack: str) -> "Iterator[tuple[EventBridgeClient, SQSClient]]":
    with aws_environment(ministack):
        events, sqs = clients.events(), clients.sqs()
    yield events, sqs
    events.close()
    sqs.close()


@pytest.mark.stack
def test_a_destination_gets_the_payloads_of_its_customer_alone(
    aws: "tuple[EventBridgeClient, SQSClient]",
) -> None:
    """As a webhook carries them; no other tenant's, and no test of an endpoint."""
    events, sqs = aws
    bus, rule = unique("bus"), made_with(Customer=ACME)
    url = sqs.create_queue(QueueName=unique("destination"))["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    (target,) = rule["Targets"]
    events.create_event_bus(Name=bus)
    pattern = json.dumps(rule["EventPattern"])
    events.put_rule(Name="to", EventBusName=bus, EventPattern=pattern)
    standing_in = {"Id": "q", "Arn": arn["QueueArn"], "InputPath": target["InputPath"]}
    events.put_targets(Rule="to", EventBusName=bus, Targets=[standing_in])  # pyright: ignore[reportArgumentType] - of a plain dict.
    announcer = AwsAnnouncer(bus, {}, events=lambda: events, sns=clients.sns)
    mine = Event("a", EventType.CAMPAIGN_HALTED, ACME, NOON, facts={"reason": "x"})
    others = Event("b", EventType.CAMPAIGN_HALTED, "bolt", NOON)
    tried = Event("c", EventType.ENDPOINT_TEST, ACME, NOON)

    for event in (others, tried, mine):
        announcer.announce(event, body_of(facts_payload(event)))

    found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=3)
    assert [json.loads(one["Body"]) for one in found.get("Messages", [])] == [facts_payload(mine)]


def test_the_template_speaks_of_what_there_is() -> None:
    """Its source and the kinds of events that it leaves out are ours."""
    pattern = made_with()["EventPattern"]

    assert pattern["source"] == [SOURCE]
    (left_out,) = pattern["detail-type"]
    assert set(left_out["anything-but"]) <= {kind.value for kind in EventType}
