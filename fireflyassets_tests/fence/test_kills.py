"""Deaths at any moment, in virtual time: nothing is paid twice unseen and nothing is forgotten.

The engine's task is cancelled where it stands and its wave taken over, again and again; then the
jobs are run to their end. The vendor's own list is held against the ledger's rows.
"""

import asyncio
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.money import Cause
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import EndedBadly, NotAccepted
from fireflyassets.stages.dispatch import take_over
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor
from fireflyassets_tests.paid_services import Behaviour, Take

BEHAVIOURS: list[Behaviour] = [
    Take(),
    Take(),
    Take(seconds=9.0),
    Take(silent=True),
    Take(ending=EndedBadly(Fault(Family.FIREFLY, 200, "runtime_error"))),
    NotAccepted(Fault(Family.FIREFLY, 429, "rate_limited"), timedelta(seconds=1)),
    NotAccepted(Fault(Family.FIREFLY, 503, "model_not_loaded"), possible_cost=True),
]


async def die_and_go_on(here: Floor, jobs: list[str], lives: list[float]) -> None:
    """Let one wave after the other live for so many seconds, then run what is left."""
    for life in lives:
        left = [job for job in jobs if here.row(job).status is Status.QUEUED]
        for wave in here.begin(left).waves:
            engine = asyncio.ensure_future(here.engine(wave).run())
            await here.clock.sleep(timedelta(seconds=life))
            engine.cancel()
            await asyncio.gather(engine, return_exceptions=True)
            take_over(here.ledger, wave, now=here.clock.now())
            await here.clock.sleep(timedelta(minutes=76))
    for _ in range(3):
        left = [job for job in jobs if here.row(job).status is Status.QUEUED]
        await here.work(left)
        await here.clock.sleep(timedelta(minutes=76))


@settings(max_examples=60, deadline=None)
@given(
    lives=st.lists(st.floats(0, 20), min_size=1, max_size=4),
    images=st.lists(st.sampled_from(BEHAVIOURS), max_size=6),
    documents=st.lists(st.sampled_from(BEHAVIOURS[:4]), max_size=6),
)
def test_no_death_makes_a_second_payment(
    lives: list[float], images: list[Behaviour], documents: list[Behaviour]
) -> None:
    """Whenever the process dies, a step is bound once, and every billed call has a named row."""

    async def scenario() -> None:
        here = floor()
        jobs = here.order(3)
        here.images.vendor.script.extend(images)
        here.documents.vendor.script.extend(documents)

        await die_and_go_on(here, jobs, lives)

        books_agree(here)
        for job in jobs:
            history = here.ledger.history(job)
            bound = [
                row for row in history.operations if row.cause in {Cause.FIRST_TRY, Cause.RETRY}
            ]
            assert len({row.step for row in bound}) == len(bound)
            assert here.row(job).status is not Status.RUNNING

    run(scenario)
