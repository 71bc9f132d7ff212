"""What the fence tells the shared limiter beside tickets: who is not believed, who is refused.

Belongs here: which refusals are the organisation's, and from when on the breaker opens.
Does not: the limiter's own state (``fireflyassets.limiter``), sending.
"""

from datetime import timedelta
from typing import Final

from fireflyassets.core.failure import FailureClass
from fireflyassets.limiter.arithmetic import MAX_PAUSE_US

LONGEST_PAUSE: Final = timedelta(microseconds=MAX_PAUSE_US)
"""Who asks for more is not believed: the breaker opens, and one call tries it after this."""
BREAKS: Final = frozenset({FailureClass.ENTITLEMENT, FailureClass.QUOTA})
"""Refusals that are the organisation's and no job's: every other call would be refused too."""
BREAK: Final = 4 * LONGEST_PAUSE
"""Told to the limiter as what the service asks for, so that its breaker opens."""
