"""The bill between its bounds, whatever dies and whatever the vendor does, in virtual time."""

import asyncio
from datetime import timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.fence.accounts import Part, accounts
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Attempt, AttemptState
from fireflyassets.ports.paid import EndedBadly, Gone, NotAccepted, OutcomeLost
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.sweeping import Sweep
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, FixedCatalogue, config
from fireflyassets_tests.paid_services import Behaviour, Take

ONE = Decimal(1)
BEHAVIOURS: list[Behaviour] = [
    Take(),
    Take(seconds=9.0),
    Take(seconds=400.0),
    Take(silent=True),
    OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer")),
    Take(ending=EndedBadly(Fault(Family.FIREFLY, 200, "runtime_error"))),
    Take(ending=Gone()),
    NotAccepted(Fault(Family.FIREFLY, 429, "rate_limited"), timedelta(seconds=1)),
    NotAccepted(Fault(Family.FIREFLY, 503, "model_not_loaded"), possible_cost=True),
]


def price(row: JobRow, attempt: Attempt) -> Decimal:
    """Return one for every call: then operations count calls."""
    del row, attempt
    return ONE


async def live_and_die(here: Floor, jobs: list[str], lives: list[float]) -> None:
    """Let waves live for so many seconds, sweep after each death, and go on to the end."""
    for life in [*lives, 3600.0, 3600.0]:
        left = [job for job in jobs if here.row(job).status is Status.QUEUED]
        for wave in here.begin(left).waves:
            engine = asyncio.ensure_future(here.engine(wave).run())
            await asyncio.wait({engine}, timeout=life)
            engine.cancel()
            await asyncio.gather(engine, return_exceptions=True)
            take_over(here.ledger, wave, now=here.clock.now())
            await here.clock.sleep(timedelta(minutes=3))
            await Sweep(here.shop).run(after=None, most=100)
        await here.clock.sleep(timedelta(minutes=76))
    await Sweep(here.shop).run(after=None, most=100)


@settings(max_examples=60, deadline=None)
@given(
    lives=st.lists(st.floats(0, 20), max_size=3),
    images=st.lists(st.sampled_from(BEHAVIOURS), max_size=6),
    documents=st.lists(st.sampled_from(BEHAVIOURS), max_size=6),
    resubmits=st.integers(0, 1),
)
def test_what_is_billed_lies_between_the_bounds(
    lives: list[float], images: list[Behaviour], documents: list[Behaviour], resubmits: int
) -> None:
    """The vendor's own count is never below what is certain, nor above what is possible."""

    async def scenario() -> None:
        templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
        said = config(
            aspects=ASPECTS, templates=templates, recipe=recipe(), resubmit_unknown=resubmits
        )
        here = floor(catalogue=FixedCatalogue(said))
        jobs = here.order(2)
        here.images.vendor.script.extend(images)
        here.documents.vendor.script.extend(documents)

        await live_and_die(here, jobs, lives)

        rows = here.ledger.campaign_jobs(CUSTOMER, CAMPAIGN)
        found = accounts([(row, here.ledger.history(row.job_id)) for row in rows], price)
        entries = [entry for account in found for entry in account.entries]
        billed = len(here.images.vendor.billed) + len(here.documents.vendor.billed)
        books_agree(here)
        certain = sum(one.part in {Part.BOUND, Part.ORPHANED} for one in entries)
        assert certain <= billed <= len(entries)
        named = {one.vendor_id for one in entries if one.vendor_id}
        silent = [
            one
            for one in (*here.images.vendor.billed, *here.documents.vendor.billed)
            if one not in named
        ]
        nameless = [one for one in entries if one.vendor_id is None]
        assert len(silent) <= len(nameless)
        # Whatever has an id and a job that waits is collected by now, not in flight.
        open_ids = [
            one
            for row in rows
            for one in here.ledger.history(row.job_id).attempts
            if one.state is AttemptState.ACCEPTED
            and (one.step, one.generation) not in here.ledger.history(row.job_id).steps
        ]
        assert open_ids == []

    run(scenario)
