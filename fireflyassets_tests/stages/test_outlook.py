"""The look ahead: what it counts, what it keeps, and what it takes where nobody answers."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.failure import Family
from fireflyassets.core.finish import project
from fireflyassets.core.priority import LEAD, Priority
from fireflyassets.core.round_robin import Credits
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.port import Granted, item_key
from fireflyassets.stages.forming import Lane
from fireflyassets.stages.outlook import each_call
from fireflyassets.stages.turns import Caps, Line, Turns
from fireflyassets.stages.waiting import FRESH, wanted_of
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    NOON,
    CountedBacklog,
    FixedCatalogue,
    FrontDoor,
    asked,
    config,
    front_door,
    outlook,
)

ITEM = item_key("ORG", Family.FIREFLY)
MINUTE = timedelta(minutes=1)


def order(door: FrontDoor, count: int, customer: str = CUSTOMER) -> None:
    """Let *count* jobs come in."""
    rows = [asked(key=f"job-{n}") for n in range(count)]
    door.intake.accept(rows, customer=customer, campaign=CAMPAIGN)


def test_it_counts_own_jobs_before_and_others_beside() -> None:
    """By the calls that jobs of their campaigns make: one picture, three composites."""
    door = front_door()
    order(door, 6)
    order(door, 4, customer="bolt")
    campaign = door.intake.catalogue.campaign(CUSTOMER, CAMPAIGN)

    met = outlook(door).traffic(campaign)
    own = outlook(door).traffic_of(campaign)

    assert met.ahead == {Family.FIREFLY: 6, Family.PHOTOSHOP: 18}
    assert own.ahead == {}
    (beside,) = met.beside
    assert beside.calls == {Family.FIREFLY: 4, Family.PHOTOSHOP: 12}
    assert own.beside == met.beside


def test_what_waits_is_counted_once_in_a_while() -> None:
    """A thousand askers read the ledger once; what was recorded here since is added."""
    door = front_door()
    order(door, 2)
    backlog = CountedBacklog(door.ledger)
    look = outlook(door, backlog=backlog)
    campaign = door.intake.catalogue.campaign(CUSTOMER, CAMPAIGN)

    for _ in range(1000):
        look.traffic(campaign)
    look.waiting.note(campaign.config, 5)

    assert backlog.looks == 1
    assert look.traffic(campaign).ahead[Family.FIREFLY] == 7
    door.clock.jump(FRESH)
    assert look.traffic(campaign).ahead[Family.FIREFLY] == 2
    assert backlog.looks == 2


@pytest.mark.parametrize(
    ("mine", "waited", "ahead"),
    [
        (Priority.HIGH, timedelta(0), 0),
        (Priority.HIGH, timedelta(minutes=55), 0),
        (Priority.HIGH, timedelta(minutes=61), 5),
        (Priority.NORMAL, timedelta(0), 5),
        (Priority.LOW, timedelta(0), 5),
    ],
)
def test_new_work_stands_behind_what_is_wanted_before_it(
    mine: Priority, waited: timedelta, ahead: int
) -> None:
    """Five normal jobs of the tenant's other campaign: high passes them until they are old."""
    urgent = config(campaign="urgent", priority=mine)
    door = front_door(FixedCatalogue(config(), urgent))
    order(door, 5)
    door.clock.jump(waited)

    met = outlook(door).traffic(door.intake.catalogue.campaign(CUSTOMER, "urgent"))

    assert met.ahead.get(Family.FIREFLY, 0) == ahead


def test_a_near_deadline_of_another_campaign_puts_its_jobs_ahead() -> None:
    """Low as it is, it goes before high where its deadline is less than four hours away."""
    late = config(priority=Priority.LOW, deadline=NOON + LEAD - MINUTE)
    urgent = config(campaign="urgent", priority=Priority.HIGH)
    door = front_door(FixedCatalogue(late, urgent))
    order(door, 5)
    campaign = door.intake.catalogue.campaign(CUSTOMER, "urgent")

    assert outlook(door).traffic(campaign).ahead[Family.FIREFLY] == 5


def test_jobs_of_a_campaign_that_left_are_in_nobody_s_way() -> None:
    """Dispatch passes them, and so does the look ahead."""
    door = front_door(FixedCatalogue(config(), config(campaign="gone")))
    rows = [asked(key=f"gone-{n}") for n in range(5)]
    door.intake.accept(rows, customer=CUSTOMER, campaign="gone")
    look = replace(outlook(door), catalogue=FixedCatalogue(config()))

    ahead = look.traffic(look.catalogue.campaign(CUSTOMER, CAMPAIGN)).ahead

    assert not any(ahead.values())


@given(
    st.permutations(list(Priority)),
    st.lists(st.integers(0, 700), min_size=3, max_size=3),
    st.lists(st.sampled_from([None, 60, 300, 900]), min_size=3, max_size=3),
)
@settings(max_examples=25, deadline=None)
def test_it_stands_behind_those_that_dispatch_takes_before_it(
    priorities: list[Priority], ages: list[int], deadlines: list[int | None]
) -> None:
    """Played out by dispatch's own choice: each campaign's jobs ahead are those that went first."""
    names = ("one", "two", "three")
    now = NOON + 700 * MINUTE

    def configured(name: str, priority: Priority, deadline: int | None) -> CampaignConfig:
        by = None if deadline is None else now + deadline * MINUTE
        return config(campaign=name, priority=priority, deadline=by)

    configs = list(map(configured, names, priorities, deadlines))
    door = front_door(FixedCatalogue(*configs))
    for name, age in sorted(zip(names, ages, strict=True), key=lambda one: -one[1]):
        door.clock.jump(now - age * MINUTE - door.clock.now())
        rows = [asked(key=f"{name}-{n}") for n in range(4)]
        door.intake.accept(rows, customer=CUSTOMER, campaign=name)
    door.clock.jump(now - door.clock.now())
    look = outlook(door)
    told = {
        one.campaign: look.traffic_of(door.intake.catalogue.campaign(CUSTOMER, one.campaign))
        for one in configs
    }

    order_ = dispatched(door, configs)

    wanted = Counter(wanted_by_name(configs, ages, now).values())
    if max(wanted.values()) == 1:  # Equals may go either way.
        ahead = {name: round(one.ahead.get(Family.FIREFLY, 0)) for name, one in told.items()}
        assert ahead == {name: 4 * place for place, name in enumerate(order_)}


def wanted_by_name(
    configs: list[CampaignConfig], ages: list[int], now: datetime
) -> dict[str, datetime]:
    """Return by when each campaign's jobs are wanted, to the minute."""
    return {
        one.campaign: wanted_of(one, now - age * MINUTE)
        for one, age in zip(configs, ages, strict=True)
    }


def dispatched(door: FrontDoor, configs: list[CampaignConfig]) -> list[str]:
    """Return the campaigns in the order in which one tick forms their waves."""
    lines = [
        Line(
            Lane(one.credential, one.customer),
            one.campaign,
            "ORG",
            jobs_per_minute=100,
            priority=one.priority,
            deadline=one.deadline,
        )
        for one in configs
    ]
    caps = Caps(per_lane=9, per_credential=9, jobs=100, horizon=10 * MINUTE)
    tick = Turns(door.ledger, lines, caps=caps, remembered=Credits(), now=door.clock.now())
    found: list[str] = []
    while turn := tick.next():
        tick.passed(turn[0])
        found.append(turn[0].campaign)
    return found


def test_the_limiter_knows_better_than_the_contract() -> None:
    """A day that is half used up and a pause are seen; an unknown item goes by the contract."""
    door = front_door()
    look = outlook(door)
    campaign = door.intake.catalogue.campaign(CUSTOMER, CAMPAIGN)
    before = look.traffic(campaign)
    limits = Limits(per_minute=60, source="a test", as_of=door.clock.now().date(), per_day=100)
    look.limiter.register(ITEM, limits)
    assert isinstance(look.limiter.reserve(ITEM, 10), Granted)
    look.limiter.pause(ITEM, timedelta(minutes=10))
    door.clock.jump(FRESH)

    after = look.traffic(campaign).paces[Family.FIREFLY]

    assert before.paces[Family.FIREFLY].full_per_minute == pytest.approx(3.2)
    assert after.full_per_minute == pytest.approx(48)
    assert after.per_minute < 48
    assert (after.per_day, after.used_today) == (100, 10)
    assert after.blocked_until is not None
    done = project(each_call(campaign), look.traffic(campaign))
    assert done.p50 > after.blocked_until
