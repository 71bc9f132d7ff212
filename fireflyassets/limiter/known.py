"""What one process knows of each item.

Here: the newest state seen, how old it is, and the fire rule applied to it. Not here: asking the
store (`conditional`, `redis`).
"""

from dataclasses import dataclass
from threading import Lock

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter import firing
from fireflyassets.limiter.arithmetic import State, instant
from fireflyassets.limiter.port import Due, Stale, Ticket, Voided, Waiting


@dataclass(frozen=True, slots=True)
class Known:
    """A state and the time before it was asked for."""

    state: State
    at: int


class KnownStates:
    """The newest state of each item that this process has seen; safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[str, Known] = {}

    def get(self, item: str) -> Known | None:
        """Return what is known of *item*."""
        with self._lock:
            return self._known.get(item)

    def learn(self, item: str, state: State, *, at: int, before: Known | None) -> None:
        """Remember *state*, unless an answer that overtook it was newer.

        *at* is when it was asked for, *before* what was known then. A store that answers with an
        older state than was known before the question has been emptied: then its word counts.
        """
        emptied = before is not None and state.sequence < before.state.sequence
        with self._lock:
            known = self._known.get(item)
            if known is None or emptied or known.state.sequence <= state.sequence:
                if known is not None and known.at - at <= law.STALE_US:
                    at = max(at, known.at)  # Else the clock was set back: then the old time lies.
                self._known[item] = Known(state, at)

    def forget(self, item: str) -> None:
        """Drop *item*, because it is no longer stored."""
        with self._lock:
            self._known.pop(item, None)

    def check(self, ticket: Ticket, now: int) -> Due | Waiting | Voided | Stale:
        """Apply the fire rule to *ticket*."""
        known = self.get(ticket.item)
        if known is None:
            return Stale()
        match firing.judge(known.state, known_at=known.at, number=ticket.number, now=now):
            case firing.Fires(due_at):
                return Due(Ticket(ticket.item, ticket.number, instant(due_at)))
            case firing.Waits(due_at, look_at, reason):
                moved = Ticket(ticket.item, ticket.number, instant(due_at))
                return Waiting(moved, instant(look_at), reason)
            case firing.Void():
                return Voided(ticket)
            case firing.TooOld():
                return Stale()
