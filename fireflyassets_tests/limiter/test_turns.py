"""Whoever comes, goes, or comes back: each tenant with work gets its share, in virtual time.

Here: drawn stories of tenants with many short waves, at least twenty rounds between two changes.
Not here: crowds that stay (`test_sharing`), and the order of single tickets (`contracts`).
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import length_hint
from random import Random

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from fireflyassets.limiter.arithmetic import SECOND_US, micros, paced_interval
from fireflyassets.limiter.simulation import ITEM, Fleet, limits_of
from fireflyassets.limiter.virtual_time import run

ROUNDS = 20
SHORTEST = 60.0


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


class Street:
    """Plays one story and keeps when each had its calls."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.chance = Random(story.seed)  # noqa: S311 - repeatable, no secret.
        self.fleet = Fleet(limits_of(story.rate), self.chance)
        self.interval = paced_interval(self.fleet.limits) / SECOND_US
        self.calls: list[list[float]] = [[] for _ in story.members]

    async def play(self) -> list[tuple[float, float]]:
        """Return how far who got least is behind, and the use, in each phase with anybody there."""
        results: list[tuple[float, float]] = []
        there: dict[int, list[asyncio.Task[None]]] = {}
        for present, rounds in self.story.phases:
            for number in there.keys() - present:
                await end(there.pop(number))
            for number in sorted(present - there.keys()):
                waves = range(self.story.members[number].waves)
                there[number] = [asyncio.ensure_future(self.wave(number, place)) for place in waves]
            if present:
                await asyncio.sleep(self.open_tickets() * self.interval)
                results.append(await self.phase(present, rounds))
            else:
                await asyncio.sleep(rounds)
        for tasks in there.values():
            await end(tasks)
        return results

    async def phase(self, present: frozenset[int], rounds: int) -> tuple[float, float]:
        """Let *rounds* pass; return by how many of them the least served is short, and the use."""
        before = list(map(len, self.calls))
        weight = sum(self.story.members[number].weight for number in present)
        length = max(rounds * self.interval * weight, SHORTEST)
        await asyncio.sleep(length)
        got = [len(calls) - had for calls, had in zip(self.calls, before, strict=True)]
        least = min(got[n] / self.story.members[n].weight for n in present)
        return sum(got) / weight - least, sum(got) * self.interval / length

    def open_tickets(self) -> int:
        """Count the tickets that somebody holds, or held when it went."""
        state = self.fleet.store.read(ITEM)
        return 0 if state is None else state.due_from(micros(self.fleet.clock.now()))

    async def wave(self, number: int, place: int) -> None:
        """Make what calls there are, in one short wave after the other."""
        member, loop = self.story.members[number], asyncio.get_running_loop()
        while True:
            pacer = self.fleet.pacer(
                weight=member.weight,
                tenant=f"tenant-{number}",
                open_waves=member.waves,
                place=place,
            )
            jobs = iter(range(self.chance.randint(1, 40)))
            pacer.to_come = partial(length_hint, jobs)
            for _ in jobs:
                await self.fleet.ticket(pacer)
                self.calls[number].append(loop.time())


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """End the waves of a tenant that goes."""
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError):
            await task


def holds(story: Story) -> None:
    """Play a story: in each phase each tenant has its calls but for three rounds, few are lost.

    A phase begins where the tickets end that were open at the change.
    """
    for short, use in run(lambda: Street(story).play()):
        assert short <= 3
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
