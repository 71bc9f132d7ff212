"""``fireflyassets dlq``: what ended by a fault that may pass, and running it again.

Belongs here: arguments in, tables and JSON out. Does not: what may go (``stages/replay.py``), what
becomes of dead letters (``stages/letters.py``). The wiring is loaded when a command runs.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from fireflyassets.cli.limits import duration
from fireflyassets.cli.terminal import said, stamp, table
from fireflyassets.core.errors import FactoryError
from fireflyassets.core.failure import FailureClass
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


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``dlq list``, ``show``, ``replay``, ``abort`` and ``drop``."""
    group = subparsers.add_parser("dlq", help="see what can be run again, at what price; do it")
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="list jobs in dlq by class, and dead letters")
    listing.add_argument("--jobs", action="store_true", help="a line for each job")
    listing.add_argument("--json", action="store_true", help="print JSON instead of a table")
    listing.set_defaults(run=run_list)
    show = commands.add_parser("show", help="show what is known of a job, without its texts")
    show.add_argument("job", metavar="JOB")
    show.set_defaults(run=run_show)
    replay = commands.add_parser("replay", help="say what would go, at what price; --go does it")
    for command in (listing, replay):
        _add_choice(command)
    replay.add_argument(
        "--spread", type=duration, default=timedelta(0), metavar="TIME", help="due over so long: 2h"
    )
    replay.add_argument("--most", type=int, metavar="N", help="so many jobs at most")
    replay.add_argument(
        "--letters", action="store_true", help="no jobs, but dead letters that intake takes by now"
    )
    replay.add_argument("--go", action="store_true", help="do it; without it nothing moves")
    replay.add_argument("--by", type=said, metavar="NAME", help="who; kept for good")
    replay.add_argument("--why", type=said, metavar="TEXT", help="the reason; kept for good")
    replay.set_defaults(run=run_replay)
    abort = commands.add_parser("abort", help="take back what a replay moved and no wave has begun")
    abort.add_argument("record", metavar="RECORD", help="as `dlq replay` names it")
    abort.set_defaults(run=run_abort)
    drop = commands.add_parser("drop", help="settle dead letters that become no job, for good")
    drop.add_argument("letters", nargs="+", metavar="LETTER", help="as `dlq list` names it")
    drop.set_defaults(run=run_drop)
    for command in (abort, drop):
        command.add_argument("--by", type=said, required=True, help="who; kept for good")
        command.add_argument("--why", type=said, required=True, help="the reason; kept for good")


def _add_choice(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--class",
        dest="failures",
        action="append",
        type=FailureClass,
        choices=list(FailureClass),
        metavar="CLASS",
        help="as `fireflyassets failures` names it; may be given again",
    )
    command.add_argument("--campaign", metavar="CUSTOMER/CAMPAIGN")
    command.add_argument("--credential", metavar="NAME")
    command.add_argument("--since", type=a_time, metavar="TIME", help="failed at or after, in UTC")
    command.add_argument("--until", type=a_time, metavar="TIME", help="failed at or before, in UTC")
    command.add_argument(
        "--mended", action="store_true", help="the cause is gone: no probe, no waiting"
    )


def a_time(text: str) -> datetime:
    """Return the time that *text* names, in UTC where it does not say.

    Raises:
        ArgumentTypeError: It names none.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        said_so = f"{text!r} is no time: write it as 2026-11-30T18:00"
        raise argparse.ArgumentTypeError(said_so) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def chosen(arguments: argparse.Namespace) -> Choice:
    """Return which jobs are meant."""
    failures: list[FailureClass] = arguments.failures or []
    return Choice(
        frozenset(failures),
        campaign=arguments.campaign,
        credential=arguments.credential,
        since=arguments.since,
        until=arguments.until,
    )


def run_list(arguments: argparse.Namespace) -> int:
    """List what this process's ledger has in ``dlq``."""
    mended: bool = arguments.mended
    as_json: bool = arguments.json
    each: bool = arguments.jobs
    return desk().show_all(chosen(arguments), mended=mended, each=each, as_json=as_json)


def run_show(arguments: argparse.Namespace) -> int:
    """Show a job of this process's ledger."""
    job: str = arguments.job
    return desk().show(job)


def run_replay(arguments: argparse.Namespace) -> int:
    """Say what would be run again, or do it."""
    at = desk()
    mended: bool = arguments.mended
    most: int | None = arguments.most
    by: str | None = arguments.by
    why: str | None = arguments.why
    letters: bool = arguments.letters
    go: bool = arguments.go
    if go and (by is None or why is None):
        print("Say who you are and why: --by NAME --why TEXT.", file=sys.stderr)
        return 2
    spread: timedelta = arguments.spread
    plan = [] if letters else at.replays.plan(chosen(arguments), mended=mended, most=most)
    if not go or by is None or why is None:
        at.say_letters() if letters else at.print_plan(plan)
        at.tell("Nothing was moved. --go --by NAME --why TEXT does it.")
        return 0
    return at.send_on(by=by, why=why) if letters else at.go(plan, by=by, why=why, spread=spread)


def run_abort(arguments: argparse.Namespace) -> int:
    """Take back what still waits of a replay."""
    at, record = desk(), str(arguments.record)
    at.tell(at.replays.abort().of(record, by=arguments.by, why=arguments.why).sentence())
    return 0


def run_drop(arguments: argparse.Namespace) -> int:
    """Settle letters of this process's bucket."""
    return desk().drop(arguments.letters, by=arguments.by, why=arguments.why)


def desk() -> "DeadDesk":
    """Return the desk over this process's own ports."""
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    made = composition.factory()
    return DeadDesk(composition.replays(made), composition.letters(made), composition.retries(made))


@dataclass(frozen=True)
class DeadDesk:
    """What the commands do, over any ports."""

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
        """Print how many dead letters might become jobs."""
        may = sum(self.letters.may_go_on(one) for one in self.letters.put_aside())
        self.tell(f"{may} dead letters become jobs if intake takes them by now.")

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
