"""The table of ``fireflyassets limits``: each item's pace, why, who waits, and what does not count.

Belongs here: what people read. Does not: the commands (``limits``), the law of the limiter.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.adapters.limit_files import DOCUMENTED
from fireflyassets.cli.terminal import columns
from fireflyassets.core.failure import Family
from fireflyassets.limiter.arithmetic import SECOND_US, paced_interval
from fireflyassets.limiter.errors import UnknownItem
from fireflyassets.limiter.limits import MINUTE
from fireflyassets.limiter.port import (
    ItemState,
    Limiter,
    Override,
    PaceReason,
    ParkReason,
    item_key,
)
from fireflyassets.ports.ledger import JobLedger

MOST_WAITING: Final = 500
"""Jobs counted for each customer and credential; a longer queue shows as more than that."""
PARKED: Final = timedelta(days=400)
"""Jobs that are due within this are waiting; none is parked for longer."""
HEADER: Final = ("ITEM", "RATE", "USED TODAY", "429s", "NEXT", "FREE", "SINCE", "WHY")


@dataclass(frozen=True, slots=True)
class Desk:
    """The ports that the commands look into."""

    catalogue: FileCatalogue
    ledger: JobLedger
    limiter: Limiter


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
    yield from columns([HEADER, *(_row(desk, *item, states[item], now) for item in items)])
    yield from _notes(states.values(), now)
    for bad in desk.catalogue.quarantined():
        if bad.path.startswith("limits/"):
            yield f"{bad.path} is put aside and sets no pace: {bad.reason}"
    waiting = list(_waiting(desk, now))
    if waiting:
        yield ""
        yield from columns([("WAITING", "CREDENTIAL", "DUE", "PARKED", "IN WAVES"), *waiting])
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
        "tomorrow" if state.is_day_used_up else _wait(state.next_due_at - now),
        f"{free_in_a_minute(state, now):,}",
        _at(state.since, now),
        ParkReason.DAY_QUOTA if state.is_day_used_up else _why(state),
    )


def _why(state: ItemState) -> str:
    if state.override is None or state.reason is not PaceReason.OVERRIDDEN:
        return state.reason
    return f"set by {state.override.by}: {state.override.why}"


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
        if state is not None and state.opened_at is not None:
            yield (
                f"{state.item}: the breaker is open since {_at(state.opened_at, now)}, as the "
                f"service asked for long, or refused us; one call tries it after the pause."
            )
        if state is not None and state.override is not None:
            yield f"{state.item}: {override_sentence(state.override, now)}."


def override_sentence(made: Override, now: datetime) -> str:
    """Say what an operator set: how much, until when, who and why."""
    return (
        f"{made.rate_per_minute:.4g} calls a minute until {_at(made.until, now)}, set by "
        f"{made.by} at {_at(made.since, now)}: {made.why}"
    )


def _waiting(desk: Desk, now: datetime) -> Iterator[tuple[str, ...]]:
    lines, in_waves = desk.ledger.lines(), Counter[tuple[str, str]]()
    for wave in desk.ledger.open_waves():
        in_waves[wave.credential, wave.customer] += len(wave.jobs)
    for credential in desk.catalogue.credentials():
        for customer in sorted(credential.customers):
            rows = [
                row
                for line in sorted(lines)
                if line[:2] == (credential.name, customer)
                for row in desk.ledger.due(*line, now=now + PARKED, most=MOST_WAITING + 1)
            ]
            later = sum(row.not_before is not None and row.not_before > now for row in rows)
            taken = in_waves[credential.name, customer]
            if rows or taken:
                due = f"{len(rows) - later}{'+' if len(rows) > MOST_WAITING else ''}"
                yield (customer, credential.name, due, str(later), str(taken))


def _wait(until: timedelta) -> str:
    if until <= timedelta(0):
        return "now"
    if until < MINUTE:
        return f"in {until / timedelta(seconds=1):.3g} s"
    return f"in {until // MINUTE} min"


def _at(instant: datetime, now: datetime) -> str:
    return f"{instant:%H:%M:%S}" if instant.date() == now.date() else f"{instant:%Y-%m-%d %H:%M}"
