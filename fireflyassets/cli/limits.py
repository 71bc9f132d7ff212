"""``fireflyassets limits``: how fast each organisation is paced now, why, and who waits for it.

Belongs here: the table, watching it, and an operator's override. Does not: the law of the limiter
(``fireflyassets.limiter``); wiring, which is imported when a command runs and not before.
"""

import argparse
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.adapters.limit_files import DOCUMENTED
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import Family
from fireflyassets.limiter.arithmetic import SECOND_US, paced_interval
from fireflyassets.limiter.errors import LimiterError, UnknownItem
from fireflyassets.limiter.port import MINUTE, ItemState, Limiter, Override, item_key
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.settings import Settings

WATCH_SECONDS: Final = 5.0
MOST_WAITING: Final = 500
"""Jobs counted for each customer and credential; a longer queue shows as more than that."""
PARKED: Final = timedelta(days=400)
"""Jobs that are due within this are waiting; none is parked for longer."""
ROUGHLY: Final = timedelta(seconds=5)
"""How far off the store's time may be here: nothing is sent, so one answer's stamp will do."""
UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
CLEAR_SCREEN: Final = "\x1b[H\x1b[2J"
HEADER: Final = ("ITEM", "RATE", "USED TODAY", "429s", "NEXT", "FREE", "SINCE", "WHY")


@dataclass(frozen=True, slots=True)
class Desk:
    """The ports that the commands look into."""

    catalogue: FileCatalogue
    ledger: JobLedger
    limiter: Limiter


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``limits``, ``limits override`` and ``limits clear``."""
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
    override.set_defaults(run=run_override)
    clear = commands.add_parser("clear", help="end an override before its time")
    clear.add_argument("item", help="organisation#family, as the table names it")
    clear.set_defaults(run=run_clear)
    for command in (override, clear):
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
    made = desk.limiter.override(
        item, arguments.rate, duration=arguments.duration, by=arguments.by, why=arguments.why
    )
    yield f"{item}: {_override(made, desk.limiter.now())}."


def clear(desk: Desk, arguments: argparse.Namespace) -> Iterator[str]:
    """End an override, and say which."""
    item: str = arguments.item
    _known_item(desk, item)
    ended = desk.limiter.clear_override(item, by=arguments.by)
    if ended is None:
        yield f"{item}: there is no override."
    else:
        yield f"{item}: ended, {_override(ended, desk.limiter.now())}."


def _known_item(desk: Desk, item: str) -> tuple[str, Family]:
    """Return the organisation and family of an item of the project.

    Raises:
        UnusableConfiguration: No credential's organisation has such an item.
    """
    known = {
        item_key(organisation, family): (organisation, family)
        for organisation in organisations(desk.catalogue)
        for family in DOCUMENTED
    }
    if item not in known:
        raise UnusableConfiguration(f"There is no item {item!r}; there are {', '.join(known)}.")
    return known[item]


# -- the table ------------------------------------------------------------------------------
def organisations(catalogue: FileCatalogue) -> dict[str, list[str]]:
    """Return organisation -> the names of its credentials."""
    found: dict[str, list[str]] = {}
    for credential in catalogue.credentials():
        found.setdefault(credential.organisation, []).append(credential.name)
    return found


def lines(desk: Desk) -> Iterator[str]:
    """Yield the table: each item, what an operator set, who waits, and what credentials share."""
    found = organisations(desk.catalogue)
    items = [(organisation, family) for organisation in found for family in DOCUMENTED]
    states = {item: _state(desk, *item) for item in items}
    now = desk.limiter.now()
    yield from _columns([HEADER, *(_row(desk, *item, states[item], now) for item in items)])
    yield from _notes(states.values(), now)
    waiting = list(_waiting(desk, now))
    if waiting:
        yield ""
        yield from _columns([("WAITING", "CREDENTIAL", "DUE", "PARKED"), *waiting])
    for organisation, names in found.items():
        if len(names) > 1:
            yield ""
            yield (
                f"{organisation}: {', '.join(names)} share its rate. Limits are the "
                f"organisation's; a further credential adds none."
            )
    yield f"\nRATE and FREE are calls a minute. Times are UTC; it is {_at(now, now)}."


def _state(desk: Desk, organisation: str, family: Family) -> ItemState | None:
    try:
        return desk.limiter.state(item_key(organisation, family))
    except UnknownItem:
        return None


def _row(
    desk: Desk, organisation: str, family: Family, state: ItemState | None, now: datetime
) -> tuple[str, ...]:
    name = item_key(organisation, family)
    if state is None:
        limits = desk.catalogue.limits_for(organisation, family)
        nominal = 60 * SECOND_US / paced_interval(limits)
        return (name, f"- of {nominal:.4g}", "-", "-", "-", "-", "-", "not used yet")
    used = f"{state.used_today:,}"
    return (
        name,
        f"{state.rate_per_minute:.4g} of {state.nominal_per_minute:.4g}",
        used if state.day_limit is None else f"{used} of {state.day_limit:,}",
        f"{state.refused_today:,}",
        _wait(state.next_due_at - now),
        f"{free_in_a_minute(state, now):,}",
        _at(state.since, now),
        state.reason,
    )


def free_in_a_minute(state: ItemState, now: datetime) -> int:
    """Return how many more calls could be sent within a minute: the headroom there is."""
    interval = MINUTE / state.rate_per_minute
    left = MINUTE - max(timedelta(0), state.next_due_at - now)
    free = 0 if left <= timedelta(0) else -(-left // interval)
    room = free if state.day_limit is None else state.day_limit - state.used_today
    return max(0, min(free, room))


def _notes(states: Iterable[ItemState | None], now: datetime) -> Iterator[str]:
    for state in states:
        if state is not None:
            yield f"Limits of {state.item} are of {state.as_of}: {state.source}."
        if state is not None and state.blocked_until is not None:
            yield f"{state.item}: paused by the service until {_at(state.blocked_until, now)}."
        if state is not None and state.override is not None:
            yield f"{state.item}: {_override(state.override, now)}."


def _override(made: Override, now: datetime) -> str:
    return (
        f"{made.rate_per_minute:.4g} calls a minute until {_at(made.until, now)}, set by "
        f"{made.by} at {_at(made.since, now)}: {made.why}"
    )


def _waiting(desk: Desk, now: datetime) -> Iterator[tuple[str, ...]]:
    for credential in desk.catalogue.credentials():
        for customer in sorted(credential.customers):
            rows = desk.ledger.due(
                credential.name, customer, now=now + PARKED, most=MOST_WAITING + 1
            )
            later = sum(row.not_before is not None and row.not_before > now for row in rows)
            if rows:
                more = "+" if len(rows) > MOST_WAITING else ""
                yield (customer, credential.name, f"{len(rows) - later}{more}", str(later))


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _wait(until: timedelta) -> str:
    if until <= timedelta(0):
        return "now"
    if until < MINUTE:
        return f"in {until / timedelta(seconds=1):.3g} s"
    return f"in {until // MINUTE} min"


def _at(instant: datetime, now: datetime) -> str:
    return f"{instant:%H:%M:%S}" if instant.date() == now.date() else f"{instant:%Y-%m-%d %H:%M}"
