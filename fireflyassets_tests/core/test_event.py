"""The catalogue of events. Here: it is whole, thin and stable."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.core.event import (
    BODY_LIMIT,
    OF_STATUS,
    SAYS,
    Event,
    EventType,
    body_of,
    facts_payload,
    schema,
)
from fireflyassets.core.status import ENDED
from fireflyassets_tests.front_door import CUSTOMER, NOON

HALTED = Event("e-1", EventType.CAMPAIGN_HALTED, CUSTOMER, NOON, campaign="spring-launch")


def test_the_catalogue_names_what_customers_rely_on() -> None:
    """A name that goes, or is spelled anew, breaks receivers."""
    promised = (
        "job.succeeded job.failed job.review asset.approved asset.rejected asset.recalled "
        "campaign.completed campaign.halted campaign.budget.soft endpoint.disabled"
    )
    assert set(promised.split()) < {one.value for one in EventType}
    assert set(SAYS) == set(EventType)


@pytest.mark.parametrize("kind", EventType)
def test_every_event_has_a_schema_of_its_own(kind: EventType) -> None:
    told = schema(kind)

    assert told["properties"]["type"] == {"const": kind.value}
    assert "version" in told["required"]
    assert json.dumps(told)


def test_customers_hear_of_every_end() -> None:
    """Of their own cancellations too: their other systems may wait for the job."""
    assert set(OF_STATUS) == ENDED


def test_an_event_is_known_by_one_id_however_often_it_is_read() -> None:
    """Receivers drop repeats by it; another event has another one."""
    assert HALTED.webhook_id == replace(HALTED, at=NOON + timedelta(hours=1)).webhook_id
    assert HALTED.webhook_id != replace(HALTED, event_id="e-2").webhook_id


def test_odd_letters_are_written_as_they_are() -> None:
    odd = {"reason": "é 🌿 \u2028 </script> 1.0"}

    text = body_of(facts_payload(replace(HALTED, facts=odd)))

    assert json.loads(text)["facts"] == odd
    assert "🌿" in text


def test_a_payload_over_the_bound_is_never_made() -> None:
    """The bound is in bytes, not in letters."""
    with pytest.raises(ValueError, match="bytes"):
        body_of(facts_payload(replace(HALTED, facts={"reason": "🌿" * (BODY_LIMIT // 4)})))
