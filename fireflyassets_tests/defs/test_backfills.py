"""The schedule of backfills: its hours over a year with summer time, and what a round asks for."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import takewhile
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from dagster._utils.schedules import cron_string_iterator

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.core.priority import Order
from fireflyassets.core.status import Status
from fireflyassets.defs.backfills import run_config, schedules
from fireflyassets.settings import Settings
from fireflyassets.stages.affording import Within, afforded
from fireflyassets.stages.replay import Dead, State
from fireflyassets_tests.floor import SETTINGS, floor

BERLIN = ZoneInfo("Europe/Berlin")


def settings(cron: str, **said: object) -> Settings:
    """Return settings with a schedule in Berlin."""
    zone = {"backfill_timezone": "Europe/Berlin"}
    return SETTINGS.model_copy(update={"backfill_cron": cron, **zone, **said})


def hours(cron: str, first: datetime, last: datetime) -> list[datetime]:
    """Return when Dagster runs the schedule between two instants."""
    (made,) = schedules(settings(cron))
    assert isinstance(made.cron_schedule, str)
    told: Iterator[datetime] = cron_string_iterator(
        first.timestamp(), made.cron_schedule, made.execution_timezone
    )
    return [at.astimezone(UTC) for at in takewhile(lambda at: at < last, told)]


def test_an_hour_that_is_skipped_counts_once_it_is_over() -> None:
    """On 28 March 2027 there is no 2:30 in Berlin: the round is at 3:00, and once."""
    first = datetime(2027, 3, 27, 12, tzinfo=BERLIN)
    told = hours("30 2 * * *", first, first + timedelta(days=3))
    assert [at.astimezone(BERLIN).strftime("%d %H:%M") for at in told] == [
        "28 03:00",
        "29 02:30",
        "30 02:30",
    ]


def test_an_hour_that_comes_twice_counts_once() -> None:
    """On 31 October 2027 there are two 2:30 in Berlin: one round, and a day of 25 hours."""
    first = datetime(2027, 10, 30, 12, tzinfo=BERLIN)
    told = hours("30 2 * * *", first, first + timedelta(days=3))
    assert [at.astimezone(BERLIN).strftime("%d %H:%M") for at in told] == [
        "31 02:30",
        "01 02:30",
        "02 02:30",
    ]
    noon = hours("0 12 * * *", first - timedelta(hours=1), first + timedelta(days=2))
    assert noon[1] - noon[0] == timedelta(hours=25)


def test_months_without_the_day_are_passed_over() -> None:
    """The 31st is in seven months; the 29th of February in leap years alone."""
    year = datetime(2027, 1, 1, tzinfo=BERLIN), datetime(2028, 1, 1, tzinfo=BERLIN)
    told = hours("0 2 31 * *", *year)
    assert [at.astimezone(BERLIN).month for at in told] == [1, 3, 5, 7, 8, 10, 12]
    assert hours("0 2 29 2 *", *year) == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"backfill_cron": "61 2 * * *"}, "no cron schedule"),
        ({"backfill_cron": "daily"}, "no cron schedule"),
        ({"backfill_cron": "0 2 * * *", "backfill_timezone": "Mars/Olympus"}, "no time zone"),
    ],
)
def test_an_hour_that_is_none_takes_nothing_else_down(
    said: dict[str, object], words: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The location loads without the schedule, and the log says why."""
    assert schedules(SETTINGS.model_copy(update=said)) == []
    assert words in caplog.text


def test_without_an_hour_there_is_no_schedule() -> None:
    """Nothing is run again by itself unless somebody says when."""
    assert schedules(SETTINGS) == []


def test_a_round_asks_the_job_of_replays() -> None:
    """Within its budget, over its window, by name; Dagster takes the options as they are."""
    said = settings(
        "0 2 * * *",
        backfill_window=timedelta(hours=2),
        backfill_operations=Decimal("12.5"),
        backfill_order=Order.CHEAPEST,
    )
    (made,) = schedules(said)
    at = datetime(2027, 1, 1, 1, tzinfo=UTC)
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_schedule_context(instance=instance, scheduled_execution_time=at)
        requests = made.evaluate_tick(context).run_requests or []

    assert [one.run_config for one in requests] == [run_config(said, at)]
    options = requests[0].run_config["ops"]["replay"]["config"]
    assert (options["operations"], options["order"], options["spread_minutes"]) == (
        12.5,
        "cheapest",
        120,
    )
    assert dg.validate_run_config(made.job, requests[0].run_config)


def test_a_window_goes_over_midnight() -> None:
    """A round late in the evening is spread into the next day, the last of a month or not."""
    at = datetime(2027, 1, 31, 23, 30, tzinfo=BERLIN)
    said = settings("30 23 * * *", backfill_window=timedelta(hours=2))
    options = run_config(said, at)["ops"]["replay"]["config"]

    spread = timedelta(minutes=options["spread_minutes"])

    assert (at + spread).astimezone(BERLIN) == datetime(2027, 2, 1, 1, 30, tzinfo=BERLIN)
    assert hours("30 23 28-31 * *", at - timedelta(hours=1), at + timedelta(days=29))[:2] == [
        at.astimezone(UTC),
        datetime(2027, 2, 28, 23, 30, tzinfo=BERLIN).astimezone(UTC),
    ]


@pytest.mark.parametrize(
    ("order", "going"),
    [(Order.OLDEST, [True, False, True]), (Order.CHEAPEST, [True, True, False])],
)
def test_a_round_goes_no_further_than_its_budget(order: Order, going: list[bool]) -> None:
    """What does not fit stays, and says so; what is smaller may still fit behind it."""
    here = floor(clock=FakeClock())
    (job,) = here.order(1)
    row = here.row(job)
    assert row.status is Status.QUEUED
    prices = ("2", "4", "1")
    plan = [Dead(row, Decimal(price), State.READY, "") for price in prices]

    told = afforded(plan, Within(Decimal(3), order))

    assert [one.goes for one in told] == going
    assert sum(one.price for one in told if one.goes) == 3
    assert {one.why for one in told if not one.goes} == {"This replay's budget is used up."}
