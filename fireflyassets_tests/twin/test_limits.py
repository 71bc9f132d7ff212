"""Limits: windows on their own, and as callers meet them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.twin.limits import CalendarDay, Lane, SlidingWindow
from fireflyassets.twin.settings import LimitSetting
from fireflyassets_tests.twin.rehearsal import ADA, BOB, EVE, GENERATE, Rehearsal, rehearse

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TWO_A_MINUTE = LimitSetting(firefly_per_minute=2)


@given(
    st.lists(st.floats(0, 300, allow_nan=False), max_size=60),
    st.integers(1, 5),
)
def test_no_stretch_holds_more_than_the_limit(offsets: Sequence[float], limit: int) -> None:
    """Whatever the arrivals, no minute admits more calls than the limit."""
    lane = Lane([SlidingWindow(limit, MINUTE)])
    times = [NOON + timedelta(seconds=offset) for offset in sorted(offsets)]
    admitted = [time for time in times if not lane.admit(time)]
    for time in admitted:
        assert sum(time - MINUTE < other <= time for other in admitted) <= limit


@given(st.lists(st.floats(0, 120, allow_nan=False), min_size=1, max_size=30), st.integers(1, 4))
def test_told_wait_is_enough(offsets: Sequence[float], limit: int) -> None:
    """Who waits as told is admitted."""
    lane = Lane([SlidingWindow(limit, MINUTE)])
    now = NOON
    for offset in sorted(offsets):
        now = max(now, NOON + timedelta(seconds=offset))
        wait = lane.admit(now)
        if wait:
            now += wait
            assert not lane.admit(now)


def test_refused_calls_use_nothing_up() -> None:
    """By default hammering does not lengthen the wait; with the setting it does."""
    patient, strict = (
        Lane([SlidingWindow(1, MINUTE)], count_rejected=each) for each in (False, True)
    )
    for lane in (patient, strict):
        lane.admit(NOON)
        lane.admit(NOON + timedelta(seconds=50))
    assert not patient.admit(NOON + MINUTE)
    assert strict.admit(NOON + MINUTE)


def test_day_turns_at_midnight_utc() -> None:
    """The day count starts anew with the UTC day, and the wait says so."""
    day = CalendarDay(1)
    day.take(NOON)
    assert day.wait(NOON, factor=1) == timedelta(hours=12)
    assert not day.wait(NOON + timedelta(hours=12), factor=1)


def test_minute_limit_is_the_organisation_s() -> None:
    """Two credentials of one organisation share the limit; another organisation does not."""

    async def steps(twin: Rehearsal) -> None:
        for client in (ADA, BOB):
            assert (await twin.post(GENERATE, {"prompt": "x"}, client=client)).status_code == 202
        refused = await twin.post(GENERATE, {"prompt": "x"}, client=BOB)
        assert refused.status_code == 429
        assert refused.json()["error_code"] == "rate_limited"
        assert refused.headers["x-access-rate-limit-level"] == "org"
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert (await twin.post(GENERATE, {"prompt": "x"}, client=EVE)).status_code == 202
        twin.clock.shift = timedelta(seconds=int(refused.headers["retry-after"]))
        assert (await twin.generate()).status_code == 202

    rehearse(steps, limits=TWO_A_MINUTE)


def test_retry_after_can_be_a_date() -> None:
    """The date form names an instant within the next minute."""

    async def steps(twin: Rehearsal) -> None:
        for _ in range(3):
            answer = await twin.generate()
        until = parsedate_to_datetime(answer.headers["retry-after"])
        assert timedelta(0) < until - twin.clock.now() <= timedelta(seconds=61)

    rehearse(steps, limits=TWO_A_MINUTE, retry_after="date")


@pytest.mark.parametrize("window", ["utc", "rolling"])
def test_day_limit_outlasts_the_minute(window: str) -> None:
    """The day's calls are counted apart from the minute's."""

    async def steps(twin: Rehearsal) -> None:
        assert (await twin.generate()).status_code == 202
        refused = await twin.generate()
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        twin.clock.shift = timedelta(seconds=int(refused.headers["retry-after"]))
        twin.tokens.clear()
        assert (await twin.generate()).status_code == 202

    rehearse(steps, limits=LimitSetting(firefly_per_day=1), day_window=window)


def test_families_are_counted_apart() -> None:
    """A used-up Firefly minute leaves Photoshop open, whose own 429 has its own code."""
    body = {"image": {"width": 4, "height": 4}, "outputs": []}

    async def steps(twin: Rehearsal) -> None:
        for _ in range(3):
            await twin.generate()
        answers = [await twin.post("/v2/create-composite", body) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [422, 422, 429]
        assert answers[-1].json()["error_code"] == "unauthorized_rate_limited"
        assert answers[-1].headers["retry-after"].isdigit()

    limits = LimitSetting(firefly_per_minute=1, photoshop_per_3_seconds=2)
    rehearse(steps, limits=limits)


def test_polls_are_free_unless_told_otherwise() -> None:
    """Status calls use up the minute only with the setting."""

    async def polled(twin: Rehearsal) -> list[int]:
        accepted = (await twin.generate()).json()
        return [(await twin.get(accepted["statusUrl"])).status_code for _ in range(3)]

    async def free(twin: Rehearsal) -> None:
        assert await polled(twin) == [200, 200, 200]

    async def counted(twin: Rehearsal) -> None:
        assert await polled(twin) == [200, 429, 429]
        assert (await twin.summary())["http_429_by_endpoint"] == {"status": 2}

    rehearse(free, limits=TWO_A_MINUTE)
    rehearse(counted, limits=TWO_A_MINUTE, count_polls=True)


def test_photoshop_polls_have_a_limit_of_their_own() -> None:
    """Too many GETs in three seconds are refused, whatever the settings say of polls."""

    async def steps(twin: Rehearsal) -> None:
        answers = [await twin.get("/v2/status/none") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [404, 404, 429]

    rehearse(steps, limits=LimitSetting(photoshop_gets_per_3_seconds=2))


def test_one_organisation_can_have_limits_of_its_own() -> None:
    """A contract's limits replace the default for that organisation only."""

    async def steps(twin: Rehearsal) -> None:
        other = [await twin.post(GENERATE, {"prompt": "x"}, client=EVE) for _ in range(3)]
        assert [answer.status_code for answer in other] == [202, 202, 202]
        assert [(await twin.generate()).status_code for _ in range(3)] == [202, 202, 429]

    own = {EVE.organisation: LimitSetting(firefly_per_minute=50)}
    rehearse(steps, limits=TWO_A_MINUTE, organisation_limits=own)
