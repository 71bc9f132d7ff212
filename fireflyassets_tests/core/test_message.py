"""Bodies of the job queue. Here: both formats, read and refused. Not here: the queue."""

import json
from dataclasses import replace

import pytest

from fireflyassets.core import message
from fireflyassets.core.message import Pointed, Requested, Wake, parse
from fireflyassets.core.schemas import document
from fireflyassets_tests.front_door import ASPECTS, GOOD

REQUEST: dict[str, object] = {
    "version": 1,
    "customer": "acme",
    "campaign": "spring-launch",
    "idempotencyKey": GOOD.key,
    "prompt": GOOD.prompt,
    "locale": GOOD.locale,
    "headline": GOOD.headline,
    "aspects": list(ASPECTS),
}


def test_a_request_is_read() -> None:
    """A producer's message gives the same raw request as every other door."""
    assert parse(json.dumps(REQUEST)) == Requested("acme", "spring-launch", GOOD)


def test_wakes_are_read_back() -> None:
    """All ids arrive, in few messages, each far under the bound."""
    ids = [f"job-{n}" for n in range(1_201)]

    bodies = message.wakes(ids)
    told = [parse(body) for body in bodies]

    assert [job for wake in told if isinstance(wake, Wake) for job in wake.job_ids] == ids
    assert len(bodies) == 3
    assert max(map(len, bodies)) < message.BODY_LIMIT / 4


def test_no_ids_make_no_message() -> None:
    assert message.wakes([]) == []


@pytest.mark.parametrize(
    ("body", "field", "rule"),
    [
        ("", "", "json"),
        ("hello", "", "json"),
        ("[]", "", "type"),
        ("[" * 50_000, "", "json"),
        ("x" * 1_100_000, "", "size"),
        ("é" * 530_000, "", "size"),
        (json.dumps({"Type": "Notification", "TopicArn": "a", "Message": "{}"}), "", "envelope"),
        (json.dumps({"detail-type": "a", "source": "b", "detail": REQUEST}), "", "envelope"),
        (json.dumps({"Records": [{"eventSource": "aws:s3"}]}), "", "envelope"),
        ('{"version": 1, "customer": "acme", "manifest": "../../x"}', "manifest", "type"),
        ('{"version": 1, "customer": "a/b", "manifest": "' + "0" * 64 + '"}', "manifest", "type"),
        (json.dumps(REQUEST | {"manifest": "0" * 64}), "manifest", "type"),
        ("{}", "version", "version"),
        (json.dumps(REQUEST | {"version": 2}), "version", "version"),
        (json.dumps(REQUEST | {"version": True}), "version", "version"),
        (json.dumps(REQUEST | {"version": "1"}), "version", "version"),
        (json.dumps(REQUEST | {"customer": 7}), "customer", "slug"),
        (json.dumps(REQUEST | {"customer": "../bolt"}), "customer", "slug"),
        (json.dumps(REQUEST | {"campaign": "x" * 65}), "campaign", "slug"),
        (json.dumps(REQUEST | {"idempotencyKey": 1}), "idempotencyKey", "type"),
        (json.dumps(REQUEST | {"tenant": "bolt"}), "tenant", "unknown"),
        ('{"version": 1, "wake": "job-1"}', "wake", "type"),
        ('{"version": 1, "wake": [1]}', "wake", "type"),
        ('{"version": 1, "wake": [], "customer": "acme"}', "wake", "type"),
    ],
)
def test_what_says_nothing_is_refused_with_a_rule(body: str, field: str, rule: str) -> None:
    """Nothing raises, nothing is guessed."""
    told = parse(body)

    assert isinstance(told, tuple)
    assert [(problem.field, problem.rule) for problem in told] == [(field, rule)]


def test_all_faults_of_a_request_are_told() -> None:
    """Envelope and fields together."""
    told = parse('{"version": 1, "idempotencyKey": 1}')

    assert isinstance(told, tuple)
    assert {problem.field for problem in told} == {"customer", "campaign", "idempotencyKey"}


def test_a_request_is_written_as_it_is_read() -> None:
    """And by the schema that is published."""
    request = Requested("acme", "spring-launch", replace(GOOD, reference="a.png"))

    assert parse(message.request_body(request)) == request
    assert set(json.loads(message.request_body(request))) == set(document("message")["properties"])


def test_a_pointer_is_written_as_it_is_read() -> None:
    pointed = Pointed("acme", "0a" * 32)

    assert parse(message.pointer_body(pointed)) == pointed
