"""An item in people's terms.

Here: what `Limiter.state` answers, from a stored state. Not here: the words on a screen.
"""

from datetime import date

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter import protocol, rates
from fireflyassets.limiter.arithmetic import State, instant
from fireflyassets.limiter.port import ItemState, Override


def shown(item: str, stored: State, now: int) -> ItemState:
    """Return *stored* as the next reservation will find it."""
    rise = rates.plan_raise(stored, now)
    state = stored if rise is None else protocol.apply(stored, rise) or stored
    first = max(state.next_number, state.first_live(now))
    counted_today = state.day >= now // law.DAY_US
    return ItemState(
        item=item,
        rate_per_minute=per_minute(state.interval),
        nominal_per_minute=per_minute(state.nominal),
        reason=state.reason,
        since=instant(state.since),
        source=state.source,
        as_of=date.fromordinal(state.as_of),
        override=override_of(state),
        used_today=state.day_count if counted_today else 0,
        refused_today=state.refused if counted_today else 0,
        day_limit=state.day_limit or None,
        next_ticket=first,
        next_due_at=instant(state.due_at(first)),
        outstanding=max(0, state.next_number - state.first_live(now)),
        opened_at=instant(state.opened) if state.opened else None,
        blocked_until=instant(state.blocked) if state.blocked > now else None,
    )


def per_minute(interval: int) -> float:
    """Return an interval as calls per minute."""
    return 60 * law.SECOND_US / interval


def override_of(state: State) -> Override | None:
    """Return the override that is stored, over or not; None if there is none."""
    return stored_override(state) if state.over_until else None


def standing_override(state: State, now: int) -> Override | None:
    """Return the override that is in force; None if there is none, or its time is over."""
    return stored_override(state) if state.is_overridden(now) else None


def stored_override(state: State) -> Override:
    """Return the override of a state that has one."""
    return Override(
        rate_per_minute=per_minute(state.over_interval),
        since=instant(state.over_since),
        until=instant(state.over_until),
        by=state.over_by,
        why=state.over_why,
    )
