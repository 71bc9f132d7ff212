"""A rate set by hand: what may be asked for, and the trail that it and new limits leave.

Here: the checks that need no state, and one log line for each change. Not here: the law of an
override (`rates`) and the contract's bound, which only the store knows.
"""

import logging
import math
from datetime import datetime, timedelta

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter.errors import OverrideRefused, OverrideStands
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.port import Override

_log = logging.getLogger("fireflyassets.limiter")

MAX_BY = 64
MAX_WHY = 200
ABOVE_CONTRACT = "the rate is above the contract's"


def asked_interval(
    item: str, rate_per_minute: float, *, duration: timedelta, by: str, why: str
) -> int:
    """Return the interval of a rate that an operator may ask for.

    Raises:
        OverrideRefused: Something asked for makes no sense, whatever the contract.
    """
    if not math.isfinite(rate_per_minute) or rate_per_minute <= 0:
        raise OverrideRefused(item, f"{rate_per_minute} calls a minute is no rate")
    interval = math.ceil(60 * law.SECOND_US / rate_per_minute)
    if interval > law.DAY_US:
        raise OverrideRefused(item, "less than one call a day is no rate")
    if not timedelta(0) < duration <= timedelta(microseconds=law.MAX_OVERRIDE_US):
        raise OverrideRefused(item, f"{duration} is no time for an override")
    check_words(item, by=by, why=why)
    return interval


def check_standing(item: str, standing: Override | None, *, by: str, replace: bool) -> None:
    """Let nobody replace somebody else's override unawares.

    Raises:
        OverrideStands: *standing* is in force, not of *by*, and is not to be replaced.
    """
    if standing is None or replace or standing.by == by:
        return
    told = (
        f"{standing.rate_per_minute:.4g} calls a minute from {standing.since:%Y-%m-%d %H:%M:%S} "
        f"until {standing.until:%Y-%m-%d %H:%M:%S} UTC, set by {standing.by}: {standing.why}"
    )
    raise OverrideStands(item, told)


def check_words(item: str, *, by: str, why: str) -> None:
    """Let nobody change an item without a name and a reason.

    Raises:
        OverrideRefused: One of them says nothing, or too much.
    """
    for name, text, longest in (("name", by, MAX_BY), ("reason", why, MAX_WHY)):
        if not text.strip() or not text.isprintable() or len(text) > longest:
            raise OverrideRefused(item, f"the {name} must be one line of 1 to {longest} letters")


def audit_set(item: str, override: Override) -> None:
    """Log that an operator set a rate."""
    _log.warning(
        "Item %s: %.4g calls a minute from %s until %s, set by %s: %s",
        item,
        override.rate_per_minute,
        override.since.isoformat(),
        override.until.isoformat(),
        override.by,
        override.why,
    )


def audit_cleared(item: str, override: Override, *, by: str) -> None:
    """Log that an operator ended an override before its time."""
    _log.warning("Item %s: the override set by %s is ended by %s.", item, override.by, by)


def audit_ended(item: str, override: Override) -> None:
    """Log that an override has ended by itself."""
    _log.warning("Item %s: the override set by %s is over.", item, override.by)


def audit_reset(item: str, *, by: str, why: str) -> None:
    """Log that an operator let an item begin anew."""
    _log.warning("Item %s: begun anew by %s: %s", item, by, why)


def audit_opened(item: str, until: datetime) -> None:
    """Log that the breaker has opened."""
    _log.error(
        "Item %s: the service asked for more than 15 minutes, or refused the organisation. The "
        "breaker is open; one call tries it at %s. Ask the service why.",
        *(item, until.isoformat()),
    )


def audit_limits(item: str, limits: Limits) -> None:
    """Log that limits took the place of others for all processes."""
    _log.warning(
        "Item %s: the limits of %s (%s), %d calls a minute, replace those that were stored.",
        item,
        limits.as_of,
        limits.source,
        limits.per_minute,
    )
