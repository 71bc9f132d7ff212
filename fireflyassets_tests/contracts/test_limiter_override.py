"""What every limiter promises about a rate that an operator sets, and about counting refusals.

Here: the port's promises, run over memory, DynamoDB and Redis. Not here: the command line.
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from threading import Barrier

import pytest

from fireflyassets.limiter.errors import OverrideRefused, OverrideStands, UnknownItem
from fireflyassets.limiter.port import (
    Due,
    Granted,
    Limiter,
    Override,
    PaceReason,
    Parked,
    ParkReason,
    Stale,
    Voided,
    Waiting,
)
from fireflyassets_tests.limiter.worlds import NOON, World, granted, per_minute, seconds

HOUR = timedelta(hours=1)


def slow_down(
    limiter: Limiter, item: str, rate: float = 12, *, duration: timedelta = HOUR
) -> Override:
    """Let an operator set a rate."""
    answer = limiter.override(item, rate, duration=duration, by="ada", why="a launch next door")
    return answer.made


def test_an_operators_rate_holds_for_every_process(world: World) -> None:
    """Tickets of all processes keep the distance that was asked for, even on an old picture."""
    one, two = world.limiter(per_minute(60)), world.limiter(per_minute(60))
    granted(two, world.item)
    world.clock.advance(1)

    slow_down(one, world.item)

    assert granted(two, world.item, 3).due_at == seconds(1.25, 6.25, 11.25)
    assert granted(one, world.item).due_at == seconds(16.25)


def test_the_state_says_who_set_it_why_and_until_when(world: World) -> None:
    """Rate now, reason, since when, until when and by whom; the contract's rate beside it."""
    limiter = world.limiter(per_minute(60))
    world.clock.advance(2)

    override = slow_down(limiter, world.item)

    since = NOON + timedelta(seconds=2)
    assert override == Override(12, since, since + HOUR, "ada", "a launch next door")
    state = world.limiter().state(world.item)
    assert (state.rate_per_minute, state.nominal_per_minute) == (12, 48)
    assert (state.reason, state.since, state.override) == (PaceReason.OVERRIDDEN, since, override)


def test_it_ends_by_itself(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """After its time the contract's rate is back at once, for all, and the log says so."""
    limiter = world.limiter(per_minute(60))
    with caplog.at_level(logging.WARNING, "fireflyassets.limiter"):
        slow_down(limiter, world.item)
        world.clock.advance(3599)
        assert limiter.state(world.item).rate_per_minute == 12
        world.clock.advance(1)

        state = limiter.state(world.item)
        first, second = granted(limiter, world.item, 2).due_at

    assert (state.rate_per_minute, state.override) == (48, None)
    assert state.reason is PaceReason.CONTRACT
    assert state.since == world.clock.at
    assert second - first == timedelta(seconds=1.25)
    told = [record.getMessage() for record in caplog.records]
    assert [("set by ada: a launch next door" in line, "is over" in line) for line in told] == [
        (True, False),
        (False, True),
    ]


def test_a_waiting_ticket_comes_nearer_at_the_end(world: World) -> None:
    """Whoever waits under a low rate looks when it ends, and need not sit the old gap out."""
    limiter = world.limiter(per_minute(60))
    end = NOON + timedelta(seconds=10)
    slow_down(limiter, world.item, 0.5, duration=timedelta(seconds=10))
    _, ticket = granted(limiter, world.item, 2).tickets

    early = limiter.check(ticket)
    world.clock.at = end
    at_its_end = limiter.check(ticket)
    limiter.refresh(world.item)
    after = limiter.check(ticket)

    assert ticket.due_at == NOON + timedelta(seconds=120)
    next_look = NOON + timedelta(seconds=1, microseconds=1)
    assert early == Waiting(ticket, next_look, ParkReason.OVERRIDDEN)
    assert at_its_end == Stale()
    assert isinstance(after, Due)
    assert granted(limiter, world.item).due_at == (end + timedelta(seconds=1.25),)


def test_the_end_makes_no_burst(world: World) -> None:
    """The first ticket after the end keeps the contract's distance from the last before it."""
    limiter = world.limiter(per_minute(60))
    slow_down(limiter, world.item, duration=timedelta(seconds=5.5))
    fired = granted(limiter, world.item, 3).due_at
    world.clock.advance(5.5)

    limiter.refresh(world.item)

    assert fired == seconds(0, 5, 10)
    assert granted(limiter, world.item).due_at == seconds(5 + 2 * 1.25)


def test_a_parked_job_returns_at_the_end(world: World) -> None:
    """What is too far ahead only for the operator's rate is parked until that ends, and says so."""
    limiter = world.limiter(per_minute(60))
    slow_down(limiter, world.item, 0.1, duration=timedelta(minutes=7))
    granted(limiter, world.item)

    answer = limiter.reserve(world.item, 1)

    assert answer == Parked(NOON + timedelta(minutes=7), ParkReason.OVERRIDDEN)
    world.clock.at = answer.until
    assert granted(limiter, world.item).due_at == (world.clock.at,)


def test_it_lifts_what_refusals_had_lowered(world: World) -> None:
    """An operator who knows better gets the contract's rate back at once."""
    limiter = world.limiter(per_minute(60))
    for _ in range(9):
        limiter.pause(world.item, timedelta(seconds=1))
        world.clock.advance(5.5)
    assert limiter.state(world.item).rate_per_minute < 12

    slow_down(limiter, world.item, 48)

    first, second = granted(limiter, world.item, 2).due_at
    assert second - first == timedelta(seconds=1.25)


def test_refusals_lower_it_further_and_it_caps_the_recovery(world: World) -> None:
    """The service has the last word on how fast; the operator on how fast at most."""
    limiter = world.limiter(per_minute(60))
    slow_down(limiter, world.item, 24)

    limiter.pause(world.item, timedelta(seconds=1))

    lowered = limiter.state(world.item)
    assert lowered.rate_per_minute == pytest.approx(24 * 0.85, rel=1e-5)
    assert (lowered.reason, lowered.override is not None) == (PaceReason.REFUSED, True)
    world.clock.advance(11)
    assert limiter.state(world.item).rate_per_minute == pytest.approx(22, rel=1e-4)
    world.clock.advance(300)
    assert limiter.state(world.item).rate_per_minute == 24


def test_what_refusals_left_is_remembered_under_a_lower_rate(world: World) -> None:
    """An override is no amnesty: after its end the rate goes on recovering from where it was."""
    limiter = world.limiter(per_minute(60))
    for _ in range(20):
        limiter.pause(world.item, timedelta(seconds=1))
        world.clock.advance(5.5)
    slow_down(limiter, world.item, 1, duration=timedelta(seconds=30))
    world.clock.advance(30)

    state = limiter.state(world.item)

    assert 2.4 < state.rate_per_minute < 10
    assert state.reason is PaceReason.RECOVERING


def refused(limiter: Limiter, item: str) -> None:
    """Let the service refuse a call."""
    limiter.pause(item, timedelta(seconds=5))


def told_anew(limiter: Limiter, item: str) -> None:
    """Let a file be mended."""
    limiter.register(item, per_minute(60, as_of=date(2026, 6, 1)))


def slowed_again(limiter: Limiter, item: str) -> None:
    """Let an operator change their mind."""
    slow_down(limiter, item, 0.02, duration=timedelta(minutes=10))


@pytest.mark.parametrize("between", [refused, told_anew, slowed_again])
@pytest.mark.parametrize("lifted", ["cleared", "ended", "faster"])
def test_no_gap_outlives_the_rate_that_made_it(
    world: World, between: Callable[[Limiter, str], None], lifted: str
) -> None:
    """One call in a day, something else, and then the contract's rate: no one waits for a day."""
    limiter = world.limiter(per_minute(60))
    slow_down(limiter, world.item, 0.0007, duration=timedelta(minutes=10))
    granted(limiter, world.item)
    world.clock.advance(10)
    between(limiter, world.item)
    world.clock.advance(610 if lifted == "ended" else 20)
    if lifted == "cleared":
        limiter.clear_override(world.item, by="grace")
    elif lifted == "faster":
        slow_down(limiter, world.item, 48)

    due_at = granted(limiter, world.item).due_at[0]

    # Refusals under the low rate leave the lowest that they ever do: a twentieth of the contract's.
    assert due_at - world.clock.at <= timedelta(seconds=25)
    if lifted == "faster":
        assert due_at - world.clock.at <= timedelta(seconds=1.25)


def test_who_waits_hears_of_a_higher_rate(world: World) -> None:
    """A waiter of another process looks within a second, and finds its ticket near and alive."""
    one, two = world.limiter(per_minute(600)), world.limiter()
    slow_down(one, world.item, 3.2)
    granted(one, world.item)
    tickets = granted(two, world.item, 3).tickets
    world.clock.advance(2)
    two.refresh(world.item)
    looked = two.check(tickets[0])
    assert isinstance(looked, Waiting)
    assert looked.check_at - world.clock.at < timedelta(seconds=1.001)

    one.clear_override(world.item, by="ada")
    world.clock.at = looked.check_at
    assert two.check(tickets[0]) == Stale()
    two.refresh(world.item)
    near = [two.check(ticket) for ticket in tickets]

    assert [type(answer) for answer in near] == [Due, Waiting, Waiting]
    last = near[2]
    assert isinstance(last, Waiting)
    assert last.ticket.due_at - world.clock.at <= timedelta(seconds=0.25)


def test_it_does_not_lift_a_pause(world: World) -> None:
    """A pause that the service asked for is not an operator's to end."""
    limiter = world.limiter(per_minute(60))
    until = limiter.pause(world.item, timedelta(seconds=30)).until

    slow_down(limiter, world.item, 48)

    assert granted(limiter, world.item).due_at == (until,)


@pytest.mark.parametrize(
    ("rate", "duration", "by", "why"),
    [
        (48.1, HOUR, "ada", "more"),
        (0, HOUR, "ada", "none"),
        (-3, HOUR, "ada", "less than none"),
        (float("nan"), HOUR, "ada", "no number"),
        (float("inf"), HOUR, "ada", "all"),
        (0.0001, HOUR, "ada", "hardly any"),
        (12, timedelta(0), "ada", "no time"),
        (12, timedelta(seconds=-1), "ada", "the past"),
        (12, timedelta(days=7, seconds=1), "ada", "for ever"),
        (12, HOUR, " ", "nobody"),
        (12, HOUR, "ada", ""),
        (12, HOUR, "a" * 65, "a long name"),
        (12, HOUR, "ada", "w" * 201),
        (12, HOUR, "ada", "two\nlines"),
    ],
)
def test_what_makes_no_sense_changes_nothing(
    world: World, rate: float, duration: timedelta, by: str, why: str
) -> None:
    """Above the contract, no rate, no time, for ever, by nobody, for no reason: refused."""
    limiter = world.limiter(per_minute(60))
    before = limiter.state(world.item)

    with pytest.raises(OverrideRefused, match="up to the contract's"):
        limiter.override(world.item, rate, duration=duration, by=by, why=why)

    assert limiter.state(world.item) == before


def test_an_unknown_item_has_no_rate_to_set(world: World) -> None:
    """A typing mistake in the item makes no new one."""
    with pytest.raises(UnknownItem):
        slow_down(world.limiter(), world.item)
    with pytest.raises(UnknownItem):
        world.limiter().clear_override(world.item, by="ada")


def test_a_later_override_replaces_an_earlier_one(world: World) -> None:
    """There is one at a time: the last word counts, and says which was there before."""
    limiter = world.limiter(per_minute(60))
    first = slow_down(limiter, world.item)

    second = world.limiter().override(
        world.item, 30, duration=timedelta(minutes=5), by="grace", why="calm again", replace=True
    )

    assert second.replaced == first
    assert limiter.state(world.item).override == second.made
    assert limiter.state(world.item).rate_per_minute == 30


def test_somebody_elses_override_stands_until_its_end(world: World) -> None:
    """Whoever does not say that it is to go is told whose it is; one's own, or an old one, goes."""
    limiter, other = world.limiter(per_minute(60)), world.limiter(per_minute(60))
    first = slow_down(limiter, world.item)

    with pytest.raises(OverrideStands, match=r"12 calls .* 12:00:00 until .* 13:00:00 .* ada: a "):
        other.override(world.item, 30, duration=HOUR, by="grace", why="calm")

    assert limiter.state(world.item).override == first
    again = limiter.override(world.item, 6, duration=HOUR, by="ada", why="slower")
    assert again.replaced == first
    world.clock.advance(3600)
    assert other.override(world.item, 30, duration=HOUR, by="grace", why="calm").replaced is None


def test_of_overrides_at_one_moment_one_stands(world: World) -> None:
    """Each of eight operators has seen that there is none: all but one are told whose it is."""
    limiters = [world.limiter(per_minute(60)) for _ in range(8)]
    together = Barrier(len(limiters))

    def sets(n: int) -> str | None:
        together.wait(timeout=10)
        try:
            by = (
                limiters[n]
                .override(world.item, 12 + n, duration=HOUR, by=f"op-{n}", why="x")
                .made.by
            )
        except OverrideStands:
            return None
        return by

    for _ in range(5):
        with ThreadPoolExecutor(len(limiters)) as threads:
            stood = [by for by in threads.map(sets, range(len(limiters))) if by]
        made = limiters[0].state(world.item).override
        assert made is not None
        assert stood == [made.by]
        limiters[0].clear_override(world.item, by=made.by)


def test_an_override_on_an_old_picture_does_not_win_unseen(world: World) -> None:
    """Of two who set one at once the second is refused, or says that it replaced the first's."""
    one, two = world.limiter(per_minute(60)), world.limiter(per_minute(60))
    two.state(world.item)
    first = slow_down(one, world.item)

    with pytest.raises(OverrideStands, match="ada"):
        two.override(world.item, 30, duration=HOUR, by="grace", why="calm")

    assert (
        two.override(world.item, 30, duration=HOUR, by="grace", why="calm", replace=True).replaced
        == first
    )


def test_it_can_be_cleared_by_anybody(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Clearing tells what was cleared, leaves a line in the log, and is harmless twice."""
    limiter = world.limiter(per_minute(60))
    override = slow_down(limiter, world.item)
    caplog.clear()

    with caplog.at_level(logging.WARNING, "fireflyassets.limiter"):
        cleared = world.limiter().clear_override(world.item, by="grace")
        again = limiter.clear_override(world.item, by="grace")

    assert (cleared, again) == (override, None)
    assert limiter.state(world.item).override is None
    assert limiter.state(world.item).rate_per_minute == 48
    assert [record.getMessage() for record in caplog.records] == [
        f"Item {world.item}: the override set by ada is ended by grace."
    ]


def test_one_whose_time_is_over_is_not_there_to_clear(world: World) -> None:
    """Nobody is told to have ended what had ended."""
    limiter = world.limiter(per_minute(60))
    slow_down(limiter, world.item)
    world.clock.advance(3600)

    assert limiter.clear_override(world.item, by="grace") is None


def test_a_smaller_contract_binds_the_operator_too(world: World) -> None:
    """New limits below an override take it down with them."""
    limiter = world.limiter(per_minute(60))
    slow_down(limiter, world.item, 40)

    limiter.register(world.item, per_minute(30, as_of=date(2026, 4, 1)))

    state = limiter.state(world.item)
    assert (state.rate_per_minute, state.nominal_per_minute) == (24, 24)
    assert state.override is not None
    assert state.override.rate_per_minute == 24


def test_every_refusal_is_counted(world: World) -> None:
    """Each 429 counts, the coalesced ones too; a new day counts from zero."""
    one, two = world.limiter(per_minute(60)), world.limiter(per_minute(60))
    granted(one, world.item)
    for limiter in (one, two, one, two, one):
        limiter.pause(world.item, timedelta(seconds=30))

    assert one.state(world.item).refused_today == 5
    world.clock.at = datetime(2026, 3, 10, 0, 1, tzinfo=UTC)
    assert one.state(world.item).refused_today == 0
    granted(two, world.item)
    two.pause(world.item, None)
    assert one.state(world.item).refused_today == 1


def test_a_ticket_of_a_lost_item_is_void(world: World) -> None:
    """Numbers start where no ticket of an earlier item of the name can be."""
    limiter = world.limiter(per_minute(6000))
    old = granted(limiter, world.item, 200).tickets[-1]
    world.clock.advance(3)
    again = World(world.process, world.clock)
    limiter = again.limiter(per_minute(6000))

    assert granted(limiter, again.item).first > old.number
    limiter.refresh(again.item)
    assert isinstance(limiter.check(type(old)(again.item, old.number, old.due_at)), Voided)


def test_nobody_ends_an_override_without_a_name(world: World) -> None:
    """The trail says who ended it."""
    limiter = world.limiter(per_minute(60))
    limiter.override(world.item, 6, duration=timedelta(hours=1), by="ada", why="x")

    with pytest.raises(OverrideRefused, match="name"):
        limiter.clear_override(world.item, by=" ")

    assert limiter.state(world.item).override is not None


def test_a_rate_that_rises_before_midnight_brings_no_ticket_back_into_a_full_day(
    world: World,
) -> None:
    """What was taken for the next day stays there: the day's limit holds."""
    world.clock.at = datetime(2026, 3, 9, 23, 57, 50, tzinfo=UTC)
    midnight = datetime(2026, 3, 10, tzinfo=UTC)
    limiter = world.limiter(per_minute(600, per_day=60))
    limiter.override(world.item, 24, duration=timedelta(hours=1), by="ada", why="x")
    world.clock.advance(10)
    blocks = [limiter.reserve(world.item, 4) for _ in range(24)]
    tickets = [t for block in blocks if isinstance(block, Granted) for t in block.tickets]
    before = sum(ticket.due_at < midnight for ticket in tickets)
    assert 0 < before < len(tickets)

    world.clock.advance(2)
    limiter.clear_override(world.item, by="ada")
    limiter.refresh(world.item)

    looks = [limiter.check(ticket) for ticket in tickets]
    moved = [look.ticket.due_at for look in looks if isinstance(look, Waiting)]
    assert sum(at < midnight for at in moved) <= before
    assert min(moved) < midnight <= max(moved)
