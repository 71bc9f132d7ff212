"""``fireflyassets legal-hold``: keep a job's files whatever their retention class, and let them go.

Belongs here: arguments in, lines out. Does not: what a hold does (``stages/holding.py``). The
wiring is loaded when a command runs.
"""

import argparse
from collections.abc import Callable

from fireflyassets.cli.terminal import columns, said
from fireflyassets.core import ids
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.stages.holding import Holding


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``legal-hold set``, ``legal-hold release`` and ``legal-hold show``."""
    group = subparsers.add_parser("legal-hold", help="keep a job's files, or let them go again")
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    for name, what in (
        ("set", "keep the files of a job until they are released"),
        ("release", "give the files back to their retention class"),
        ("show", "show what was asked for a job, by whom and why"),
    ):
        command = commands.add_parser(name, help=what)
        command.add_argument(
            "job", metavar="CUSTOMER/CAMPAIGN/JOB", help="as its files' keys begin"
        )
        if name != "show":
            for option, meaning in (("--by", "who asks"), ("--why", "the reason")):
                help_text = f"{meaning}; kept for good"
                command.add_argument(option, required=True, type=said, help=help_text)
        command.set_defaults(run=run, command=name)


def run(arguments: argparse.Namespace) -> int:
    """Do one command on this process's own bucket."""
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    address: str = arguments.job
    command: str = arguments.command
    holding = composition.holding(composition.factory())
    if command == "show":
        return show(holding, address)
    by: str = arguments.by
    why: str = arguments.why
    return move(holding, command, address, by=by, why=why)


def move(
    holding: Holding,
    command: str,
    address: str,
    *,
    by: str,
    why: str,
    tell: Callable[[str], None] = print,
) -> int:
    """Hold or release a job's files, and name them.

    Raises:
        UnusableArgument: *address* names no job.
    """
    act = holding.hold if command == "set" else holding.release
    keys = act(*_named(address), by=by, why=why)
    tell("\n".join([*keys, f"{len(keys)} files are {'held' if command == 'set' else 'released'}."]))
    return 0


def show(holding: Holding, address: str, *, tell: Callable[[str], None] = print) -> int:
    """Show all that was asked for a job."""
    customer, _, job_id = _named(address)
    records = holding.records(customer, job_id)
    lines = columns([[one.at, one.what, one.by, one.why] for one in records])
    tell("\n".join(lines) if records else "Nothing was ever asked for it.")
    return 0


def _named(address: str) -> tuple[str, str, str]:
    customer, _, rest = address.partition("/")
    campaign, _, job = rest.partition("/")
    slugs = ids.SLUG.fullmatch(customer) and ids.SLUG.fullmatch(campaign)
    if not slugs or not ids.KEY.fullmatch(job):
        raise UnusableArgument(f"{address!r} is no CUSTOMER/CAMPAIGN/JOB.")
    return customer, campaign, job
