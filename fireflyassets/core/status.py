"""The states of a job and the moves between them.

Belongs here: what each state means, what enters it and who moves it on. Does not: the writes.

    queued ──claim──> running ──> succeeded
      ^  ^              │  └────> review     a person or a mended input is needed
      │  └─park, hold───┤  └────> dlq        recoverable: replay
      │    takeover     │  └────> failed     closed without replay
      ├──replay── dlq   └───────> cancelled
      └──mended── review

A person's decision on an unknown outcome also moves a held job from queued to review or failed; to
abort a replay moves what still waits of it from queued back to dlq.
"""

from enum import StrEnum
from typing import Final


class Status(StrEnum):
    """Where a job stands.

    * ``queued``: entered by intake, park, takeover and replay; moved on by a wave's claim.
      A hold is an attribute of a queued job, not a state; a decision lifts it or ends the job.
    * ``running``: entered by a claim; moved on by the wave that the row names, or by a takeover.
    * ``succeeded``: every wanted rendition is delivered. Only a paid regenerate leaves it.
    * ``failed``: closed without replay.
    * ``dlq``: a recoverable class of failure; a classified replay moves it on.
    * ``review``: needs a mended input or a person.
    * ``cancelled``: ended by the customer or an operator.
    """

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DLQ = "dlq"
    REVIEW = "review"
    CANCELLED = "cancelled"


MOVES: Final[dict[Status, frozenset[Status]]] = {
    Status.QUEUED: frozenset(
        {Status.RUNNING, Status.CANCELLED, Status.REVIEW, Status.FAILED, Status.DLQ}
    ),
    Status.RUNNING: frozenset(
        {
            Status.QUEUED,
            Status.SUCCEEDED,
            Status.FAILED,
            Status.DLQ,
            Status.REVIEW,
            Status.CANCELLED,
        }
    ),
    Status.SUCCEEDED: frozenset({Status.QUEUED}),
    Status.FAILED: frozenset(),
    Status.DLQ: frozenset({Status.QUEUED, Status.FAILED, Status.CANCELLED}),
    Status.REVIEW: frozenset({Status.QUEUED, Status.FAILED, Status.CANCELLED}),
    Status.CANCELLED: frozenset(),
}

ENDED: Final = frozenset(
    {Status.SUCCEEDED, Status.FAILED, Status.DLQ, Status.REVIEW, Status.CANCELLED}
)
"""States in which no wave works on the job."""

KEPT: Final = frozenset({Status.DLQ, Status.REVIEW})
"""Ended states that still wait for somebody: their rows never expire."""

CLOSED: Final = ENDED - KEPT
"""Ended states in which nothing more is made for the job."""


class HumanReview(StrEnum):
    """The person's verdict, kept apart from the job's status; also the ``human-reviewed`` tag."""

    NOT_REQUIRED = "not-required"
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


def may_move(source: Status, target: Status) -> bool:
    """Say whether the state machine has the move *source* -> *target*."""
    return target in MOVES[source]
