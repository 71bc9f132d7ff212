"""What a wave counts of its jobs.

Belongs here: which turn, step and time counts for which metric. Does not: the metrics
(``core/metric.py``), decisions: nothing in here changes what becomes of a job.
"""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from fireflyassets.core import errors, metric
from fireflyassets.core.job import JobRow
from fireflyassets.core.photoshop_step import Step
from fireflyassets.core.recipe_step import GenerateStep
from fireflyassets.core.status import Status
from fireflyassets.core.tally import Tally
from fireflyassets.wave.reports import Ended, Turn

BROKEN: Final = frozenset({Status.FAILED, Status.DLQ, Status.REVIEW})


def turn_begun(tally: Tally, row: JobRow) -> None:
    """Count the estimate of a job, once: with its first claim."""
    if row.epoch == 1:
        estimate = float(row.cost_estimate)
        tally.add(metric.FORECAST, estimate, customer=row.customer_id, campaign=row.campaign_id)


def turn_ended(tally: Tally, row: JobRow, ended: Ended, *, now: datetime) -> None:
    """Count a turn's end; where it is the job's, how long that took from its intake on."""
    customer = row.customer_id
    if ended.turn not in {Turn.SUCCEEDED, Turn.FAILED}:
        tally.add(metric.RELEASED, customer=customer, turn=ended.turn.value)
        return
    tally.add(metric.ENDED, customer=customer, status=ended.status.value)
    if ended.status in BROKEN:
        tally.add(metric.BROKEN, customer=customer)
    took = now - row.created_at
    tally.observe(metric.END_TO_END, took.total_seconds(), customer=customer)


@contextmanager
def step(tally: Tally, done: Step) -> Generator[None]:
    """Count how one step of a job ends: its own fault, or only later."""
    model = done.custom_model if isinstance(done, GenerateStep) else None
    outcome = "delayed"
    try:
        yield
        outcome = "done"
    except errors.JobFailed:
        outcome = "failed"
        raise
    finally:
        tally.add(metric.STEPS, step=done.name, outcome=outcome, model=model or "-")
