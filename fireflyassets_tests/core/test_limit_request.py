"""The request for higher limits. Here: what it says of our pace; its text is the command's test."""

from fireflyassets.core import limit_request
from fireflyassets.limiter.arithmetic import HEADROOM_PERCENT


def test_it_goes_by_the_headroom_that_calls_are_paced_with() -> None:
    """The core can't ask the limiter for it, so that each of the two says it."""
    assert limit_request.HEADROOM * 100 == HEADROOM_PERCENT
