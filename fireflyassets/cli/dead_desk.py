"""What the commands of ``fireflyassets dlq`` print and do, over any ports.

Belongs here: tables, JSON, progress. Does not: arguments (``dlq.py``), what may go
(``stages/replay.py``), what becomes of dead letters (``stages/letters.py``).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final

from fireflyassets.cli.terminal import stamp, table
from fireflyassets.core.errors import FactoryError
from fireflyassets.stages import snapshot
from fireflyassets.stages.letters import Letters
from fireflyassets.stages.replay import Choice, Dead, Replays, class_of, sums
from fireflyassets.stages.retries import Retries

_NONE: Final = "No such job is in dlq."
_SUMS: Final = ("class", "jobs", "oldest", "operations", "goes", "cause")
_JOBS: Final = ("job", "class", "campaign", "since", "replays", "operations", "state", "why")
_LETTERS: Final = ("letter", "kind", "customer", "found", "why")
_EVERY: Final = 25
"""Jobs between two words on how far a replay is."""


class NoSuchDeadJob(FactoryError):
    """A job that no ledger has."""

    remedy = "Look at `fireflyassets dlq list`."


@dataclass(frozen=True)
class DeadDesk:
    """What the commands do."""

    replays: Replays
    letters: Letters
    retries: Retries
    tell: Callable[[str], None] = print

    def show_all(self, choice: Choice, *, mended: bool, each: bool, as_json: bool) -> int:
        """Print the chosen jobs by class or one by one, and the letters that were put aside."""
        plan = self.replays.plan(choice, mended=mended)
        rows = [_job(one) for one in plan] if each or as_json else []
        letters = [
            {
                "letter": one.key,
                "kind": one.kind.value,
                "customer": one.customer or "",
                "found": stamp(one.found_at),
                "why": one.reason,
            }
            for one in self.letters.put_aside()
        ]
        if as_json:
            told = {"classes": _by_class(plan), "jobs": rows, "letters": letters}
            self.tell(json.dumps(told, indent=2))
            return 0
        self.print_plan(plan)
        if each:
            self.tell(f"\n{table(_JOBS, rows, nothing=_NONE)}")
        if letters:
            self.tell(f"\n{table(_LETTERS, letters, nothing=_NONE)}")
        return 0

    def show(self, job_id: str) -> int:
        """Print what is known of a job.

        Raises:
            NoSuchDeadJob: There is none.
        """
        ledger = self.replays.ledger
        row = ledger.job(job_id)
        if row is None:
            raise NoSuchDeadJob(f"There is no job {job_id}.")
        since = row.ended_at or row.updated_at
        history = ledger.history(job_id)
        self.tell(snapshot.of(row, history, self.retries.of(row, history), since=since).decode())
        return 0

    def print_plan(self, plan: list[Dead]) -> None:
        """Print the plan by class."""
        self.tell(table(_SUMS, _by_class(plan), nothing=_NONE))

    def go(self, plan: list[Dead], *, by: str, why: str, spread: timedelta) -> int:
        """Move what goes, and say how far it is; an interrupt takes back what has not begun."""
        total = sum(one.goes for one in plan)
        if not total:
            self.print_plan(plan)
            self.tell("Nothing goes now.")
            return 0
        moved, seen = 0, 0
        moves = self.replays.go(plan, by=by, why=why, spread=spread)
        abort = f"fireflyassets dlq abort {moves.record} --by NAME --why TEXT"
        self.tell(f"Take back what waits: {abort}")
        try:
            for one in moves:
                seen += 1
                moved += one.done
                if one.why:
                    self.tell(f"{one.job_id}: {one.why}")
                if seen % _EVERY == 0:
                    self.tell(f"{seen} of {total}")
        except KeyboardInterrupt:
            moves.close()  # It writes down what it has moved.
            told = self.replays.abort().of(moves.record, by=by, why="stopped")
            self.tell(f"Stopped after {moved} of {total} jobs. {told.sentence()}")
            return 130
        self.tell(f"{moved} of {total} jobs are queued again.")
        return 0

    def say_letters(self) -> None:
        """Print how many dead letters become jobs, at what price."""
        prices = [row.cost_estimate for _, row in self.letters.becoming()]
        cost = sum(prices, Decimal(0))
        self.tell(f"{len(prices)} dead letters become jobs, for {cost} operations at most.")

    def send_on(self, *, by: str, why: str) -> int:
        """Make jobs of the dead letters that intake takes by now."""
        sent = self.letters.send_all_on(by=by, why=why)
        self.tell(f"{len(sent)} dead letters became jobs.")
        return 0

    def drop(self, letters: Sequence[str], *, by: str, why: str) -> int:
        """Settle letters; what there is none of fails the command, and the others are settled."""
        dropped = self.letters.drop(letters, by=by, why=why)
        self.tell(f"{len(dropped)} dead letters are settled.")
        for unknown in sorted({*letters} - {*dropped}):
            self.tell(f"There is no letter {unknown}.")
        return 0 if {*letters} == {*dropped} else 1


def _by_class(plan: list[Dead]) -> list[dict[str, str]]:
    return [
        {
            "class": one.failure.value,
            "jobs": str(one.jobs),
            "oldest": stamp(one.oldest),
            "operations": str(one.price),
            "goes": str(one.goes),
            "cause": one.cause,
        }
        for one in sums(plan)
    ]


def _job(one: Dead) -> dict[str, str]:
    row = one.row
    return {
        "job": row.job_id,
        "class": class_of(row).value,
        "campaign": f"{row.customer_id}/{row.campaign_id}",
        "since": stamp(row.ended_at or row.updated_at),
        "replays": str(row.replays),
        "operations": str(one.price),
        "state": one.state.value,
        "why": one.why,
    }
