"""The sensor that lets reservations lapse and proves the counters, as Dagster ticks it."""

from collections.abc import Mapping
from datetime import timedelta

import dagster as dg
import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.defs.sensors import budgets_sensor
from fireflyassets.stages.budgeting import LASTS
from fireflyassets_tests.contracts.budgets import block, cap
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    NOON,
    FixedCatalogue,
    asked,
    capped,
    config,
    front_door,
)
from fireflyassets_tests.stages.test_budgeting import Crooked


def tick(ports: Mapping[str, object], cursor: str | None = None) -> tuple[str, str | None]:
    """Let the sensor tick once; return what it says, and its cursor."""
    with dg.build_sensor_context(resources=dict(ports), cursor=cursor) as context:
        told = budgets_sensor.evaluate_tick(context)
    assert told.skip_message is not None
    return told.skip_message, told.cursor


def world(ledger: Crooked) -> dict[str, object]:
    """Return ports with a job in the ledger."""
    door = front_door(FixedCatalogue(config(), budgets=capped("100")))
    taken = door.intake
    type(taken)(
        ledger, taken.objects, taken.queue, taken.catalogue, taken.clock, taken.guardrail
    ).accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    return {"ledger": ledger, "catalogue": taken.catalogue, "clock": FakeClock(NOON)}


def test_a_tick_lets_old_reservations_lapse() -> None:
    """Fifteen minutes after they were made."""
    ledger = Crooked()
    ports = world(ledger)
    ledger.reserve(block("1", made_at=NOON - LASTS - timedelta(seconds=1)), (cap(),), now=NOON)

    said, _ = tick(ports)

    assert said.startswith("1 reservations have lapsed.")
    assert ledger.blocks(CUSTOMER, "2026-03") == []


def test_the_proof_is_made_once_a_day() -> None:
    """A later tick of the day looks no more."""
    ledger = Crooked()
    ports = world(ledger)

    _, cursor = tick(ports)
    ledger.off = cap().operations
    said, _ = tick(ports, cursor)

    assert cursor == "2026-11-30"
    assert said == "0 reservations have lapsed."


def test_a_difference_is_an_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Once nothing moves any more; until then each tick looks again."""
    ledger = Crooked()
    ports = world(ledger)
    ledger.off = cap().operations
    clock = ports["clock"]
    assert isinstance(clock, FakeClock)

    moving, none = tick(ports)
    clock.jump(timedelta(minutes=2))
    differs, cursor = tick(ports)

    assert "moving" in moving
    assert none is None
    assert "differs" in differs
    assert cursor == "2026-11-30"
    assert [one.levelname for one in caplog.records] == ["ERROR"]
