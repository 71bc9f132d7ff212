"""``fireflyassets dlq``: what ended by a fault that may pass, and running it again.

Belongs here: commands and their arguments. Does not: what is printed and done (``dead_desk.py``),
what may go (``stages/replay.py``). The wiring is loaded when a command runs.
"""

import argparse
import sys
from datetime import UTC, datetime, timedelta

from fireflyassets.cli.dead_desk import DeadDesk
from fireflyassets.cli.limits import duration
from fireflyassets.cli.terminal import said
from fireflyassets.core.failure import FailureClass
from fireflyassets.stages.replay import Choice


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
        type=a_class,
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


def a_class(text: str) -> FailureClass:
    """Return the class of that name.

    Raises:
        ArgumentTypeError: There is none.
    """
    if text not in set(FailureClass):
        said_so = f"there is no class {text!r}; the classes are {', '.join(FailureClass)}"
        raise argparse.ArgumentTypeError(said_so)
    return FailureClass(text)


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


def desk() -> DeadDesk:
    """Return the desk over this process's own ports."""
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    made = composition.factory()
    return DeadDesk(composition.replays(made), composition.letters(made), composition.retries(made))
