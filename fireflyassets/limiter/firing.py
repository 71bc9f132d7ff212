"""The fire rule, pure: may a ticket be used now?

Here: one judgement from a state and its age. Not here: waiting for the next look (`pacer`).
"""

from dataclasses import dataclass

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.port import ParkReason


@dataclass(frozen=True, slots=True)
class Fires:
    """The ticket is due now; *due_at* is its due time by the law of today."""

    due_at: int


@dataclass(frozen=True, slots=True)
class Waits:
    """The ticket is due at *due_at*; look again at *look_at*; *reason* is for one far ahead."""

    due_at: int
    look_at: int
    reason: ParkReason


@dataclass(frozen=True, slots=True)
class Void:
    """The ticket was passed over by a rebase, or it is late."""


@dataclass(frozen=True, slots=True)
class TooOld:
    """The known state is too old to decide."""


def judge(state: State, *, known_at: int, number: int, now: int) -> Fires | Waits | Void | TooOld:
    """Apply the fire rule to ticket *number*, from a *state* learnt at *known_at*."""
    if number < state.base_number or (state.opened and number > state.base_number):
        return Void()
    if state.has_ended_override(now):
        return TooOld()  # The refresh ends it, and tickets may come nearer.
    due_at = state.due_at(number)
    ahead = due_at - now
    # Within the lead the answer must still be fresh when the ticket fires.
    decided_at = max(now, due_at) if ahead <= law.LEAD_US else now
    if decided_at - known_at > law.STALE_US or now < known_at:
        return TooOld()
    if ahead < -law.LATE_US:
        return Void()
    if ahead <= 0:
        return Fires(due_at)
    look_at = min(due_at - law.LEAD_US, known_at + law.LOOK_US) if ahead > law.LEAD_US else due_at
    if ahead > law.LEAD_US and state.interval > state.nominal:
        # A low rate may rise and move the ticket towards us: it leaves a state's life to notice.
        look_at = min(look_at, known_at + law.STALE_US + 1)
    if state.is_overridden(now):
        look_at = min(look_at, state.over_until)
    return Waits(due_at, look_at, state.far_reason(now))
