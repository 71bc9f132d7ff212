"""What every backlog tells of the ledger it looks at, whatever keeps it."""

from collections import Counter
from datetime import timedelta

import pytest

from fireflyassets.adapters.aws.backlog import DynamoBacklog
from fireflyassets.adapters.memory.backlog import MemoryBacklog
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.job import Hold
from fireflyassets.core.status import Status
from fireflyassets.core.sums import Sums
from fireflyassets.ports.backlog import Backlog, Line
from fireflyassets.ports.entries import Release
from fireflyassets_tests.contracts import ledgers, stores
from fireflyassets_tests.contracts.ledgers import ACME, CREDENTIAL, NOON, SPRING, World, ending


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.stack)])
def watched(request: pytest.FixtureRequest) -> tuple[World, Backlog]:
    """Return an empty ledger and the backlog that looks at it."""
    if request.param == "memory":
        world = ledgers.memory_world()
        assert isinstance(world.ledger, MemoryLedger)
        return world, MemoryBacklog(world.ledger)
    client, prefix = request.getfixturevalue("dynamodb"), stores.unique("backlog")
    return ledgers.dynamo_world(client, prefix), DynamoBacklog(client, prefix=prefix)


def test_an_empty_ledger_has_no_backlog(watched: tuple[World, Backlog]) -> None:
    _, backlog = watched

    assert backlog.lines() == {}
    assert backlog.dead() == 0


def test_a_line_counts_what_waits_and_tells_what_is_due_first(
    watched: tuple[World, Backlog],
) -> None:
    """Jobs at work, held or ended are in no line; a parked one is, due when it says."""
    world, backlog = watched
    later = NOON + timedelta(minutes=5)
    parked, held = world.running("parked"), world.running("held")
    world.running("at-work")
    world.ended(Status.SUCCEEDED, "done")
    world.ledger.release(parked, Release("later", not_before=later), now=NOON)
    world.ledger.release(held, Release("look", hold=Hold("look", NOON, "factory")), now=NOON)
    assert backlog.lines() == {(CREDENTIAL, ACME, SPRING): Line(later, Counter({later: 1}))}

    world.queued("fresh")
    world.queued("other", credential="other")
    world.queued("summer", campaign_id="summer")
    alone = Line(NOON, Counter({NOON: 1}))
    assert backlog.lines() == {
        (CREDENTIAL, ACME, SPRING): Line(NOON, Counter({NOON: 1, later: 1})),
        ("other", ACME, SPRING): alone,
        (CREDENTIAL, ACME, "summer"): alone,
    }


def test_jobs_in_dlq_are_counted_until_they_leave_it(watched: tuple[World, Backlog]) -> None:
    """A replay and a cancel take a job out of the count; other ends never were in it."""
    world, backlog = watched
    for key in ("one", "two", "three"):
        world.ended(Status.DLQ, key)
    for status in (Status.REVIEW, Status.FAILED, Status.SUCCEEDED):
        world.ended(status, status.value)
    assert backlog.dead() == 3

    one, two = (world.ledger.job(ledgers.job(key).job_id) for key in ("one", "two"))
    assert one is not None
    assert two is not None
    assert world.ledger.reclaim(one.job_id, ACME, "w-2", now=NOON) is not None
    assert world.ledger.close(two, ending(Status.CANCELLED))
    assert backlog.dead() == 1


def test_a_campaign_is_counted_and_added_up(watched: tuple[World, Backlog]) -> None:
    """Exactly what its rows say, and of no other campaign."""
    world, backlog = watched
    later = NOON + timedelta(minutes=5)
    parked, held = world.running("parked"), world.running("held")
    world.running("at-work")
    world.queued("fresh")
    world.queued("elsewhere", campaign_id="summer")
    world.ended(Status.SUCCEEDED, "done")
    world.ended(Status.DLQ, "dead")
    world.ledger.release(parked, Release("later", not_before=later), now=NOON)
    world.ledger.release(held, Release("look", hold=Hold("look", NOON, "factory")), now=NOON)

    sums = backlog.campaign(ACME, SPRING)

    rows = world.ledger.campaign_jobs(ACME, SPRING)
    assert sums.by_status == Counter(row.status for row in rows)
    assert (sums.jobs, sums.open, sums.going, sums.held) == (6, 4, 3, 1)
    assert sums.due_at == later
    assert sums.estimate == sum(row.cost_estimate for row in rows)
    assert sums.certain == sum(row.cost_actual or 0 for row in rows)
    assert sums.possible == sum(row.cost_possible or 0 for row in rows)
    assert sums.certain > 0
    assert backlog.campaign(ACME, "winter") == Sums()
