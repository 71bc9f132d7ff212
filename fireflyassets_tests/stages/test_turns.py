"""Turns: whose wave is formed next, in virtual time over a ledger in memory."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.core.money import Cost
from fireflyassets.core.priority import LEAD, Priority
from fireflyassets.core.round_robin import Credits
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Claim, Ending, Wave
from fireflyassets.stages.forming import Lane
from fireflyassets.stages.turns import Line, Turns
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue, config
from fireflyassets_tests.stages.waves import formed, turns

RATE = 40.0
"""Jobs a minute of the one organisation."""


def place(*tenants: str, campaigns: Iterable[str] = ("spring-launch",)) -> Floor:
    """Return a floor where each tenant has the same campaigns."""
    return floor(
        catalogue=FixedCatalogue(
            *(
                config(
                    customer=tenant,
                    campaign=campaign,
                    aspects=ASPECTS,
                    templates=dict.fromkeys(ASPECTS, "t.psd"),
                    recipe=recipe(),
                )
                for tenant in tenants
                for campaign in campaigns
            )
        )
    )


def line(tenant: str, campaign: str = "spring-launch", **said: object) -> Line:
    """Return a tenant's line under the one credential."""
    made = Line(Lane("acme-main", tenant), campaign, "ORG", jobs_per_minute=RATE)
    return replace(made, **said)


def take(here: Floor, tick: Turns, number: int) -> tuple[Line, Wave] | None:
    """Form the next wave."""
    if (turn := tick.next()) is None:
        return None
    wave = formed(here, turn[1], f"w-{number}")
    assert wave is not None
    tick.took(turn[0], len(wave.jobs))
    return turn[0], wave


def filled(
    here: Floor, lines: list[Line], *, waves: int = 2, size: int = 100, per_credential: int = 100
) -> list[tuple[str, str, int]]:
    """Form all that one tick may; return (tenant, campaign, jobs) in order."""
    tick = turns(here, lines, waves=waves, size=size, per_credential=per_credential)
    found: list[tuple[str, str, int]] = []
    while taken := take(here, tick, len(found)):
        found.append((taken[0].lane.customer, taken[0].campaign, len(taken[1].jobs)))
    return found


def end(here: Floor, wave: Wave) -> None:
    """Work off a wave at once."""
    now = here.clock.now()
    for job in wave.jobs:
        claim = Claim.standing(here.row(job))
        here.ledger.finish(claim, Ending(Status.SUCCEEDED, None, (), Cost(), now, None))
    here.ledger.end(wave.wave_id)


def test_every_tenant_has_its_first_wave_before_any_has_a_second() -> None:
    """The heavy one has thousands queued and came first; the warm wave is the last to be formed."""

    async def scenario() -> None:
        here = place("a-heavy", "bolt", "cove")
        here.order(60, customer="a-heavy")
        for tenant in ("bolt", "cove"):
            here.order(3, customer=tenant)

        formed_ = filled(here, [line("a-heavy"), line("bolt"), line("cove")], size=20)

        assert [tenant for tenant, _, _ in formed_] == ["a-heavy", "bolt", "cove", "a-heavy"]

    run(scenario)


def test_a_wave_is_no_larger_than_its_tenant_s_share() -> None:
    """Ten minutes of the rate, shared by weight with those who want some now; all of it alone."""

    async def scenario() -> None:
        here = place("acme", "bolt")
        here.order(500, customer="acme")
        alone = turns(here, [line("acme"), line("bolt")], size=500).next()
        here.order(1, customer="bolt")
        beside = turns(here, [line("acme", weight=1), line("bolt", weight=3)], size=500).next()

        assert alone is not None
        assert beside is not None
        assert [len(alone[1].rows), len(beside[1].rows)] == [400, 100]

    run(scenario)


def test_caps_of_tenant_and_credential_and_what_the_rate_can_use() -> None:
    """Two of a tenant; so many under a credential; as many as begin a job in four minutes."""

    async def scenario() -> None:
        names = [f"tenant-{n}" for n in range(6)]
        here = place(*names)
        for name in names:
            here.order(9, customer=name)
        lines = [line(name) for name in names]
        slow = [replace(one, jobs_per_minute=0.8) for one in lines]

        assert len(filled(place_with(names), lines, size=2)) == 12
        assert len(filled(place_with(names), lines, size=2, per_credential=5)) == 5
        assert len(filled(place_with(names), slow, size=2)) == 3

    run(scenario)


def place_with(names: list[str]) -> Floor:
    """Return a floor where each tenant has nine jobs."""
    here = place(*names)
    for name in names:
        here.order(9, customer=name)
    return here


def test_high_goes_before_normal_before_low_and_a_deadline_before_all() -> None:
    """Within one tenant; the lowest with four hours to go overtakes the rest."""

    async def scenario() -> None:
        campaigns = ("low", "normal", "high", "late")
        here = place("acme", campaigns=campaigns)
        for campaign in campaigns:
            here.order(1, campaign=campaign, prefix=campaign)
        deadline = here.clock.now() + LEAD - timedelta(minutes=1)
        lines = [
            line("acme", "low", priority=Priority.LOW),
            line("acme", "normal"),
            line("acme", "high", priority=Priority.HIGH),
            line("acme", "late", priority=Priority.LOW, deadline=deadline),
        ]

        order = [campaign for _, campaign, _ in filled(here, lines, waves=4)]

        assert order == ["late", "high", "normal", "low"]

    run(scenario)


def test_low_priority_does_not_wait_for_ever() -> None:
    """Eight hours on it goes before work of high priority that has just come in."""

    async def scenario() -> None:
        here = place("acme", campaigns=("low", "high"))
        here.order(1, campaign="low", prefix="low")
        await here.clock.sleep(timedelta(hours=8, minutes=1))
        here.order(1, campaign="high", prefix="high")
        lines = [
            line("acme", "high", priority=Priority.HIGH),
            line("acme", "low", priority=Priority.LOW),
        ]

        turn = turns(here, lines).next()

        assert turn is not None
        assert turn[0].campaign == "low"

    run(scenario)


def test_jobs_of_a_campaign_that_left_stand_before_nobody() -> None:
    """1,500 of them are older; the customer's others are formed by the very same tick."""

    async def scenario() -> None:
        here = place("acme", campaigns=("gone", "spring-launch"))
        here.order(1_500, campaign="gone", prefix="gone")
        await here.clock.sleep(timedelta(minutes=1))
        here.order(3)

        assert filled(here, [line("acme")]) == [("acme", "spring-launch", 3)]

    run(scenario)


def test_a_line_that_was_passed_over_keeps_nobody_back() -> None:
    """The tenant's other campaign has the turn instead, and no turn is charged for the first."""

    async def scenario() -> None:
        here = place("acme", campaigns=("busy", "spring-launch"))
        here.order(1, campaign="busy", prefix="busy")
        here.order(1)
        tick = turns(here, [line("acme", "busy", priority=Priority.HIGH), line("acme")])
        first = tick.next()
        assert first is not None
        tick.passed(first[0])

        second = tick.next()

        assert (first[0].campaign, second and second[0].campaign) == ("busy", "spring-launch")
        assert tick.credits.of("acme-main#acme") == 0

    run(scenario)


@settings(max_examples=10, deadline=None)
@given(
    weights=st.lists(st.integers(1, 3), min_size=2, max_size=4),
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=5),
)
def test_scarce_places_are_shared_by_weight(weights: list[int], sizes: list[int]) -> None:
    """One place: who always wants it has it by weight, tick after tick, however waves vary."""

    async def scenario() -> None:
        names = [f"tenant-{n}" for n in range(len(weights))]
        here = place(*names)
        for name in names:
            here.order(40, customer=name)
        lines = [line(name, weight=weight) for name, weight in zip(names, weights, strict=True)]
        got = served(here, lines, sizes=sizes)
        shares = {name: got[name] / weight for name, weight in zip(names, weights, strict=True)}
        assert max(shares.values()) - min(shares.values()) <= 2 * max(sizes)

    run(scenario)


def served(here: Floor, lines: list[Line], *, sizes: list[int]) -> Mapping[str, int]:
    """Let ticks form one wave each, which is worked off at once; stop before any has none left."""
    got, credits_, number = Counter[str](), Credits(), 0
    while max(got.values(), default=0) < 30:
        tick = turns(here, lines, size=sizes[number % len(sizes)], remembered=credits_)
        number += 1
        taken = take(here, tick, number)
        assert taken is not None
        got[taken[0].lane.customer] += len(taken[1].jobs)
        end(here, taken[1])
        credits_ = tick.credits
    return got
