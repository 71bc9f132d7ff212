"""What the fence tells the shared limiter beside tickets: who is not believed, who is refused.

Belongs here: which refusals are the organisation's, and from when on the breaker opens.
Does not: the limiter's own state (``fireflyassets.limiter``), sending.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from fireflyassets.core.cause import HeldBy
from fireflyassets.core.errors import Throttled
from fireflyassets.core.failure import MODEL_FIELD, FailureClass, Fault
from fireflyassets.limiter.arithmetic import MAX_PAUSE_US
from fireflyassets.limiter.port import Parked, ParkReason

LONGEST_PAUSE: Final = timedelta(microseconds=MAX_PAUSE_US)
"""Who asks for more is not believed: the breaker opens, and one call tries it after this."""
_BREAKS: Final = frozenset({FailureClass.ENTITLEMENT, FailureClass.QUOTA})
_SERVED: Final = frozenset(
    {
        FailureClass.INVALID_REQUEST,
        FailureClass.UNSAFE_CONTENT,
        FailureClass.STALE_REFERENCE,
        FailureClass.MODEL_RETIRED,
        FailureClass.MODEL_NOT_READY,
    }
)
_OF_THE_REQUEST: Final = range(400, 500)
BREAK: Final = 4 * LONGEST_PAUSE
"""Told to the limiter as what the service asks for, so that its breaker opens."""


_HELD_BY: Final[Mapping[ParkReason, HeldBy]] = {
    ParkReason.TOO_FAR_AHEAD: HeldBy.LIMIT,
    ParkReason.NOT_YOUR_TURN: HeldBy.SHARE,
    ParkReason.DAY_QUOTA: HeldBy.LIMIT,
    ParkReason.PAUSED: HeldBy.LIMIT,
    ParkReason.BREAKER_OPEN: HeldBy.INCIDENT,
    ParkReason.OVERRIDDEN: HeldBy.LIMIT,
}
"""Why no ticket was taken -> what holds the job then."""


def throttled(step: str, parked: Parked) -> Throttled:
    """Return how a job goes back for which no ticket was taken."""
    why = f"Step {step}: {parked.reason}."
    return Throttled(why, until=parked.until, held_by=_HELD_BY[parked.reason])


def is_the_organisation_s(fault: Fault, failure: FailureClass) -> bool:
    """Say whether every other call would be refused too: for want of entitlement or quota.

    A refusal that names the custom model is of those who use it, and lets all others go on.
    """
    return failure in _BREAKS and fault.field.rpartition(".")[2] != MODEL_FIELD


def shows_service(fault: Fault, failure: FailureClass) -> bool:
    """Say whether a refusal is of one request alone, so that the organisation's calls are served.

    Where nothing answered, or the service itself is in trouble, nobody knows.
    """
    of_model = failure in _BREAKS and not is_the_organisation_s(fault, failure)
    return fault.status in _OF_THE_REQUEST and (failure in _SERVED or of_model)
