"""Runs that a person executes again: they tell what is done, and pay for nothing."""

from dataclasses import replace
from datetime import timedelta

import dagster as dg

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.defs import names
from fireflyassets.ports.entries import Claim, Release
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.wave.beginning import NOT_AGAIN
from fireflyassets_tests.defs.location import DELIVERIES, Location, location

RECOVERABLE = NotAccepted(Fault(Family.FIREFLY, 401, "401013"))


def parked(there: Location, request: dg.RunRequest, job: str) -> None:
    """Give back one job of a wave that is about to run."""
    here = there.here
    claim = Claim(job, "acme", request.tags[names.WAVE_TAG], here.row(job).epoch)
    later = Release("parked", not_before=here.clock.now() + timedelta(hours=1))
    here.ledger.release(claim, later, now=here.clock.now())


def test_a_run_that_is_executed_again_touches_its_own_jobs_alone() -> None:
    """Its range of partitions has others in between by now: they are not its to run, or to pay."""
    with location() as there:
        here = there.here
        here.order(2)
        (request,) = there.dispatch()
        late = request.tags[names.RANGE_END_TAG]
        parked(there, request, late)
        first = there.run(request)
        others = here.order(3, prefix="other")
        here.images.vendor.script.extend([RECOVERABLE] * 6)
        there.run(*there.dispatch())
        here.ledger._rows[late] = replace(here.row(late), not_before=here.clock.now())
        there.run(*there.dispatch())
        between = there.instance.get_dynamic_partitions("jobs_acme_spring-launch")
        assert between.index(late) > max(map(between.index, others))
        sent, told = here.images.vendor.sent, len(there.told(DELIVERIES, late))

        assert there.again(first) == []

        assert here.images.vendor.sent == sent
        assert [here.row(job).replays for job in others] == [0, 0, 0]
        assert len(there.told(DELIVERIES, late)) == told + 1


def test_a_run_that_is_executed_again_says_why_it_pays_for_nothing() -> None:
    """A job of it that could be run is named, and how to run it."""
    with location() as there:
        here = there.here
        (job,) = here.order(1)
        here.images.vendor.script.extend([RECOVERABLE] * 2)
        first = there.run(*there.dispatch())
        assert here.row(job).status is Status.DLQ
        sent = here.images.vendor.sent

        assert there.again(first) == [NOT_AGAIN]

        assert here.images.vendor.sent == sent
        assert here.row(job).status is Status.DLQ


def test_a_run_by_hand_that_is_executed_again_claims_nothing() -> None:
    """It has no wave to name its jobs: what its partitions hold by now is told, and no more."""
    with location() as there:
        here = there.here
        (done,) = here.order(1)
        there.run(*there.dispatch())
        first = there.by_hand([done])
        here.order(1, prefix="other")
        sent, told = here.images.vendor.sent, len(there.told(DELIVERIES, done))

        assert there.again(first) == []

        assert here.images.vendor.sent == sent
        assert len(there.told(DELIVERIES, done)) == told + 1


def test_a_run_that_never_began_is_not_begun_by_executing_it_again() -> None:
    """Who executes again pays for nothing, whatever run it was; the sweep asks for it anew."""
    with location() as there:
        here = there.here
        (job,) = here.order(1)
        (request,) = there.dispatch()
        start = here.ledger.start
        here.ledger.start = lambda *_args, **_kwargs: None
        first = there.run(request)
        here.ledger.start = start

        (why,) = there.again(first)

        assert why == f"wave {request.tags[names.WAVE_TAG]} works on it"
        assert here.images.vendor.sent == 0
        there.run(request)
        assert here.row(job).status is Status.SUCCEEDED
