"""A service that halves its limit for ten minutes.

Here: how few calls are refused and how much of the limit is used. Not here: calm weather.
"""

import pytest

from fireflyassets.limiter.storm import FixedMinute, Service, SlidingMinute, TokenBucket, storm


@pytest.mark.parametrize("service", [SlidingMinute, FixedMinute, TokenBucket])
def test_a_halved_limit_refuses_few_calls(service: type[Service]) -> None:
    """With Retry-After at most 0.3 % are refused, 95 % of the limit is used, no job is given up."""
    result = storm(service, rate_per_minute=600)

    assert 0 < result.refused_share <= 0.003
    assert result.use_inside >= 0.95
    assert result.use_outside >= 0.95
    assert result.dropped == 0


@pytest.mark.parametrize("service", [SlidingMinute, TokenBucket])
def test_without_the_header_it_still_holds(service: type[Service]) -> None:
    """Without Retry-After short pauses and the lowered rate keep refusals under 1.2 %."""
    result = storm(service, rate_per_minute=600, header=False)

    assert result.refused_share <= 0.012
    assert result.use_inside >= 0.9
    assert result.dropped == 0


def test_a_slow_contract_is_refused_twice_a_minute_at_most() -> None:
    """At 60 a minute probing costs a larger share, but few calls: count them, not the share."""
    result = storm(SlidingMinute, rate_per_minute=60)

    assert result.refused <= 20
    assert result.dropped == 0
