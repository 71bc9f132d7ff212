"""``fireflyassets limits``: how fast each organisation is paced now, why, and who waits for it.

Belongs here: watching, and what an operator may change. Does not: the table (``limits_table``), the
law of the limiter (``fireflyassets.limiter``); wiring, which is imported when a command runs.
"""

import argparse
import re
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from fireflyassets.adapters.limit_files import DOCUMENTED
from fireflyassets.cli.limits_table import Desk, lines, organisations, override_sentence
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.core.failure import Family
from fireflyassets.limiter.errors import LimiterError
from fireflyassets.limiter.port import item_key
from fireflyassets.settings import Settings

WATCH_SECONDS: Final = 5.0
ROUGHLY: Final = timedelta(seconds=5)
"""How far off the store's time may be here: nothing is sent, so one answer's stamp will do."""
UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
CLEAR_SCREEN: Final = "\x1b[H\x1b[2J"


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``limits`` and its commands ``override``, ``clear`` and ``reset``."""
    group = subparsers.add_parser("limits", help="show how fast calls are paced, and change it")
    group.add_argument(
        "--watch",
        nargs="?",
        type=float,
        const=WATCH_SECONDS,
        metavar="SECONDS",
        help="show it again and again until Ctrl-C (default: every %(const)s s)",
    )
    group.set_defaults(run=run_show)
    commands = group.add_subparsers(metavar="COMMAND")
    override = commands.add_parser("override", help="set an item's rate by hand for a time")
    override.add_argument("item", help="organisation#family, as the table names it")
    override.add_argument(
        "--rate", type=float, required=True, help="calls a minute, up to the contract's"
    )
    override.add_argument(
        "--for",
        dest="duration",
        type=duration,
        required=True,
        metavar="TIME",
        help="how long: 90s, 30m, 2h, 1d; a week at most",
    )
    override.add_argument("--why", required=True, help="the reason, in one line")
    override.add_argument(
        "--replace", action="store_true", help="replace one of somebody else that is in force"
    )
    override.set_defaults(run=run_override)
    clear = commands.add_parser("clear", help="end an override before its time")
    clear.add_argument("item", help="organisation#family, as the table names it")
    clear.set_defaults(run=run_clear)
    reset = commands.add_parser("reset", help="let an item begin anew after a clock ran ahead")
    reset.add_argument("item", help="organisation#family, as the table names it")
    reset.add_argument("--why", required=True, help="the reason, in one line")
    reset.set_defaults(run=run_reset)
    for command in (override, clear, reset):
        command.add_argument("--by", required=True, help="your name, for the log")


def duration(text: str) -> timedelta:
    """Return a time such as ``30m``.

    Raises:
        ArgumentTypeError: It is none.
    """
    found = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 90s, 30m, 2h or 1d")
    return timedelta(**{UNITS[found[2]]: int(found[1])})


# -- commands -------------------------------------------------------------------------------
def run_show(arguments: argparse.Namespace) -> int:
    """Print the table once, or until Ctrl-C whatever happens meanwhile."""
    desk = _desk()
    period: float | None = arguments.watch
    if period is None:
        _print(lines(desk))
        return 0
    try:
        while True:
            if sys.stdout.isatty():
                print(CLEAR_SCREEN, end="")
            try:
                _print(lines(desk))
            except LimiterError as error:
                print(error, file=sys.stderr)
            threading.Event().wait(period)
    except KeyboardInterrupt:
        return 0


def run_override(arguments: argparse.Namespace) -> int:
    """Set a rate by hand."""
    _print(override(_desk(), arguments))
    return 0


def run_clear(arguments: argparse.Namespace) -> int:
    """End an override."""
    _print(clear(_desk(), arguments))
    return 0


def run_reset(arguments: argparse.Namespace) -> int:
    """Let an item begin anew."""
    _print(reset(_desk(), arguments))
    return 0


def _desk() -> Desk:
    from fireflyassets import composition  # noqa: PLC0415 - AWS clients take a second to import.

    settings = Settings()
    rough = settings.model_copy(update={"clock_bound": max(ROUGHLY, settings.clock_bound)})
    factory = composition.build(rough)
    return Desk(factory.catalogue.now(), factory.ledger, factory.limiter)


def _print(text: Iterator[str]) -> None:
    print("\n".join(text), flush=True)


def override(desk: Desk, arguments: argparse.Namespace) -> Iterator[str]:
    """Set the rate that the arguments ask for, and say what holds now."""
    item: str = arguments.item
    organisation, family = _known_item(desk, item)
    desk.limiter.register(item, desk.catalogue.limits_for(organisation, family))
    answer = desk.limiter.override(
        item,
        arguments.rate,
        duration=arguments.duration,
        by=arguments.by,
        why=arguments.why,
        replace=arguments.replace,
    )
    now = desk.limiter.now()
    yield f"{item}: {override_sentence(answer.made, now)}."
    if answer.replaced is not None:
        yield f"{item}: replaced, {override_sentence(answer.replaced, now)}."


def clear(desk: Desk, arguments: argparse.Namespace) -> Iterator[str]:
    """End an override, and say which."""
    item: str = arguments.item
    _known_item(desk, item)
    ended = desk.limiter.clear_override(item, by=arguments.by)
    if ended is None:
        yield f"{item}: there is no override."
    else:
        yield f"{item}: ended, {override_sentence(ended, desk.limiter.now())}."


def reset(desk: Desk, arguments: argparse.Namespace) -> Iterator[str]:
    """Let an item begin anew, and say what is gone with that."""
    item: str = arguments.item
    _known_item(desk, item)
    desk.limiter.reset(item, by=arguments.by, why=arguments.why)
    yield f"{item}: begun anew. Tickets that were out are void; the day's count is as it was."


def _known_item(desk: Desk, item: str) -> tuple[str, Family]:
    """Return the organisation and family of an item of the project.

    Raises:
        UnusableArgument: No credential's organisation has such an item.
    """
    known = {
        item_key(organisation, family): (organisation, family)
        for organisation in organisations(desk.catalogue)
        for family in DOCUMENTED
    }
    if item not in known:
        raise UnusableArgument(f"There is no item {item!r}; there are {', '.join(known)}.")
    return known[item]
