"""Retries: what a job has spent of its one budget, over all layers, and what its limits are.

In: a row, its sends, the recipe it was priced by. Out: one line for each layer. Spends: nothing.

There is no second budget: what sends is held to these limits by ``fence/standing.py`` (tries),
``core/crashes.py`` and ``stages/replay.py``, whichever wave, process or replay it is.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fireflyassets.core.crashes import POISON_FROM
from fireflyassets.core.errors import UnknownCampaign
from fireflyassets.core.job import JobRow
from fireflyassets.core.recipe import Recipe
from fireflyassets.ports.entries import History
from fireflyassets.stages.pinning import Pins

CRASHES: Final = "crashes"
REPLAYS: Final = "replays"


@dataclass(frozen=True, slots=True)
class Spent:
    """One layer: the tries of a step, or what becomes of the job as a whole."""

    layer: str
    """Stored name of a step, `CRASHES` or `REPLAYS`."""
    spent: int
    limit: int | None
    """None where whoever tells does not know it."""

    def sentence(self) -> str:
        """Return the layer in words."""
        return f"{self.layer} {self.spent}" + ("" if self.limit is None else f" of {self.limit}")


@dataclass(frozen=True, slots=True)
class Retries:
    """The use case; *limit* is of replays."""

    pins: Pins
    limit: int

    def of(self, row: JobRow, history: History) -> tuple[Spent, ...]:
        """Return what a job has spent: steps in order of their first send, then the job's own."""
        try:
            recipe = self.pins.campaign(row).config.recipe
        except UnknownCampaign:
            recipe = None
        return spent(row, history, recipe, replays=self.limit)


def spent(
    row: JobRow, history: History, recipe: Recipe | None, *, replays: int | None = None
) -> tuple[Spent, ...]:
    """Return the budget's lines. A replay begins the tries of a step anew, a crash does not.

    What a 429, a stale token or our own outage answered is sent again and counts no try.
    """
    limits = {step.name: step.retry for step in recipe.steps} if recipe else {}
    tries = Counter[str]()
    for one in sorted(history.attempts, key=lambda send: send.submitted_at):
        if one.generation == row.generation:
            tries[one.step] += one.counts and one.replay == row.replays
    return (
        *(Spent(step, n, limits.get(step.partition(".")[0])) for step, n in tries.items()),
        Spent(CRASHES, row.crashes, POISON_FROM),
        Spent(REPLAYS, row.replays, replays),
    )


def sentence(lines: Sequence[Spent]) -> str:
    """Return the whole budget in one line."""
    return "; ".join(one.sentence() for one in lines)
