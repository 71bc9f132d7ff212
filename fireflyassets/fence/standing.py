"""How a paid step stands by its history: may it be sent, must it be collected, or is it unknown?

Belongs here: the pure rule that keeps one credit from being spent twice. Does not: sending
(``protocol.py``).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core.money import Cause
from fireflyassets.ports.entries import Attempt, AttemptState

SETTLED_AFTER: Final = timedelta(minutes=75)
"""Photoshop ends a job for good an hour after its last sign of life; then our own key tells."""

TELLS_UNTIL: Final = timedelta(hours=20)
"""Temporary keys expire after a day: from then on an absent file proves nothing."""


@dataclass(frozen=True, slots=True)
class MaySend:
    """Nothing is open: the next send is number *n*, with *tries_spent* of the budget gone."""

    n: int
    tries_spent: int
    cause: Cause


@dataclass(frozen=True, slots=True)
class MustCollect:
    """A send was accepted: its vendor job is polled, never sent again."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class MustSettle:
    """A send wrote to a key of ours and no answer came: from *at* on, the key tells."""

    attempt: Attempt
    at: datetime


@dataclass(frozen=True, slots=True)
class Undecidable:
    """A send may have been accepted and nothing of ours can tell: a person decides."""

    attempt: Attempt


Standing = MaySend | MustCollect | MustSettle | Undecidable


def settles_at(attempt: Attempt) -> datetime | None:
    """Return from when on a send's own key is looked at; None: it wrote to none of ours."""
    return None if attempt.output_key is None else attempt.submitted_at + SETTLED_AFTER


def absence_tells(attempt: Attempt, *, now: datetime) -> bool:
    """Say whether a file that is not there proves that a send to our own key made nothing.

    It does not where the vendor gave an id, since the send was taken for certain, nor once the
    file may have expired. A file that is there always tells.
    """
    return attempt.vendor_id is None and not may_have_expired(attempt, now=now)


def may_have_expired(attempt: Attempt, *, now: datetime) -> bool:
    """Say whether what a send wrote to our own key may be gone by now."""
    return attempt.output_key is not None and now > attempt.submitted_at + TELLS_UNTIL


def awaits_person(attempt: Attempt, *, now: datetime) -> bool:
    """Say whether a send is unknown and nothing of ours will tell by itself, as far as is known."""
    if not attempt.is_unknown:
        return False
    return attempt.output_key is None or not absence_tells(attempt, now=now)


def standing(attempts: Iterable[Attempt], *, step: str, generation: int, replay: int) -> Standing:
    """Return how a step stands. Of several open sends the oldest is dealt with first."""
    mine = sorted(
        (one for one in attempts if (one.step, one.generation) == (step, generation)),
        key=lambda one: one.n,
    )
    for attempt in mine:
        if attempt.state is AttemptState.ACCEPTED:
            return MustCollect(attempt)
        if attempt.is_unknown:
            at = settles_at(attempt)
            return Undecidable(attempt) if at is None else MustSettle(attempt, at)
    counted = [one for one in mine if one.counts]
    first = Cause.FIRST_TRY if generation == 1 else Cause.REGENERATE
    return MaySend(
        n=mine[-1].n + 1 if mine else 1,
        tries_spent=sum(one.replay == replay for one in counted),
        cause=Cause.RETRY if counted else first,
    )
