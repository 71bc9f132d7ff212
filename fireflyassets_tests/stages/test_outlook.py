"""The look ahead: what it counts, what it keeps, and what it takes where nobody answers."""

from datetime import timedelta

import pytest

from fireflyassets.core.failure import Family
from fireflyassets.core.finish import project
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.port import Granted, item_key
from fireflyassets.stages.outlook import FRESH, each_call
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    CountedBacklog,
    FrontDoor,
    asked,
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
    own = outlook(door).traffic(campaign, own=4)

    assert met.ahead == {Family.FIREFLY: 6, Family.PHOTOSHOP: 18}
    assert own.ahead == {Family.FIREFLY: pytest.approx(2), Family.PHOTOSHOP: pytest.approx(6)}
    (beside,) = met.beside
    assert beside.calls == {Family.FIREFLY: 4, Family.PHOTOSHOP: 12}


def test_what_waits_is_counted_once_in_a_while() -> None:
    """A thousand askers read the ledger once; what was recorded here since is added."""
    door = front_door()
    order(door, 2)
    backlog = CountedBacklog(door.ledger)
    look = outlook(door, backlog=backlog)
    campaign = door.intake.catalogue.campaign(CUSTOMER, CAMPAIGN)

    for _ in range(1000):
        look.traffic(campaign)
    look.note(campaign, 5)

    assert backlog.looks == 1
    assert look.waiting(("acme-main", CUSTOMER)) == 7
    door.clock.jump(FRESH)
    assert look.waiting(("acme-main", CUSTOMER)) == 2
    assert backlog.looks == 2


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
