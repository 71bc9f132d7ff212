"""Guidance: what a customer is told of a fault: what was refused, and what to change.

Belongs here: our own words, by class. Does not: a vendor's words, which no customer sees; what
operators do (``failure.GUIDANCE``).
"""

from typing import Final

from fireflyassets.core.failure import REPLAYS, FailureClass, Replay
from fireflyassets.core.job import CAMPAIGN, FENCE, JobRow
from fireflyassets.core.status import Status

_OURS: Final = "It is on our side: change nothing. We run the job again, under the same key."
_REFUSED: Final[dict[FailureClass, str]] = {
    FailureClass.AUTH: "Adobe did not accept our credential.",
    FailureClass.THROTTLED: "Adobe let no more calls through for a time.",
    FailureClass.TRANSIENT: "Adobe's service did not answer, or broke down.",
    FailureClass.STALE_REFERENCE: "An address that Adobe was given had run out.",
    FailureClass.INVALID_REQUEST: "A value of the request can't be worked with.",
    FailureClass.UNSAFE_CONTENT: "Adobe refuses the prompt, or what it would show.",
    FailureClass.ENTITLEMENT: "Our contract with Adobe does not cover the call now.",
    FailureClass.QUOTA: "Our quota at Adobe is used up.",
    FailureClass.MODEL_NOT_READY: "The custom model is still being trained.",
    FailureClass.MODEL_RETIRED: "The model is not there any more.",
    FailureClass.LOST_ANSWER: "Nobody can say whether Adobe took a paid call.",
    FailureClass.TEMPLATE_DEFECT: "What came out of the template is not what was asked for.",
    FailureClass.STORAGE: "A file could not be read or written.",
    FailureClass.BUG: "Our own software failed on the job.",
    FailureClass.UNKNOWN: "The call failed in a way that we have not met before.",
}
_CHANGE: Final[dict[FailureClass, str]] = {
    FailureClass.INVALID_REQUEST: "Mend what the reason names; send the job under a new key.",
    FailureClass.UNSAFE_CONTENT: (
        "Say it in other words, without persons, brands or violence; send it under a new key."
    ),
    FailureClass.MODEL_NOT_READY: "Change nothing: the model is looked at again.",
    FailureClass.MODEL_RETIRED: "Choose another model, or have this one trained again.",
    FailureClass.TEMPLATE_DEFECT: "Have the template mended; then send the job under a new key.",
}
_ASK: Final = "Change nothing: one of us looks at it."


def told(failure: FailureClass) -> str:
    """Return what was refused and what to change, in words that quote no vendor."""
    otherwise = _ASK if REPLAYS[failure] is Replay.NEVER else _OURS
    return f"{_REFUSED[failure]} {_CHANGE.get(failure, otherwise)}"


_HELD: Final = {
    CAMPAIGN: "It goes on when the campaign is resumed.",
    FENCE: "An operator finds out whether Adobe took a paid request. Then it goes on, or ends with "
    "what to do. Change nothing; sent again under a new key, it may be paid for twice.",
}
_HELD_BY_SOMEBODY: Final = (
    "Somebody with the right ops looks at it and resumes it. It goes on after its last finished "
    "step, under the same key."
)


def of(row: JobRow) -> str | None:
    """Return the guidance for a job that is held or ended by a fault; None for any other."""
    if row.hold is not None:
        return _HELD.get(row.hold.by, _HELD_BY_SOMEBODY)
    if row.failure is None or row.status not in {Status.DLQ, Status.REVIEW, Status.FAILED}:
        return None
    return told(row.failure)
