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
            if attempt.output_key is None:
                return Undecidable(attempt)
            return MustSettle(attempt, attempt.submitted_at + SETTLED_AFTER)
    counted = [one for one in mine if one.counts]
    first = Cause.FIRST_TRY if generation == 1 else Cause.REGENERATE
    return MaySend(
        n=mine[-1].n + 1 if mine else 1,
        tries_spent=sum(one.replay == replay for one in counted),
        cause=Cause.RETRY if counted else first,
    )
