"""Review: what a person may decide on a job's outputs, and what follows.

Belongs here: moves, reason codes with their actions, which move fits which verdict, the drawing of
samples. Does not: writes (``ports/reviews.py``), what reviewers see.

    pending ──approve──> approved ──recall──> rejected
      │  ^──────undo────────┘                   ^ recall
      │  ^──undo── rejected                not-required
      ├─────reject────^
      └─escalate, second look──> pending

A decision names the version that its maker saw, which is the row's epoch: every decision raises it,
and so does whatever else makes the outputs other ones.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Final

from fireflyassets.core.event import EventType
from fireflyassets.core.status import HumanReview


class Move(StrEnum):
    """What is decided."""

    APPROVE = "approve"
    REJECT = "reject"
    SECOND_LOOK = "second-look"
    """Drawn from a cluster that was approved as a whole: to be looked at by itself."""
    ESCALATE = "escalate"
    UNDO = "undo"
    RECALL = "recall"


class Code(StrEnum):
    """Why outputs are rejected."""

    COMPETITOR = "R-COMPETITOR"
    OFF_BRAND_COLOR = "R-OFF-BRAND-COLOR"
    OFF_BRAND_COMPOSITION = "R-OFF-BRAND-COMPOSITION"
    SUBJECT_INAPPROPRIATE = "R-SUBJECT-INAPPROPRIATE"
    QUALITY = "R-QUALITY"
    LEGAL_CLAIM = "R-LEGAL-CLAIM"


ACTIONS: Final[Mapping[Code, str]] = {
    Code.COMPETITOR: "Propose the prompt's words for the deny-list.",
    Code.OFF_BRAND_COLOR: "Mend the style of the campaign, then send the job under a new key.",
    Code.OFF_BRAND_COMPOSITION: "Mend the template, then send the job under a new key.",
    Code.SUBJECT_INAPPROPRIATE: "Propose the prompt's words for the deny-list.",
    Code.QUALITY: "Make it again with another seed.",
    Code.LEGAL_CLAIM: "Have legal look at the headline, then send the job under a new key.",
}
"""What is to be done about a rejection."""
PROPOSING: Final = frozenset({Code.COMPETITOR, Code.SUBJECT_INAPPROPRIATE})
"""Codes whose prompts are proposed for the deny-list."""

_VERDICTS: Final[Mapping[tuple[HumanReview, Move], HumanReview]] = {
    (HumanReview.PENDING, Move.APPROVE): HumanReview.APPROVED,
    (HumanReview.PENDING, Move.REJECT): HumanReview.REJECTED,
    (HumanReview.PENDING, Move.SECOND_LOOK): HumanReview.PENDING,
    (HumanReview.PENDING, Move.ESCALATE): HumanReview.PENDING,
    (HumanReview.APPROVED, Move.UNDO): HumanReview.PENDING,
    (HumanReview.REJECTED, Move.UNDO): HumanReview.PENDING,
    (HumanReview.APPROVED, Move.RECALL): HumanReview.REJECTED,
    (HumanReview.NOT_REQUIRED, Move.RECALL): HumanReview.REJECTED,
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """One decision on one job's outputs; never changed."""

    job_id: str
    customer: str
    version: int
    """The row's epoch from then on."""
    move: Move
    by: str
    at: datetime
    act: str
    """Of the act that it is a part of: one click decides on many jobs."""
    code: Code | None = None
    note: str = ""
    """In the reviewer's words; kept in the history alone."""


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that one person did, on however many jobs: the unit that haste is measured by."""

    act: str
    customer: str
    campaign: str
    by: str
    at: datetime
    move: Move
    asked: int
    """Jobs that it was to decide on; some may have been decided by others before."""
    code: Code | None = None
    sampled: tuple[str, ...] = field(default=())
    """Jobs that were drawn for a second look; ``act`` is the seed."""


def verdict(review: HumanReview, last: Move | None, move: Move) -> HumanReview | None:
    """Return what a review becomes by *move*; None where it does not fit.

    *last* is the move that made it what it is: a recall can't be undone.
    """
    if move is Move.UNDO and last is Move.RECALL:
        return None
    return _VERDICTS.get((review, move))


def told_as(before: HumanReview, move: Move) -> EventType | None:
    """Return what customers are told of a move from *before*; None: nothing.

    An approval that is undone was told already: its outputs must not be used any more.
    """
    if move is Move.UNDO and before is HumanReview.APPROVED:
        return EventType.ASSET_RECALLED
    return {
        Move.APPROVE: EventType.ASSET_APPROVED,
        Move.REJECT: EventType.ASSET_REJECTED,
        Move.RECALL: EventType.ASSET_RECALLED,
    }.get(move)


SECOND_LOOK_SHARE: Final = 0.1
"""Of a cluster that is approved as a whole."""
SAMPLED_SHARE: Final = 0.1
"""Of a campaign's jobs, where its review is sampled."""
CLUSTER_LEAST: Final = 3
"""Jobs from which on a second look is drawn: fewer are all seen at a glance."""


def second_look(job_ids: Sequence[str], seed: str) -> tuple[str, ...]:
    """Return the jobs of a cluster that are looked at by themselves, at least one.

    The same for the same seed, in whatever order they come; none of a cluster that is too small.
    """
    if len(job_ids) < CLUSTER_LEAST:
        return ()
    drawn = sorted(job_ids, key=lambda job_id: _drawn(seed, job_id))
    return tuple(sorted(drawn[: max(1, round(SECOND_LOOK_SHARE * len(job_ids)))]))


def is_sampled(job_id: str, *, seed: str, share: float) -> bool:
    """Say whether a job is one of the *share* that a person looks at; anybody can draw it again."""
    return _drawn(seed, job_id) < share


def _drawn(seed: str, job_id: str) -> float:
    """Return a number in [0, 1) that seed and job decide."""
    digest = hashlib.sha256(f"{seed}#{job_id}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64


HASTY: Final = timedelta(seconds=30)
MOST_AN_HOUR: Final = 100
HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast one person decided within the last hour."""

    by: str
    acts: int
    hasty: int
    """Acts within `HASTY` of the one before."""

    @property
    def is_flagged(self) -> bool:
        """Say whether somebody should ask how carefully it was looked."""
        return self.acts > MOST_AN_HOUR or self.hasty > 0


def paces(acts: Sequence[Act], *, now: datetime) -> tuple[Pace, ...]:
    """Return the pace of each person, by name; a cluster is one act, and an undo is none."""
    by: dict[str, list[datetime]] = {}
    for one in acts:
        if one.move in {Move.APPROVE, Move.REJECT} and now - one.at < HOUR:
            by.setdefault(one.by, []).append(one.at)
    return tuple(Pace(name, len(ats), _hasty(sorted(ats))) for name, ats in sorted(by.items()))


def _hasty(ats: Sequence[datetime]) -> int:
    return sum(later - sooner < HASTY for sooner, later in pairwise(ats))
