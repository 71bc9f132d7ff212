"""How long a refusal asks us to wait.

Belongs here: every form of Retry-After seen or feared, read without ever raising. Does not: the
wait itself, nor backoff where nothing readable was said.
"""

import math
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

CAP: Final = timedelta(minutes=15)
"""Longest wait for a question that is asked again; a submit's ask is passed on as it is."""

_LONGEST: Final = timedelta(days=3650)
_NUMBER: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE]\+?[0-9]{1,3})?")


def wait(values: Iterable[str], *, now: datetime) -> timedelta | None:
    """Return the wait that the header *values* ask for, from zero to the cap; None for none."""
    said = asked(values, now=now)
    return None if said is None else min(said, CAP)


def asked(values: Iterable[str], *, now: datetime) -> timedelta | None:
    """Return the longest readable ask, uncapped (ten years at most), never negative.

    Of two headers the longer wins: a wait must not be below any valid value. *now* is the
    server's own ``Date`` where it sent one, so that a date needs no agreement of clocks.
    """
    readable = [ask for value in values for ask in _asks(value, now)]
    return max(readable, default=None)


def http_date(value: str | None) -> datetime | None:
    """Return an HTTP date as an aware instant in UTC; None for anything else."""
    if not value or not value.isascii():
        return None
    try:
        moment = parsedate_to_datetime(value)
        return (moment.replace(tzinfo=moment.tzinfo or UTC)).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _asks(value: str, now: datetime) -> Iterator[timedelta]:
    # A proxy may join two headers with a comma, but a date holds one itself.
    whole = _one(value.strip(), now)
    parts = [whole] if whole is not None else [_one(part.strip(), now) for part in value.split(",")]
    yield from (part for part in parts if part is not None)


def _one(text: str, now: datetime) -> timedelta | None:
    if _NUMBER.fullmatch(text):
        seconds = float(text)
        if math.isinf(seconds) or seconds > _LONGEST.total_seconds():
            return _LONGEST
        return timedelta(seconds=seconds)
    moment = http_date(text) if ":" in text else None
    if moment is None:
        return None
    return min(max(moment - now, timedelta(0)), _LONGEST)
