"""Failures: one table from what Adobe said to a class, and from the class to an action.

Belongs here: the normalised fault and its classification, total, in one place that operators
read. Does not: parsing of vendor bodies (``adapters/adobe/faults.py``), waiting, sending.
Unknown means hold: nobody guesses with a customer's money.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Family(StrEnum):
    """An API family with limits and rules of its own."""

    IMS = "ims"
    FIREFLY = "firefly"
    PHOTOSHOP = "photoshop"
    STORAGE = "storage"


class FailureClass(StrEnum):
    """What kind of trouble it is, which alone decides what happens next."""

    AUTH = "auth"
    THROTTLED = "throttled"
    TRANSIENT = "transient"
    STALE_REFERENCE = "stale-reference"
    INVALID_REQUEST = "invalid-request"
    UNSAFE_CONTENT = "unsafe-content"
    ENTITLEMENT = "entitlement"
    QUOTA = "quota"
    MODEL_NOT_READY = "model-not-ready"
    MODEL_RETIRED = "model-retired"
    LOST_ANSWER = "lost-answer"
    TEMPLATE_DEFECT = "template-defect"
    STORAGE = "storage"
    BUG = "bug"
    UNKNOWN = "unknown"


def class_named(text: str | None) -> FailureClass | None:
    """Return a class by its name; one that this release's table lacks is unknown."""
    known = text is None or text in set(FailureClass)
    return (FailureClass(text) if text else None) if known else FailureClass.UNKNOWN


class Action(StrEnum):
    """What the factory does with a failure when tries are spent or do not help."""

    RETRY = "retry"
    """Another try of the step; when the tries are spent, the job goes to ``dlq``."""
    PARK = "park"
    """Give the job back as queued, due later."""
    HOLD = "hold"
    """Give the job back as queued, held until a person decides."""
    REVIEW = "review"
    """The input must be mended, or a person must look."""
    DLQ = "dlq"
    """Recoverable by a classified replay once the cause is gone."""


ACTIONS: Final[dict[FailureClass, Action]] = {
    FailureClass.AUTH: Action.DLQ,
    FailureClass.THROTTLED: Action.PARK,
    FailureClass.TRANSIENT: Action.RETRY,
    FailureClass.STALE_REFERENCE: Action.RETRY,
    FailureClass.INVALID_REQUEST: Action.REVIEW,
    FailureClass.UNSAFE_CONTENT: Action.REVIEW,
    FailureClass.ENTITLEMENT: Action.DLQ,
    FailureClass.QUOTA: Action.DLQ,
    FailureClass.MODEL_NOT_READY: Action.PARK,
    FailureClass.MODEL_RETIRED: Action.REVIEW,
    FailureClass.LOST_ANSWER: Action.HOLD,
    FailureClass.TEMPLATE_DEFECT: Action.REVIEW,
    FailureClass.STORAGE: Action.RETRY,
    FailureClass.BUG: Action.HOLD,
    FailureClass.UNKNOWN: Action.HOLD,
}


class Replay(StrEnum):
    """What a replay from the dead letters may do with a class."""

    FREELY = "freely"
    """Once the vendor answers again; references are made anew, vendor jobs collected first."""
    AFTER_MENDING = "after mending"
    """Not before an operator says that the cause is gone."""
    NEVER = "never"
    """It would only spend more, or must be decided otherwise."""


REPLAYS: Final[dict[FailureClass, Replay]] = {
    **dict.fromkeys(FailureClass, Replay.NEVER),
    FailureClass.THROTTLED: Replay.FREELY,
    FailureClass.TRANSIENT: Replay.FREELY,
    FailureClass.STALE_REFERENCE: Replay.FREELY,
    FailureClass.STORAGE: Replay.FREELY,
    FailureClass.AUTH: Replay.AFTER_MENDING,
    FailureClass.ENTITLEMENT: Replay.AFTER_MENDING,
    FailureClass.QUOTA: Replay.AFTER_MENDING,
}
"""The one list of recoverable classes: replaying without it is the costliest mistake there is."""

GUIDANCE: Final[dict[FailureClass, str]] = {
    FailureClass.AUTH: "Rotate the credential's secret; then have the job run again.",
    FailureClass.THROTTLED: "Nothing: the job goes on by itself when the limit allows.",
    FailureClass.TRANSIENT: "Have the job run again once Adobe answers.",
    FailureClass.STALE_REFERENCE: "Have the job run again; references are signed anew.",
    FailureClass.INVALID_REQUEST: "Mend the field that is named and send the job under a new key.",
    FailureClass.UNSAFE_CONTENT: "Change the prompt and send the job under a new key.",
    FailureClass.ENTITLEMENT: "Add the product to the credential; then have the job run again.",
    FailureClass.QUOTA: "Get more quota, or wait for a new period; then have the job run again.",
    FailureClass.MODEL_NOT_READY: "Nothing: the model is checked again.",
    FailureClass.MODEL_RETIRED: "Train the custom model again, or choose another one.",
    FailureClass.LOST_ANSWER: "Decide with Adobe's usage report whether the call was billed.",
    FailureClass.TEMPLATE_DEFECT: "Mend the template; the layer is named.",
    FailureClass.STORAGE: "Have the job run again once the bucket can be written.",
    FailureClass.BUG: "Report it with the job id; nothing more is spent on the job meanwhile.",
    FailureClass.UNKNOWN: "Look at the last fault and decide; add it to the table if it recurs.",
}
"""What to tell the people who own the job; never a vendor's raw words."""

REFUSED_LOCALLY: Final = "refused_locally"
"""The code of what we refuse before it is sent; its message is ours and quotes no text."""

MODEL_FIELD: Final = "customModelId"
"""What a fault names that is of a custom model alone, and of no other call."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A vendor's answer, normalised and redacted."""

    family: Family
    status: int | None
    """HTTP status; None where the trouble came inside a 200, or without an answer."""
    code: str = ""
    field: str = ""
    """Path of the field it names, dots between."""
    message: str = ""

    def sentence(self) -> str:
        """Return the fault in one line for logs, rows and metadata."""
        parts = [self.family.value, str(self.status or "-"), self.code or "-"]
        return " ".join([*parts, *([f"at {self.field}"] if self.field else [])])

    def record(self) -> str:
        """Return the sentence with the vendor's redacted words, for whoever decides on a send."""
        return f"{self.sentence()}: {self.message}" if self.message else self.sentence()

    def told(self) -> str:
        """Return the sentence for whoever owns the job: with the reason where it is our own."""
        ours = self.code == REFUSED_LOCALLY and self.message
        return f"{self.sentence()}: {self.message.rstrip('.')}" if ours else self.sentence()


_UNSAFE: Final = frozenset(
    {
        "prompt_entity_denied",
        "legal_error",
        "unauthorized_legal_reasons",
        "400411",
    }
)
_OWN_CODES: Final[dict[str, FailureClass]] = {
    "connect_error": FailureClass.TRANSIENT,
    "pool_timeout": FailureClass.TRANSIENT,
    "no_answer": FailureClass.TRANSIENT,
    "connection_lost": FailureClass.TRANSIENT,
    "not_json": FailureClass.TRANSIENT,
    "oversized": FailureClass.BUG,
    "untrusted_url": FailureClass.BUG,
    "lost_answer": FailureClass.LOST_ANSWER,
    "no_poll_link": FailureClass.LOST_ANSWER,
    REFUSED_LOCALLY: FailureClass.INVALID_REQUEST,
    "words_ignored": FailureClass.UNSAFE_CONTENT,
    "no_token_in_time": FailureClass.TRANSIENT,
    "token_locked": FailureClass.TRANSIENT,
    "bad_token_answer": FailureClass.TRANSIENT,
    "token_rejected": FailureClass.AUTH,
    "no_secret": FailureClass.AUTH,
    "secret_unreachable": FailureClass.TRANSIENT,
    "tries_spent": FailureClass.TRANSIENT,
    "nothing_written": FailureClass.TRANSIENT,
    "expired_url": FailureClass.STALE_REFERENCE,
    "storage_error": FailureClass.STORAGE,
    "not_a_picture": FailureClass.STORAGE,
}
BY_CODE: Final[dict[str, FailureClass]] = {
    **dict.fromkeys(_UNSAFE, FailureClass.UNSAFE_CONTENT),
    "quota_exhausted": FailureClass.QUOTA,
    "403421": FailureClass.QUOTA,
    "user_non_entitled": FailureClass.ENTITLEMENT,
    "user_profile_denied": FailureClass.ENTITLEMENT,
    "invalid_ims_scope": FailureClass.ENTITLEMENT,
    "access_error": FailureClass.ENTITLEMENT,
    "403401": FailureClass.ENTITLEMENT,
    "404404": FailureClass.STALE_REFERENCE,
    "403003": FailureClass.ENTITLEMENT,
    "rate_limited": FailureClass.THROTTLED,
    "backpressure_limited": FailureClass.THROTTLED,
    "unauthorized_rate_limited": FailureClass.THROTTLED,
    "429050": FailureClass.THROTTLED,
    "timeout": FailureClass.TRANSIENT,
    "timeout_error": FailureClass.TRANSIENT,
    "runtime_error": FailureClass.TRANSIENT,
    "model_not_loaded": FailureClass.TRANSIENT,
    "500600": FailureClass.TRANSIENT,
    "422404": FailureClass.STALE_REFERENCE,
    "400312": FailureClass.STALE_REFERENCE,
    "unknown_job_id": FailureClass.LOST_ANSWER,
    "model_not_ready": FailureClass.MODEL_NOT_READY,
    "model_unknown": FailureClass.MODEL_RETIRED,
    "model_base": FailureClass.INVALID_REQUEST,
    "cai_assertion_violation_error": FailureClass.INVALID_REQUEST,
    "language_not_supported": FailureClass.INVALID_REQUEST,
    "session_data_not_recovered": FailureClass.TRANSIENT,
    "internal_error": FailureClass.TRANSIENT,
    # We cancel nothing on our own: somebody did, and has a reason.
    "cancelled_error": FailureClass.UNKNOWN,
    "cancelled": FailureClass.UNKNOWN,
    "not_implemented": FailureClass.BUG,
    "unsupported_method": FailureClass.BUG,
    "401013": FailureClass.AUTH,
    "401014": FailureClass.AUTH,
    "403000": FailureClass.ENTITLEMENT,
    "empty_input_body": FailureClass.INVALID_REQUEST,
    "invalid_content_type": FailureClass.INVALID_REQUEST,
    "invalid_json": FailureClass.INVALID_REQUEST,
    "input_media_indecipherable": FailureClass.INVALID_REQUEST,
    "400400": FailureClass.INVALID_REQUEST,
    "400401": FailureClass.INVALID_REQUEST,
    "400410": FailureClass.INVALID_REQUEST,
    "400420": FailureClass.INVALID_REQUEST,
    # The token service's words.
    "invalid_client": FailureClass.AUTH,
    "unauthorized_client": FailureClass.ENTITLEMENT,
    "invalid_scope": FailureClass.ENTITLEMENT,
    # Our own words for what was not answered, not sent, or not to be used.
    **_OWN_CODES,
}
BY_PLAIN_CODE: Final[dict[str, FailureClass]] = {
    "bad_request": FailureClass.INVALID_REQUEST,
    "validation_error": FailureClass.INVALID_REQUEST,
}
"""Codes that say less than the field beside them."""
UNSAFE_ENDINGS: Final = ("_unsafe", "_unsafe_error")
"""What Adobe refuses as unsafe ends so, whatever it is; new ones come without notice."""
REFERENCE_FIELDS: Final = ("source", "url", "uploadid")
BY_STATUS: Final[dict[int, FailureClass]] = {
    400: FailureClass.INVALID_REQUEST,
    401: FailureClass.AUTH,
    402: FailureClass.QUOTA,
    403: FailureClass.ENTITLEMENT,
    404: FailureClass.MODEL_RETIRED,
    408: FailureClass.TRANSIENT,
    413: FailureClass.INVALID_REQUEST,
    415: FailureClass.INVALID_REQUEST,
    422: FailureClass.INVALID_REQUEST,
    429: FailureClass.THROTTLED,
    451: FailureClass.UNSAFE_CONTENT,
    501: FailureClass.BUG,
}
FORBIDDEN_WORDS: Final = (("high traffic", FailureClass.TRANSIENT), ("quota", FailureClass.QUOTA))
"""What the message of Photoshop's one code for all 403s gives away."""


def classify(fault: Fault) -> FailureClass:
    """Return the class of *fault*: by its code first, then the field, then the status."""
    if fault.code == "unauthorized_forbidden":
        said = (kind for word, kind in FORBIDDEN_WORDS if word in fault.message.lower())
        return next(said, FailureClass.ENTITLEMENT)
    if fault.code.endswith(UNSAFE_ENDINGS):
        return FailureClass.UNSAFE_CONTENT
    return BY_CODE.get(fault.code) or _by_field_and_status(fault, _status(fault))


def _by_field_and_status(fault: Fault, status: int | None) -> FailureClass:
    names = re.split(r"[.\[\]]+", fault.field.lower())
    if not set(REFERENCE_FIELDS).isdisjoint(names) and status in {None, 400, 404, 410, 422}:
        return FailureClass.STALE_REFERENCE
    if fault.family is Family.IMS and status in {400, 404}:
        return FailureClass.AUTH  # It knows no inputs: what it refuses is the client.
    if fault.code in BY_PLAIN_CODE:
        return BY_PLAIN_CODE[fault.code]
    if fault.family is Family.PHOTOSHOP and status in {404, 410}:
        return FailureClass.STALE_REFERENCE  # It has no models: an input is not there.
    if status is not None and status not in BY_STATUS and 500 <= status <= 599:  # noqa: PLR2004
        return FailureClass.TRANSIENT
    return BY_STATUS.get(status or 0, FailureClass.UNKNOWN)


def _status(fault: Fault) -> int | None:
    """Return the HTTP status, or the one a job's own code begins with (``404…``, ``500600``)."""
    if fault.status not in {None, 200}:
        return fault.status
    own = re.fullmatch(r"([45][0-9]{2})[0-9]{2,4}", fault.code)
    return int(own[1]) if own else None
