"""What the fence and the shared limiter tell each other beside tickets.

Belongs here: which refusals are the organisation's, the delay of a call that nobody paces.
Does not: the limiter's own state (``fireflyassets.limiter``), sending.
"""

from datetime import timedelta
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.failure import FailureClass

BREAKS: Final = frozenset({FailureClass.ENTITLEMENT, FailureClass.QUOTA})
"""Refusals that are the organisation's and no job's: every other call would be refused too."""
BREAK: Final = timedelta(hours=1)
"""Told to the limiter as what the service asks for: more than it believes, so its breaker opens."""
UNPACED_PARK: Final = timedelta(minutes=1)


class Unpaced(errors.JobDelayed):
    """The shared limiter can't say when to call, so nothing was sent."""

    remedy = "Look at the limiter's store; the job goes on by itself as soon as it answers."
