"""One run through a paid step: its sends so far, and how long it bears with the service.

Belongs here: what is counted and when it is too much. Does not: sending (``protocol.py``).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import errors
from fireflyassets.ports.entries import Attempt

THROTTLES_BEFORE_PARK: Final = 10
ERRORS_BEFORE_PARK: Final = 3
ERROR_PARK: Final = timedelta(minutes=10)
OUTLASTED_BEFORE_PARK: Final = 5
SLOW_PARK: Final = timedelta(minutes=1)
THROTTLE_PARK: Final = timedelta(minutes=2)
UNPACED_PARK: Final = timedelta(minutes=1)


class Unpaced(errors.JobDelayed):
    """The shared limiter can't say when to call, so nothing was sent."""

    remedy = "Look at the limiter's store; the job goes on by itself as soon as it answers."


class LedgerSlow(errors.JobDelayed):
    """Writing down a send takes longer than its ticket can wait, so nothing was sent."""

    remedy = "Look at the ledger's tables and at what loads them; the job goes on by itself."


@dataclass(slots=True)
class StepRun:
    """The sends of a step as they are known now, and what was forgiven in this run."""

    attempts: list[Attempt]
    throttles: int = 0
    outages: int = 0
    outlasted: int = 0
    """Tickets that grew too old while the row of their send was written."""
    refreshed: bool = False

    def put(self, changed: Attempt) -> None:
        """Replace what is known of a send."""
        self.attempts = [*(one for one in self.attempts if one.n != changed.n), changed]

    def decided(self, *, by: str, generation: int) -> int:
        """Return how many of the sends somebody has decided on."""
        return sum(
            one.generation == generation and one.decision is not None and one.decision.by == by
            for one in self.attempts
        )

    def check(self, step: str, *, now: datetime) -> None:
        """Make sure that one more call is worth it.

        Raises:
            Throttled, ServiceUnavailable, LedgerSlow: It is not, for a while.
        """
        if self.throttles >= THROTTLES_BEFORE_PARK:
            raise errors.Throttled(
                f"Step {step} met {self.throttles} refusals in a row.", until=now + THROTTLE_PARK
            )
        if self.outages >= ERRORS_BEFORE_PARK:
            raise errors.ServiceUnavailable(
                f"Step {step}: {self.outages} calls met errors of the service.",
                until=now + ERROR_PARK,
            )
        if self.outlasted >= OUTLASTED_BEFORE_PARK:
            raise LedgerSlow(
                f"Step {step}: {self.outlasted} tickets grew too old while the ledger wrote.",
                until=now + SLOW_PARK,
            )
