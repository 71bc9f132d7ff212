"""What every limiter promises, whatever keeps its items.

Here: the port's promises, run over memory, DynamoDB and Redis. Not here: how a store spells its
writes, waiting, and what only shows under many interleavings (`fireflyassets_tests/limiter`).
"""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest

from fireflyassets.limiter.errors import UnknownItem
from fireflyassets.limiter.limits import Limits, Window
from fireflyassets.limiter.port import Flow, Granted, PaceReason, Parked, ParkReason, Ticket
from fireflyassets_tests.limiter.worlds import NOON, World, granted, per_minute, seconds

MIDNIGHT = datetime(2026, 3, 10, tzinfo=UTC)
A, B, C = Flow("a"), Flow("b"), Flow("c.d-e", 2)


def test_first_ticket_is_due_at_once(world: World) -> None:
    """A new item makes nobody wait."""
    limiter = world.limiter(per_minute(60))

    assert granted(limiter, world.item).due_at == (NOON,)


def test_tickets_are_spaced_by_the_paced_interval(world: World) -> None:
    """60 a minute less 20 % headroom is one call each 1.25 s, in the order of asking."""
    limiter = world.limiter(per_minute(60))

    block = granted(limiter, world.item, 3)
    after = granted(limiter, world.item)

    assert (block.count, block.due_at) == (3, seconds(0, 1.25, 2.5))
    assert (after.first, after.due_at) == (block.first + 3, seconds(3.75))
    assert block.tickets[1] == Ticket(world.item, block.first + 1, NOON + timedelta(seconds=1.25))


def test_the_slowest_window_decides(world: World) -> None:
    """16 calls in 3 s bind before 600 a minute, and one a second before both."""
    limits = Limits(
        600,
        source="test",
        as_of=date(2026, 3, 1),
        per_second=1,
        windows=(Window(16, timedelta(seconds=3)),),
    )
    limiter = world.limiter(limits)

    assert granted(limiter, world.item, 2).due_at == seconds(0, 1.25)


def test_processes_share_one_line(world: World) -> None:
    """Tickets of two processes are consecutive, whoever asks with however old a picture."""
    one, two = world.limiter(per_minute(60)), world.limiter(per_minute(60))

    numbers = [granted(who, world.item).first for who in (one, two, two, one, one, two)]

    assert numbers == list(range(numbers[0], numbers[0] + 6))


def test_a_process_that_never_registered_finds_the_item(world: World) -> None:
    """What one process registered, another can use and show."""
    first = granted(world.limiter(per_minute(60)), world.item).first

    assert granted(world.limiter(), world.item).first == first + 1


def test_an_unknown_item_is_refused(world: World) -> None:
    """An item without limits has no pace to keep."""
    with pytest.raises(UnknownItem, match="Register the item"):
        world.limiter().reserve(world.item, 1)


def test_an_empty_reservation_is_a_bug(world: World) -> None:
    """Nobody takes zero tickets."""
    limiter = world.limiter(per_minute(60))
    with pytest.raises(ValueError, match="at least one"):
        limiter.reserve(world.item, 0)


@pytest.mark.parametrize("rate", [4, 60, 6000])
def test_idle_time_buys_no_burst(world: World, rate: int) -> None:
    """After an hour of rest calls are spaced as ever, and the first waits a second at most."""
    limiter = world.limiter(per_minute(rate))
    granted(limiter, world.item)
    world.clock.advance(3600.5)

    first, second = granted(limiter, world.item, 2).due_at

    assert timedelta(0) <= first - world.clock.at <= timedelta(seconds=1)
    assert second - first == timedelta(seconds=75 / rate)


@pytest.mark.parametrize("rate", [4, 60, 600])
@pytest.mark.parametrize("idle", [0.3, 3600])
def test_who_needs_time_gets_a_later_ticket(world: World, rate: int, idle: float) -> None:
    """No ticket is due within the notice, none is wasted for it, and the spacing stays."""
    limiter = world.limiter(per_minute(rate))
    granted(limiter, world.item)
    world.clock.advance(idle)
    soonest = world.clock.at + timedelta(seconds=0.6)

    block = limiter.reserve(world.item, 2, notice=timedelta(seconds=0.6))

    assert isinstance(block, Granted)
    assert block.due_at[0] >= soonest
    assert block.due_at[1] - block.due_at[0] == timedelta(seconds=75 / rate)
    assert limiter.state(world.item).used_today == 3


def test_a_late_asker_gets_no_passed_ticket(world: World) -> None:
    """A ticket handed out is due now or later, even from an old picture of a busy line."""
    limiter = world.limiter(per_minute(600))
    granted(limiter, world.item, 5)
    world.clock.advance(10.01)

    assert granted(limiter, world.item).due_at[0] >= world.clock.at


def test_nothing_is_taken_more_than_five_minutes_ahead(world: World) -> None:
    """Behind a long pause a call is parked until it would be due, and parking spends nothing."""
    limiter = world.limiter(per_minute(4))
    granted(limiter, world.item)
    world.clock.advance(1)
    limiter.pause(world.item, timedelta(seconds=289))
    last = granted(limiter, world.item)
    before = limiter.state(world.item)

    answer = limiter.reserve(world.item, 1)

    assert last.due_at == seconds(290)
    until = NOON + timedelta(seconds=290 + 18.75 / 0.85)
    assert isinstance(answer, Parked)
    assert answer.reason is ParkReason.TOO_FAR_AHEAD
    assert abs(answer.until - until) < timedelta(milliseconds=1)
    assert limiter.state(world.item) == before


def test_a_stale_process_cannot_pass_the_horizon(world: World) -> None:
    """The horizon is part of the write: a picture from before the rush does not help."""
    stale = world.limiter(per_minute(4))
    granted(stale, world.item)
    busy = world.limiter(per_minute(4))
    world.clock.advance(1)
    busy.pause(world.item, timedelta(seconds=289))
    stale.refresh(world.item)
    granted(busy, world.item)

    assert isinstance(stale.reserve(world.item, 1), Parked)


@pytest.mark.parametrize(("rate", "places"), [(4, 12), (60, 192), (1, 3)])
def test_open_tickets_are_no_more_than_four_minutes_have(
    world: World, rate: int, places: int
) -> None:
    """However they are asked for, no more are open; nobody's request spends a thing then."""
    one, two = world.limiter(per_minute(rate)), world.limiter(per_minute(rate))

    first = granted(one, world.item, places - 1)
    last = granted(two, world.item, 500)
    before = one.state(world.item)

    assert (first.count, last.count) == (places - 1, 1)
    for limiter in (one, two):
        answer = limiter.reserve(world.item, 1)
        assert isinstance(answer, Parked)
        assert answer.reason is ParkReason.NOT_YOUR_TURN
    assert one.state(world.item) == before


def test_a_stale_process_cannot_make_the_line_longer(world: World) -> None:
    """The bound on open tickets is part of the write, for a block as for a single ticket."""
    stale, busy = world.limiter(per_minute(60)), world.limiter(per_minute(60))
    granted(stale, world.item)
    granted(busy, world.item, 150)

    assert granted(stale, world.item, 150).count == 1
    assert granted(busy, world.item, 150, flow=A).count == 1
    assert busy.state(world.item).outstanding == 153


def test_who_found_no_place_finds_one_when_told(world: World) -> None:
    """Half of the line has gone by then."""
    limiter = world.limiter(per_minute(4))
    granted(limiter, world.item, 12)
    answer = limiter.reserve(world.item, 1)
    assert isinstance(answer, Parked)
    assert timedelta(seconds=112) < answer.until - NOON < timedelta(seconds=113)
    world.clock.at = answer.until

    assert granted(limiter, world.item).due_at == seconds(225)


def test_who_was_served_lets_those_go_first_who_were_not(world: World) -> None:
    """Once somebody found no place tickets go by turns, one by one, and none is lost."""
    limiter = world.limiter(per_minute(4))
    granted(limiter, world.item, 12)
    assert isinstance(limiter.reserve(world.item, 4), Parked)
    world.clock.advance(100)

    mine = granted(limiter, world.item, 4, flow=A)
    behind = limiter.reserve(world.item, 4, flow=A)
    others = [granted(limiter, world.item, 4, flow=flow) for flow in (B, C)]

    assert [block.count for block in (mine, *others)] == [1, 1, 1]
    assert isinstance(behind, Parked)
    assert behind.reason is ParkReason.NOT_YOUR_TURN
    assert behind.until == NOON + timedelta(seconds=13 * 18.75 - 1.5)
    world.clock.at = NOON + timedelta(seconds=15 * 18.75 - 1.25)
    spare = granted(limiter, world.item, 4, flow=A)
    assert spare.due_at == seconds(15 * 18.75)


def test_all_waves_of_a_flow_are_one(world: World) -> None:
    """Who asks as a newcomer again and again, in whatever process, goes last all the same."""
    limiter = world.limiter(per_minute(4))
    granted(limiter, world.item, 12)
    limiter.reserve(world.item, 1)
    world.clock.advance(170)
    granted(limiter, world.item, flow=A)

    again = world.limiter().reserve(world.item, 1, flow=A)

    assert isinstance(again, Parked)
    assert again.reason is ParkReason.NOT_YOUR_TURN
    assert granted(world.limiter(), world.item, flow=B)


def test_a_ticket_is_not_lost_for_those_who_have_left(world: World) -> None:
    """Who is first in turn and does not ask holds the others up until a second before it."""
    limiter = world.limiter(per_minute(4))
    granted(limiter, world.item, 12)
    limiter.reserve(world.item, 1)
    world.clock.advance(170)
    for flow in (A, C):
        granted(limiter, world.item, flow=flow)

    answer = limiter.reserve(world.item, 1, flow=A)
    assert isinstance(answer, Parked)
    world.clock.at = NOON + timedelta(seconds=14 * 18.75 - 1)

    assert granted(limiter, world.item, flow=A).due_at == seconds(14 * 18.75)


@pytest.mark.parametrize("weight", [1, 4])
def test_a_flow_has_its_weight_in_each_round(world: World, weight: int) -> None:
    """Two flows that always ask share by weight, however the turns stood before."""
    limiter = world.limiter(per_minute(4))
    granted(limiter, world.item, 12)
    limiter.reserve(world.item, 1)
    flows, got = (Flow("light"), Flow("heavy", weight)), [0, 0]
    for _ in range(60 * (1 + weight)):
        world.clock.advance(1)
        for number, flow in enumerate(flows):
            got[number] += isinstance(limiter.reserve(world.item, 1, flow=flow), Granted)

    assert abs(got[1] - weight * got[0]) <= weight


def test_a_turn_that_is_far_ahead_holds_nobody_back(world: World) -> None:
    """However many tickets a flow has had alone, it is ahead of newcomers by one ticket."""
    limiter = world.limiter(per_minute(4))
    alone = Flow("alone", open_waves=2)
    taken = 0
    for _ in range(3_000):
        world.clock.advance(1)
        taken += isinstance(limiter.reserve(world.item, 1, flow=alone), Granted)
    assert taken >= 150
    got = [0, 0]
    for _ in range(600):
        world.clock.advance(1)
        for number, flow in enumerate((alone, B)):
            got[number] += isinstance(limiter.reserve(world.item, 1, flow=flow), Granted)

    assert abs(got[0] - got[1]) <= 1


def test_a_flow_of_more_waves_than_weight_has_no_more_than_its_weight(world: World) -> None:
    """Three waves of one tenant and one of another share evenly, though all find a place."""
    limiter = world.limiter(per_minute(4))
    many, got = Flow("many", open_waves=3), [0, 0]
    held: list[datetime] = [NOON] * 4
    for _ in range(1_200):
        world.clock.advance(1)
        for number in range(4):
            flow = many if number < 3 else B
            if held[number] <= world.clock.at:
                answer = limiter.reserve(world.item, 1, flow=flow)
                if isinstance(answer, Granted):
                    got[flow is B] += 1
                    held[number] = answer.due_at[0]

    assert sum(got) >= 63
    assert abs(got[0] - got[1]) <= 3


def test_a_wave_has_its_block_where_half_of_the_line_is_free(world: World) -> None:
    """One wave of weight six is let in for its round at once: while it waits, others are, too."""
    limiter = world.limiter(per_minute(60))
    heavy = Flow("heavy", 6)
    granted(limiter, world.item)
    granted(limiter, world.item, flow=Flow("many", open_waves=2))

    assert granted(limiter, world.item, 6, flow=heavy).count == 6


@pytest.mark.parametrize(("asked", "weight"), [(1, 10), (3, 10), (10, 10), (2, 1)])
def test_who_lags_behind_is_given_no_more_than_it_asks_for(
    world: World, asked: int, weight: int
) -> None:
    """However far, and however much it weighs: what a wave can't use would be lost with it."""
    limiter = world.limiter(per_minute(600))
    back, busy = Flow("back", weight), Flow("busy", open_waves=2)
    granted(limiter, world.item, flow=busy)
    granted(limiter, world.item, flow=back)
    for _ in range(40):
        world.clock.advance(0.125)
        granted(limiter, world.item, flow=busy)

    assert granted(limiter, world.item, asked, flow=back).count == asked


@pytest.mark.parametrize("rate", [60, 600, 3000])
def test_who_is_ahead_leaves_the_ticket_after_the_next_to_others(world: World, rate: int) -> None:
    """However short the rounds, one that took its share waits until the next ticket is near."""
    limiter = world.limiter(per_minute(rate))
    light, many = Flow("light"), Flow("many", open_waves=8)
    granted(limiter, world.item, flow=light)
    granted(limiter, world.item, flow=many)

    answer = limiter.reserve(world.item, 1, flow=many)

    assert isinstance(answer, Parked)
    assert granted(limiter, world.item, flow=light).due_at == seconds(2 * 75 / rate)


def test_an_idle_item_keeps_no_turns(world: World) -> None:
    """Whoever asks after a pause in demand has its whole block."""
    limiter = world.limiter(per_minute(4))
    granted(limiter, world.item, 12)
    assert isinstance(limiter.reserve(world.item, 4), Parked)
    world.clock.advance(3600)

    assert granted(limiter, world.item, 4).count == 4


def test_stale_processes_cannot_take_one_turn_twice(world: World) -> None:
    """A turn that another wave of the flow took meanwhile is no turn, whatever one knew."""
    stale, busy = world.limiter(per_minute(4)), world.limiter(per_minute(4))
    granted(stale, world.item, 12)
    assert isinstance(stale.reserve(world.item, 1), Parked)
    world.clock.at = NOON + timedelta(seconds=12 * 18.75 - 1.5)
    stale.refresh(world.item)
    mine = granted(busy, world.item, flow=A)

    answer = stale.reserve(world.item, 1, flow=A)

    assert mine.due_at == seconds(225)
    assert isinstance(answer, Parked)


def test_the_day_quota_parks_until_midnight(world: World) -> None:
    """A used up day parks until the next one in UTC, which counts from zero."""
    limiter = world.limiter(per_minute(60, per_day=3))
    assert granted(limiter, world.item, 5).count == 3

    assert limiter.reserve(world.item, 1) == Parked(MIDNIGHT, ParkReason.DAY_QUOTA)
    assert limiter.state(world.item).used_today == 3
    world.clock.at = MIDNIGHT
    assert limiter.state(world.item).used_today == 0
    assert granted(limiter, world.item, 2).count == 2
    assert limiter.state(world.item).used_today == 2


def test_a_stale_process_cannot_pass_the_day_quota(world: World) -> None:
    """The quota is part of the write too."""
    stale = world.limiter(per_minute(60, per_day=3))
    granted(stale, world.item)
    granted(world.limiter(), world.item, 2)

    assert stale.reserve(world.item, 1) == Parked(MIDNIGHT, ParkReason.DAY_QUOTA)


def test_a_ticket_counts_for_the_day_it_is_due_on(world: World) -> None:
    """What is asked for before midnight and due after it leaves the old day's count alone."""
    limiter = world.limiter(per_minute(4, per_day=100))
    world.clock.at = MIDNIGHT - timedelta(seconds=20)

    taken = [granted(limiter, world.item) for _ in range(3)]

    assert [ticket.due_at[0] >= MIDNIGHT for ticket in taken] == [False, False, True]
    world.clock.at = MIDNIGHT + timedelta(seconds=1)
    assert limiter.state(world.item).used_today == 1


def test_a_pause_over_midnight_moves_the_count_too(world: World) -> None:
    """Tickets that a pause brings into the next day count there, whichever comes first."""
    limiter = world.limiter(per_minute(60, per_day=100))
    world.clock.at = MIDNIGHT - timedelta(seconds=60)
    granted(limiter, world.item, 30)
    world.clock.advance(1)
    limiter.pause(world.item, timedelta(seconds=100))

    after = granted(limiter, world.item)

    assert after.due_at[0] > MIDNIGHT
    world.clock.at = MIDNIGHT + timedelta(seconds=1)
    assert limiter.state(world.item).used_today == 30


def test_a_pause_moves_tickets_into_a_day_that_is_counted_already(world: World) -> None:
    """The first tickets of tomorrow are taken before the pause that moves today's behind them."""
    limiter = world.limiter(per_minute(60, per_day=100))
    world.clock.at = MIDNIGHT - timedelta(seconds=20)
    block = [granted(limiter, world.item) for _ in range(20)]
    world.clock.advance(1)
    limiter.pause(world.item, timedelta(seconds=100))
    world.clock.at = MIDNIGHT + timedelta(seconds=1)

    assert block[-1].due_at[0] > MIDNIGHT
    assert limiter.state(world.item).used_today == 19


@pytest.mark.parametrize("as_of", [date(2026, 4, 1), date(2026, 3, 1), date(1999, 1, 1)])
def test_the_limits_told_last_hold(
    world: World, as_of: date, caplog: pytest.LogCaptureFixture
) -> None:
    """A file that was mended counts for every process, whatever date stood there before."""
    one = world.limiter(per_minute(60))
    with caplog.at_level(logging.WARNING, "fireflyassets.limiter"):
        world.limiter(per_minute(120, per_day=9, as_of=as_of))

    first, second = granted(one, world.item, 2).due_at

    assert second - first == timedelta(seconds=0.625)
    state = one.state(world.item)
    assert (state.nominal_per_minute, state.day_limit) == (96, 9)
    assert (state.as_of, state.source) == (as_of, "test")
    (told,) = [record.getMessage() for record in caplog.records]
    assert f"the limits of {as_of} (test), 120 calls a minute, replace" in told


def test_processes_with_different_files_do_not_flap(world: World) -> None:
    """A process that only says again what it said before undoes nobody's word."""
    old, new = per_minute(60), per_minute(120)
    one, two = world.limiter(old), world.limiter(new)

    for _ in range(3):
        one.register(world.item, old)
        two.register(world.item, new)

    assert one.state(world.item).nominal_per_minute == 96


def test_new_limits_keep_a_lowered_share(world: World) -> None:
    """Changing the contract is no reason to forget that the service refuses calls."""
    limiter = world.limiter(per_minute(60))
    limiter.pause(world.item, timedelta(seconds=1))
    limiter.register(world.item, per_minute(120, as_of=date(2026, 4, 1)))

    assert limiter.state(world.item).rate_per_minute == pytest.approx(96 * 0.85, rel=1e-5)


def test_state_says_what_people_ask(world: World) -> None:
    """Rate, reason, since when, used today, what is next and what is outstanding."""
    limiter = world.limiter(per_minute(60, per_day=9000))
    first = granted(limiter, world.item, 4).first
    world.clock.advance(2)

    state = limiter.state(world.item)

    assert (state.item, state.rate_per_minute, state.nominal_per_minute) == (world.item, 48, 48)
    assert (state.reason, state.since) == (PaceReason.CONTRACT, NOON)
    assert (state.used_today, state.day_limit, state.refused_today) == (4, 9000, 0)
    assert (state.next_ticket, state.next_due_at) == (first + 4, NOON + timedelta(seconds=5))
    assert (state.outstanding, state.blocked_until, state.override) == (2, None, None)


def test_threads_never_share_a_ticket(world: World) -> None:
    """Eight threads over two limiters take 160 tickets, each once and none left out."""
    limiters = [world.limiter(per_minute(600)), world.limiter(per_minute(600))]

    def take(worker: int) -> list[int]:
        blocks = [granted(limiters[worker % 2], world.item, 2) for _ in range(10)]
        return [ticket.number for block in blocks for ticket in block.tickets]

    with ThreadPoolExecutor(8) as pool:
        numbers = [number for taken in pool.map(take, range(8)) for number in taken]

    assert sorted(numbers) == list(range(min(numbers), min(numbers) + 160))
