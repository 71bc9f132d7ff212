"""Waves as the tests of forming and dispatch make them: batches, formed waves, crashed jobs.

Here: builders. Not here: promises.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from fireflyassets.core.round_robin import Credits
from fireflyassets.ports.entries import Wave
from fireflyassets.stages.forming import Batch, Lane, form
from fireflyassets.stages.turns import Caps, Line, Turns
from fireflyassets_tests.floor import Floor

LANE = Lane("acme-main", "acme")
LINE = Line(LANE, "spring-launch", "ORG", jobs_per_minute=1_000)


def batches(here: Floor, *, waves: int = 2, size: int = 100) -> list[Batch]:
    """Return what would be formed next of the one line."""
    turn = turns(here, [LINE], waves=waves, size=size).next()
    return [turn[1]] if turn else []


def turns(
    here: Floor,
    lines: Sequence[Line],
    *,
    waves: int = 2,
    size: int = 100,
    per_credential: int = 100,
    remembered: Credits | None = None,
) -> Turns:
    """Return a tick's choice among lines."""
    caps = Caps(waves, per_credential, size, timedelta(minutes=10))
    return Turns(
        here.ledger, lines, caps=caps, remembered=remembered or Credits(), now=here.clock.now()
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
