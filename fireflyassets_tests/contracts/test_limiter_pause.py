"""What every limiter promises about refusals, pauses, rates and the fire rule.

Here: the port's promises once the service says no, run over memory, DynamoDB and Redis. Not here:
reservations and limits (`test_limiter`).
"""

import logging
from datetime import timedelta

import pytest

from fireflyassets.limiter.errors import OverrideRefused
from fireflyassets.limiter.port import Due, PaceReason, Parked, ParkReason, Stale, Voided, Waiting
from fireflyassets_tests.limiter.worlds import NOON, World, granted, per_minute


def test_a_pause_holds_every_process(world: World) -> None:
    """When the service says 30 seconds, no ticket of any process is due sooner."""
    one, two = world.limiter(per_minute(60)), world.limiter(per_minute(60))
    fired, held = granted(one, world.item, 2).tickets
    world.clock.advance(1)
    later = granted(two, world.item).tickets[0]

    paused = one.pause(world.item, timedelta(seconds=30))

    assert paused.until == NOON + timedelta(seconds=31)
    two.refresh(world.item)
    moved = [one.check(held), two.check(later)]
    assert [m.ticket.due_at for m in moved if isinstance(m, Waiting)] == [
        paused.until,
        paused.until + timedelta(microseconds=1_470_589),
    ]
    assert isinstance(one.check(fired), Voided)
    assert granted(two, world.item).due_at[0] > paused.until


def test_a_stale_process_cannot_take_a_ticket_inside_a_pause(world: World) -> None:
    """A reservation from before the pause loses its write and learns of the pause."""
    stale = world.limiter(per_minute(60))
    granted(stale, world.item)
    paused = world.limiter().pause(world.item, timedelta(seconds=30))

    assert granted(stale, world.item).due_at[0] >= paused.until


def test_refusals_coalesce(world: World) -> None:
    """A burst of refusals is one pause and one step down."""
    one, two = world.limiter(per_minute(60)), world.limiter(per_minute(60))

    answers = [who.pause(world.item, timedelta(seconds=30)) for who in (one, two, one, two)]

    assert [answer.lowered for answer in answers] == [True, False, False, False]
    assert {answer.until for answer in answers} == {NOON + timedelta(seconds=30)}
    state = one.state(world.item)
    assert state.rate_per_minute == pytest.approx(48 * 0.85, rel=1e-5)
    assert (state.reason, state.blocked_until) == (PaceReason.REFUSED, answers[0].until)


def test_a_longer_pause_extends_a_shorter_one_only(world: World) -> None:
    """The latest end counts, and inside a pause the rate is not lowered again."""
    limiter = world.limiter(per_minute(60))
    limiter.pause(world.item, timedelta(seconds=30))
    world.clock.advance(10)

    longer = limiter.pause(world.item, timedelta(seconds=60))
    shorter = limiter.pause(world.item, timedelta(seconds=5))

    assert longer.until == shorter.until == NOON + timedelta(seconds=70)
    assert not longer.lowered
    assert not shorter.lowered


def test_a_refusal_without_a_header_pauses_two_seconds(world: World) -> None:
    """Without a hint the pause is short; the lowered rate does the rest."""
    limiter = world.limiter(per_minute(60))

    assert limiter.pause(world.item, None).until == NOON + timedelta(seconds=2)


@pytest.mark.parametrize(
    ("asked", "kept"),
    [(-5, 1), (0, 1), (900, 900), (901, 900)],
)
def test_a_pause_lasts_between_a_second_and_fifteen_minutes(
    world: World, asked: int, kept: int
) -> None:
    """A service that asks for more is not believed: the breaker opens instead."""
    limiter = world.limiter(per_minute(60))

    paused = limiter.pause(world.item, timedelta(seconds=asked))

    assert (paused.until, paused.opened) == (NOON + timedelta(seconds=kept), asked > kept > 1)


def test_an_open_breaker_parks_all_with_reason_and_time(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody is let through, tickets that are out are void, and the log says so once."""
    one, two = world.limiter(per_minute(60)), world.limiter(per_minute(60))
    held = granted(two, world.item, 3).tickets[2]
    world.clock.advance(1)

    with caplog.at_level(logging.ERROR, "fireflyassets.limiter"):
        paused = [one.pause(world.item, timedelta(hours=6)) for _ in range(2)]

    end = NOON + timedelta(seconds=901)
    assert {each.until for each in paused} == {end}
    assert len(caplog.records) == 1
    two.refresh(world.item)
    assert isinstance(two.check(held), Voided)
    for seconds in (0, 700, 198):
        world.clock.advance(seconds)
        assert two.reserve(world.item, 2) == Parked(end, ParkReason.BREAKER_OPEN)
    state = two.state(world.item)
    assert (state.opened_at, state.refused_today) == (NOON + timedelta(seconds=1), 2)


@pytest.mark.parametrize("late", [0, 0.4, 3000])
def test_one_call_probes_an_open_breaker(world: World, late: float) -> None:
    """After the pause one call is let through, however many are wanted; once answered, all are."""
    one, two = world.limiter(per_minute(60)), world.limiter(per_minute(60))
    granted(two, world.item, 3)
    end = one.pause(world.item, timedelta(hours=6)).until
    world.clock.at = end + timedelta(seconds=late)

    probe = granted(one, world.item, 5)
    two.refresh(world.item)

    assert probe.count == 1
    assert probe.due_at[0] - world.clock.at <= timedelta(seconds=1.5)
    told_at = probe.due_at[0] + timedelta(minutes=1)
    assert two.reserve(world.item, 5) == Parked(told_at, ParkReason.BREAKER_OPEN)
    assert isinstance(two.check(probe.tickets[0]), Waiting | Due)
    world.clock.at = probe.due_at[0] + timedelta(seconds=3)
    one.answered(probe.tickets[0])
    two.refresh(world.item)
    following = granted(two, world.item, 5)
    interval = timedelta(minutes=1) / two.state(world.item).rate_per_minute
    assert following.count == 5
    # The probe was a call, too: the next one keeps its distance from it.
    assert following.due_at[0] - world.clock.at >= interval * 0.99
    assert two.state(world.item).opened_at is None


def test_a_probe_that_nobody_answers_for_closes_nothing(world: World) -> None:
    """Its holder has died: after a minute there is one more probe, and never two at a time."""
    limiter = world.limiter(per_minute(60))
    old = granted(limiter, world.item).tickets[0]
    world.clock.at = limiter.pause(world.item, timedelta(hours=6)).until

    for _ in range(3):
        probe = granted(limiter, world.item, 4)
        assert probe.count == 1
        limiter.answered(old)
        due_at = probe.due_at[0]
        world.clock.at = max(world.clock.at, due_at)
        limiter.refresh(world.item)
        assert isinstance(limiter.check(probe.tickets[0]), Due)
        world.clock.at = due_at + timedelta(seconds=59)
        assert isinstance(limiter.reserve(world.item, 1), Parked)
        world.clock.at = due_at + timedelta(seconds=60)
    assert limiter.state(world.item).opened_at is not None


def test_no_change_of_the_rate_lets_a_second_probe_through(world: World) -> None:
    """An override, its end, other limits: all wait for the probe's answer, or its minute."""
    limiter = world.limiter(per_minute(60))
    limiter.override(world.item, 12, duration=timedelta(seconds=920), by="ada", why="x")
    world.clock.at = limiter.pause(world.item, timedelta(hours=6)).until
    probe = granted(limiter, world.item)
    told_at = probe.due_at[0] + timedelta(minutes=1)
    refused = Parked(told_at, ParkReason.BREAKER_OPEN)
    world.clock.at = probe.due_at[0] + timedelta(seconds=25)

    assert limiter.reserve(world.item, 1) == refused
    limiter.override(world.item, 30, duration=timedelta(hours=1), by="ada", why="y")
    assert limiter.reserve(world.item, 1) == refused
    limiter.clear_override(world.item, by="ada")
    assert limiter.reserve(world.item, 1) == refused
    limiter.register(world.item, per_minute(600))
    assert limiter.reserve(world.item, 1) == refused

    limiter.answered(probe.tickets[0])
    assert granted(limiter, world.item, 4).count == 4


def test_a_refused_probe_keeps_the_breaker_open(world: World) -> None:
    """However short the pause it is refused with, one call alone comes next."""
    limiter = world.limiter(per_minute(60))
    opened = NOON
    world.clock.at = limiter.pause(world.item, timedelta(hours=6)).until
    granted(limiter, world.item)
    world.clock.advance(2)

    again = limiter.pause(world.item, timedelta(seconds=30))

    assert again.opened
    assert limiter.state(world.item).opened_at == opened
    assert limiter.reserve(world.item, 1) == Parked(again.until, ParkReason.BREAKER_OPEN)
    world.clock.at = again.until
    assert granted(limiter, world.item, 4).count == 1
    assert isinstance(limiter.reserve(world.item, 1), Parked)


def test_a_reset_cures_an_item_of_the_future(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """A clock ran three days ahead while one call was reserved: an operator can put it right."""
    limiter = world.limiter(per_minute(60, per_day=100))
    granted(limiter, world.item, 2)
    world.clock.advance(3 * 86_400)
    ahead = granted(limiter, world.item)
    world.clock.at = NOON + timedelta(seconds=5)
    assert isinstance(world.limiter().reserve(world.item, 1), Parked)

    with caplog.at_level(logging.WARNING, "fireflyassets.limiter"):
        world.limiter().reset(world.item, by="ada", why="a clock ran ahead")

    block = granted(world.limiter(), world.item, 2)
    assert block.due_at[0] == world.clock.at + timedelta(seconds=1.25)
    assert block.first > ahead.first
    assert limiter.state(world.item).used_today == 3
    limiter.refresh(world.item)
    assert isinstance(limiter.check(ahead.tickets[0]), Voided)
    assert "begun anew by ada: a clock ran ahead" in caplog.text


def test_a_reset_keeps_the_limits_and_forgets_the_storm(world: World) -> None:
    """Pause, breaker, override and lowered rate are gone; the day's count is not."""
    limiter = world.limiter(per_minute(60, per_day=100))
    granted(limiter, world.item, 7)
    limiter.override(world.item, 6, duration=timedelta(hours=1), by="ada", why="x")
    limiter.pause(world.item, timedelta(hours=1))

    limiter.reset(world.item, by="ada", why="x")

    state = limiter.state(world.item)
    assert (state.rate_per_minute, state.nominal_per_minute) == (48, 48)
    assert (state.reason, state.override, state.opened_at) == (PaceReason.CONTRACT, None, None)
    assert (state.blocked_until, state.used_today, state.day_limit) == (None, 7, 100)
    with pytest.raises(OverrideRefused, match="name"):
        limiter.reset(world.item, by=" ", why="x")


def test_a_long_pause_parks(world: World) -> None:
    """A pause that ends more than five minutes ahead parks, with the reason."""
    limiter = world.limiter(per_minute(60))
    granted(limiter, world.item)
    limiter.pause(world.item, timedelta(minutes=10))

    until = NOON + timedelta(minutes=10, microseconds=1_470_589)  # One slowed interval later.
    assert limiter.reserve(world.item, 1) == Parked(until, ParkReason.PAUSED)


def test_the_rate_never_falls_below_a_twentieth(world: World) -> None:
    """However often the service refuses, one call in twenty intervals is tried."""
    limiter = world.limiter(per_minute(60))
    for _ in range(40):
        limiter.pause(world.item, timedelta(seconds=1))
        world.clock.advance(5.5)

    assert limiter.state(world.item).rate_per_minute == pytest.approx(48 / 20)


def test_the_rate_recovers_by_a_thirtieth_each_ten_seconds(world: World) -> None:
    """A lowered rate rises with quiet time, from the end of the pause, up to the contract's."""
    limiter = world.limiter(per_minute(600))
    limiter.pause(world.item, timedelta(seconds=1))

    shares: list[float] = []
    for at in (10.9, 11, 21, 31, 41, 51, 61):
        world.clock.at = NOON + timedelta(seconds=at)
        granted(limiter, world.item)
        shares.append(limiter.state(world.item).rate_per_minute / 480)

    steps = [0.85, 0.85 + 1 / 30, 0.85 + 2 / 30, 0.95, 0.95 + 1 / 30, 1, 1]
    assert shares == pytest.approx(steps, abs=1e-4)
    assert limiter.state(world.item).reason is PaceReason.CONTRACT


def test_a_rising_rate_never_shortens_a_live_gap_below_the_contract(world: World) -> None:
    """A raise keeps the next ticket where it is and spaces the others anew."""
    limiter = world.limiter(per_minute(600))
    limiter.pause(world.item, timedelta(seconds=1))
    world.clock.advance(200)

    due_at = granted(limiter, world.item, 3).due_at

    assert due_at[1] - due_at[0] == due_at[2] - due_at[1] == timedelta(seconds=0.125)


def test_the_fire_rule(world: World) -> None:
    """Wait, look again just before, fire when due and fresh, never when late."""
    limiter = world.limiter(per_minute(4))
    _, ticket = granted(limiter, world.item, 2).tickets

    early = limiter.check(ticket)
    world.clock.advance(18.6)
    unseen = limiter.check(ticket)
    limiter.refresh(world.item)
    near = limiter.check(ticket)
    world.clock.advance(0.15)
    due = limiter.check(ticket)
    world.clock.advance(0.1)
    still_due = limiter.check(ticket)
    world.clock.advance(0.001)
    late = limiter.check(ticket)

    assert early == Waiting(ticket, ticket.due_at - timedelta(seconds=0.2))
    assert unseen == Stale()
    assert near == Waiting(ticket, ticket.due_at)
    assert due == still_due == Due(ticket)
    assert late == Voided(ticket)


def test_an_old_picture_never_fires(world: World) -> None:
    """After more than a second without news a due ticket needs a refresh first."""
    one, two = world.limiter(per_minute(60)), world.limiter(per_minute(60))
    _, ticket = granted(one, world.item, 2).tickets
    world.clock.advance(0.5)
    two.pause(world.item, timedelta(seconds=30))
    world.clock.advance(0.76)

    assert isinstance(one.check(ticket), Stale)
    one.refresh(world.item)
    assert isinstance(one.check(ticket), Waiting)


def test_resets_in_a_row_are_no_burst(world: World) -> None:
    """The first call after a reset is a whole interval away, however soon the last one was."""
    limiter = world.limiter(per_minute(60))
    granted(limiter, world.item)

    for _ in range(3):
        world.clock.advance(0.1)
        limiter.reset(world.item, by="ada", why="x")
        assert granted(limiter, world.item).due_at[0] - world.clock.at >= timedelta(seconds=1.25)
