"""A job as its own address tells it: with what its tries have come to.

Belongs here: what is told of one job and of no page of them. Does not: a job as everywhere
(``shapes.py``).
"""

from dataclasses import replace
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from fireflyassets.api.desk import Desk, history_of
from fireflyassets.api.shapes import Job, job
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import ENDED
from fireflyassets.ports.entries import History


class Retry(TypedDict):
    """What one layer has spent of the job's one budget of retries."""

    layer: Annotated[
        str, Field(description="A step, its aspect behind the dot; or crashes, or replays.")
    ]
    spent: int
    limit: Annotated[int | None, Field(description="Null: nobody knows it any more.")]


class ShownJob(Job):
    """A job by itself: with what its tries have come to."""

    retryBudget: Annotated[  # noqa: N815 - its name in JSON.
        list[Retry],
        Field(
            description="Tries of each step since the last replay, then crashes and replays. What "
            "Adobe answered with 429 counts no try."
        ),
    ]


def shown_job(at: Desk, row: JobRow) -> ShownJob:
    """Return a job by itself, with what its calls and tries have come to so far."""
    history = history_of(at, row)
    lines: list[Retry] = [
        {"layer": one.layer, "spent": one.spent, "limit": one.limit}
        for one in at.retries.of(row, history)
    ]
    return {**job(_costed(row, history), api_url=at.api_url), "retryBudget": lines}


def _costed(row: JobRow, history: History) -> JobRow:
    """Return a row with what its calls have cost so far; stored figures are those of its end."""
    if not history.attempts or (row.status in ENDED and not row.unsettled):
        return row
    cost = history.cost
    return replace(row, cost_actual=cost.certain, cost_possible=cost.possible)
