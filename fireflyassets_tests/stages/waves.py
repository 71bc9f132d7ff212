"""Waves as the tests of forming and dispatch make them: batches, formed waves, crashed jobs.

Here: builders. Not here: promises.
"""

from dataclasses import replace
from datetime import timedelta

from fireflyassets.ports.entries import Wave
from fireflyassets.stages.forming import Batch, Lane, form, next_batches
from fireflyassets_tests.floor import Floor

LANE = Lane("acme-main", "acme")


def batches(here: Floor, *, waves: int = 2, size: int = 100) -> list[Batch]:
    """Return what would be formed next."""
    return next_batches(
        here.ledger, [LANE], waves_per_lane=waves, size=lambda _: size, now=here.clock.now()
    )


def formed(here: Floor, batch: Batch, wave_id: str) -> Wave | None:
    """Form a wave of a batch."""
    return form(here.ledger, batch, wave_id=wave_id, now=here.clock.now())


def crashed_rows(here: Floor, *counts: int) -> list[str]:
    """Record one job for each number of crashes, due in this order."""
    (model,) = here.order(1)
    template = here.row(model)
    here.ledger.claim(model, "acme", "elsewhere", now=here.clock.now())
    rows = [
        replace(
            template,
            job_id=f"{n:08d}-1111-5111-8111-111111111111",
            idempotency_key=f"crashed-{n}",
            crashes=count,
            created_at=template.created_at + timedelta(milliseconds=n),
        )
        for n, count in enumerate(counts)
    ]
    here.ledger.record(rows)
    return [row.job_id for row in rows]
