"""What a job has spent of its budget of retries, over real waves."""

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import EndedBadly, NotAccepted
from fireflyassets.stages.retries import Retries, sentence
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.paid_services import Take

BAD = Take(ending=EndedBadly(Fault(Family.FIREFLY, 200, "runtime_error")))
FAST = NotAccepted(Fault(Family.FIREFLY, 429, "rate_limited"))


def told(here: Floor, job: str) -> str:
    """Return a job's budget in words."""
    row = here.row(job)
    return sentence(Retries(here.shop.pins, 3).of(row, here.ledger.history(job)))


def test_one_budget_counts_the_tries_of_all_waves() -> None:
    """What one wave has spent the next one has not; answers that we go too fast are free."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        assert told(here, job) == "crashes 0 of 6; replays 0 of 3"
        here.images.vendor.script.extend([BAD, BAD, *[FAST] * 10, *[BAD] * 9])

        assert turns(await here.work([job])) == ["parked"]
        assert told(here, job).startswith("art 2 of 5; crashes 0")

        assert turns(await here.work([job])) == ["failed"]
        assert here.row(job).status is Status.DLQ
        assert told(here, job).startswith("art 5 of 5; crashes 0")
        assert here.images.vendor.sent == 15

    run(scenario)


def test_a_replay_begins_the_tries_anew() -> None:
    """And is counted itself."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.extend([BAD] * 5)
        await here.work([job])
        (dead,) = here.ledger.dead()
        now = here.clock.now()
        assert here.ledger.replay(dead, due_at=now, said="Replayed.", now=now) is True
        assert told(here, job).startswith("art 0 of 5")

        await here.work([job])

        assert here.row(job).status is Status.SUCCEEDED
        assert told(here, job).startswith("art 1 of 5; layout.32x18 1 of 5;")
        assert told(here, job).endswith("crashes 0 of 6; replays 1 of 3")

    run(scenario)
