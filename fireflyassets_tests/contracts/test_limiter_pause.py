"""What every limiter promises about refusals, pauses, rates and the fire rule.

Here: the port's promises once the service says no, run over memory, DynamoDB and Redis. Not here:
reservations and limits (`test_limiter`).
"""

from datetime import timedelta

import pytest

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
    """A service that asks for more is reported, not believed."""
    limiter = world.limiter(per_minute(60))

    paused = limiter.pause(world.item, timedelta(seconds=asked))

    assert (paused.until, paused.capped) == (NOON + timedelta(seconds=kept), asked > kept > 1)


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
