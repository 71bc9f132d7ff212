"""When an alarm fires and clears, minute by minute in virtual time, and what its table promises."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core import alarm, metric
from fireflyassets.core.alarm import ALARMS, Alarm, Missing, Share, Statistic
from fireflyassets.core.metric import METRICS, Metric

ROOT = Path(__file__).parents[2]
by_alarm = pytest.mark.parametrize("one", ALARMS, ids=lambda one: one.name)
NUMBERS = st.lists(st.none() | st.sampled_from([0.0, 1.0, 2.0, 3.0]), max_size=40)


def bad(one: Alarm) -> float:
    """Return a number that is just above an alarm's threshold."""
    return one.threshold * 1.001 + 1e-9


def on_after(one: Alarm, numbers: Sequence[float | None]) -> list[bool]:
    """Let the periods pass one by one and say after each whether the alarm is on."""
    return [one.fires(numbers[: place + 1]) for place in range(len(numbers))]


def test_fourteen_of_fifteen_minutes_fire_nothing() -> None:
    """A dead letter that is there for 14 minutes of 15, whichever is missing, pages nobody."""
    for gap in range(15):
        minutes: list[float | None] = [1.0] * 15
        minutes[gap] = 0.0
        assert not alarm.DEAD_LETTERS.fires(minutes)
    assert alarm.DEAD_LETTERS.fires([1.0] * 15)


@by_alarm
def test_an_alarm_fires_with_its_last_bad_period_and_not_before(one: Alarm) -> None:
    """Good periods, then bad ones: on exactly when enough of them are bad."""
    periods: list[float | None] = [0.0] * one.of + [bad(one)] * one.of

    assert on_after(one, periods).index(True) == one.of + one.bad - 1


@by_alarm
def test_an_alarm_clears_with_the_first_period_that_leaves_too_few_bad(one: Alarm) -> None:
    """Bad periods, then good ones: off exactly when fewer than enough of the last are bad."""
    periods: list[float | None] = [bad(one)] * one.of + [0.0] * one.of
    states = on_after(one, periods)

    assert states[one.of - 1]
    assert states.index(False, one.of) == 2 * one.of - one.bad


@by_alarm
def test_the_threshold_itself_is_good(one: Alarm) -> None:
    """Only what is above it is bad."""
    assert not one.fires([one.threshold] * one.of)


@by_alarm
def test_silence_is_good_but_where_the_watch_itself_is_gone(one: Alarm) -> None:
    """Periods without a number fire `no_progress` alone, since nobody looks any more."""
    assert one.fires([None] * one.of) is (one is alarm.NO_PROGRESS)


@given(NUMBERS, st.integers(1, 6), st.integers(0, 5), st.sampled_from(Missing))
def test_m_of_n_is_counted_over_the_last_periods_alone(
    numbers: list[float | None], of: int, spare: int, missing: Missing
) -> None:
    """Whatever came, the last N periods decide, and older ones change nothing."""
    one = replace(alarm.DEEP_QUEUE, threshold=1.5, bad=max(1, of - spare), of=of, missing=missing)
    window = ([None] * of + numbers)[-of:]
    count = sum(n > 1.5 if n is not None else missing is Missing.IS_BAD for n in window)

    assert one.fires(numbers) is (count >= one.bad)
    assert one.fires([3.0] * 9 + numbers) is one.fires([0.0] * 9 + numbers) or len(numbers) < of


@given(NUMBERS, st.integers(0, 39))
def test_a_worse_period_never_clears_an_alarm(numbers: list[float | None], place: int) -> None:
    """Were one period worse than it was, an alarm that is on would still be on."""
    one = replace(alarm.DEEP_QUEUE, threshold=1.5, bad=2, of=4)
    worse = [3.0 if at == place else number for at, number in enumerate(numbers)]

    assert one.fires(worse) >= one.fires(numbers)


def reading(**numbers: float) -> alarm.Read:
    """Return a period with sums by the metrics' names."""

    def read(what: Metric, statistic: Statistic) -> float | None:
        assert statistic is Statistic.SUM
        return numbers.get(what.name)

    return read


def test_a_share_of_too_little_is_no_number() -> None:
    """One refused call of two is no rate; of three it is. One broken job of 19 is no rate."""
    refused, broken = alarm.REFUSED_CALLS, alarm.BROKEN_JOBS

    assert refused.number(reading(adobe_calls=2, adobe_calls_refused=1)) is None
    assert refused.number(reading(adobe_calls=4, adobe_calls_refused=1)) == 0.25
    assert broken.number(reading(jobs_ended=19, jobs_broken=19)) is None
    assert broken.number(reading(jobs_ended=20)) == 0.0
    assert broken.number(reading()) is None


def test_late_webhooks_ring_and_one_slow_spell_does_not() -> None:
    """What a customer waits for is the webhook, not the row: a process that is behind is heard."""
    assert alarm.SLOW_WEBHOOKS in alarm.ALARMS
    assert not alarm.SLOW_WEBHOOKS.fires([1201.0, 1200.0, 1201.0], baseline=600)
    assert alarm.SLOW_WEBHOOKS.fires([1201.0] * 3, baseline=600)


def test_twice_the_normal_time_is_measured_by_the_baseline() -> None:
    """With 600 s as normal, 1,200 s are good and more is bad."""
    assert not alarm.SLOW_JOBS.fires([1200.0] * 3, baseline=600)
    assert alarm.SLOW_JOBS.fires([1201.0] * 3, baseline=600)


def test_every_alarm_has_a_runbook_and_a_metric_of_the_table() -> None:
    """Names are unique, the page of each alarm is there, and its metrics are summed up whole."""
    assert len({one.name for one in ALARMS}) == len(ALARMS)
    for one in ALARMS:
        assert (ROOT / one.runbook).is_file(), one.runbook
        assert set(one.metrics) <= set(METRICS)
        if isinstance(one.signal, Share):
            assert {part.kind for part in one.metrics} == {metric.Kind.COUNTER}


def test_what_nobody_measures_yet_is_told() -> None:
    """Budgets and exports have no producer; everything else has one."""
    assert {one.name for one in ALARMS if not one.has_source} == {"export_watermark"}
    assert {one.name for one in METRICS if not one.source} == {"export_lag"}


def test_every_number_that_an_alarm_judges_is_counted_somewhere() -> None:
    """By the product's own code, outside of the tables: a word in the table measures nothing."""
    names = {id(value): name for name, value in vars(metric).items() if isinstance(value, Metric)}
    counted = set[str]()
    for module in (ROOT / "fireflyassets").rglob("*.py"):
        if module.parent.name != "core":
            text = module.read_text(encoding="utf-8")
            counted |= set(re.findall(r"\.(?:add|set|observe)\(\s*metric\.([A-Z_]+)", text))
    judged = {names[id(one)] for alarm in ALARMS if alarm.has_source for one in alarm.metrics}

    assert len(judged) > len(ALARMS)
    assert judged <= counted
    assert {names[id(one)] for one in METRICS if not one.source}.isdisjoint(counted)
