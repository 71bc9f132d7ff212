"""Whoever comes, goes, or comes back: each tenant with work gets its share, in virtual time.

Here: drawn stories of tenants with many short waves, at least twenty rounds between two changes.
Not here: crowds that stay (`test_sharing`), and the order of single tickets (`contracts`).
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import ParamSpec, TypeVar

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fireflyassets.limiter.arithmetic import SECOND_US, micros, paced_interval
from fireflyassets.limiter.port import Granted
from fireflyassets.limiter.simulation import ITEM, CountingStore, Fleet, limits_of
from fireflyassets.limiter.virtual_time import VirtualClock, run

P = ParamSpec("P")
R = TypeVar("R")
ROUNDS = 20
SHORTEST = 60.0
SETTLING = 15.0
"""Who comes back may first make up for the last short rounds that it was there."""


@dataclass(frozen=True)
class Member:
    """A tenant whose work never ends, in so many waves at a time."""

    weight: int
    waves: int


@dataclass(frozen=True)
class Story:
    """Who is there in each phase, by number; nobody, for a pause. Phases last for some rounds."""

    rate: int
    members: tuple[Member, ...]
    phases: tuple[tuple[frozenset[int], int], ...]
    seed: int


@st.composite
def stories(draw: st.DrawFn, *, most: int) -> Story:
    """Draw tenants, and who of them is there when; the first may have been alone for long."""
    count = draw(st.integers(2, most))
    weights = st.integers(1, 6) if count <= 20 else st.just(1)
    waves = st.integers(1, 8) if count <= 40 else st.just(1 + count % 2)
    member = st.builds(Member, weights, waves)
    members = tuple(draw(st.lists(member, min_size=count, max_size=count)))
    everybody = frozenset(range(count))
    alone = frozenset({0}), draw(st.sampled_from([ROUNDS, 150]))
    some = frozenset(draw(st.sets(st.integers(0, count - 1), min_size=1))), ROUNDS
    pause = frozenset[int](), draw(st.sampled_from([1, 30, 600]))
    middle = draw(st.lists(st.sampled_from([some, alone, pause]), min_size=1, max_size=2))
    phases = (*middle, (everybody, ROUNDS)) if count > 60 else (*middle, (everybody, ROUNDS), some)
    return Story(draw(st.sampled_from([4, 60, 600])), members, phases, draw(st.integers(0, 9)))


class House(Fleet):
    """One tenant's processes, and how many tickets they have taken."""

    taken = 0

    async def offload(self, call: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Make *call*, and count what it took."""
        answer = await super().offload(call, *args, **kwargs)
        if isinstance(answer, Granted):
            self.taken += answer.count
        return answer


class Street:
    """Plays one story and keeps what each got in each phase."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.chance = Random(story.seed)  # noqa: S311 - repeatable, no secret.
        limits, self.store, self.clock = limits_of(story.rate), CountingStore(), VirtualClock()
        self.houses = [House(limits, self.chance, self.store, self.clock) for _ in story.members]
        self.interval = paced_interval(limits) / SECOND_US

    async def play(self) -> list[tuple[float, float]]:
        """Return the worst share and the use of the pace in each phase with anybody there."""
        results: list[tuple[float, float]] = []
        there: dict[int, list[asyncio.Task[None]]] = {}
        for present, rounds in self.story.phases:
            for number in there.keys() - present:
                await end(there.pop(number))
            for number in sorted(present - there.keys()):
                waves = range(self.story.members[number].waves)
                there[number] = [asyncio.ensure_future(self.wave(number, place)) for place in waves]
            if present:
                await asyncio.sleep(SETTLING)
            taken = self.open_tickets()
            for house in self.houses:
                house.taken = 0
            weight = sum(self.story.members[number].weight for number in present)
            length = rounds * self.interval * weight if present else rounds
            length = max(length, SHORTEST) if present else length
            await asyncio.sleep(length)
            if present:
                results.append(self.judge(present, weight, length / self.interval - taken))
        for tasks in there.values():
            await end(tasks)
        return results

    def judge(self, present: frozenset[int], weight: int, free: float) -> tuple[float, float]:
        got = [house.taken for house in self.houses]
        calls = sum(got)
        ideal = {number: calls * self.story.members[number].weight / weight for number in present}
        return min(got[n] / ideal[n] for n in present), calls / free

    def open_tickets(self) -> int:
        """Count the tickets that somebody holds, or held when it went."""
        state = self.store.read(ITEM)
        return 0 if state is None else state.due_from(micros(self.clock.now()))

    async def wave(self, number: int, place: int) -> None:
        """Take what there is, in one short wave after the other."""
        house, member, loop = (
            self.houses[number],
            self.story.members[number],
            asyncio.get_running_loop(),
        )
        while True:
            pacer = house.pacer(weight=member.weight, tenant=f"tenant-{number}")
            pacer.open_waves, pacer.place = member.waves, place
            until = loop.time() + self.chance.uniform(10, 60)
            while loop.time() < until:
                await house.ticket(pacer)


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """End the waves of a tenant that goes."""
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError):
            await task


def holds(story: Story) -> None:
    """Play a story: in each phase each tenant has its share of the tickets, and all are taken.

    Counts tickets taken, not calls: what a wave leaves of its last block is lost.
    """
    for share, use in run(lambda: Street(story).play()):
        assert share >= 0.9
        assert use >= 0.95


FEW = settings(
    max_examples=20, database=None, deadline=None, derandomize=True, phases=[Phase.generate]
)
CROWD = settings(FEW, max_examples=3)


@FEW
@given(stories(most=8))
def test_a_few_tenants_share_by_weight_whatever_came_before(story: Story) -> None:
    """Who was alone, away or idle owes nothing and is owed nothing."""
    holds(story)


@CROWD
@given(stories(most=200))
def test_a_crowd_shares_by_weight_whatever_came_before(story: Story) -> None:
    """The same among up to two hundred, as far as twenty rounds of theirs can be played."""
    holds(story)
