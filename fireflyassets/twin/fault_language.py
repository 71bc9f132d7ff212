"""Scripted faults: what can be asked for with `POST /_twin/faults`.

Belongs here: the triggers and effects as they are written in JSON, one class per effect.
Does not belong here: which calls a fault befalls (`faults.py`), carrying an effect out
(`calls.py`, `work.py`, `polling.py`).
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

Seconds = Annotated[float, Field(ge=0)]


class Strict(BaseModel):
    """A model that refuses unknown fields: a mistyped fault must not be a silent no-op."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Trigger(Strict):
    """Which calls a fault befalls; every given condition must hold."""

    endpoint: str = "*"  # Short name, path, family, or `*` for every paid call.
    organisation: str | None = None
    client: str | None = None
    prompt_contains: str | None = None
    nth: int | list[int] | None = None  # Of the matching calls since the fault was set, from 1.
    every: int | None = Field(default=None, ge=1)
    probability: float | None = Field(default=None, ge=0, le=1)
    times: int | None = Field(default=None, ge=1)  # Fires at most so often.
    for_seconds: Seconds | None = None  # Fires only so long after it was set.


class Answer(Strict):
    """Any status, headers and body; with `accept` the call is taken and billed all the same."""

    kind: Literal["answer"]
    status: int = Field(ge=200, le=599)
    body: JsonValue = None  # A string is sent as it is (HTML), anything else as JSON.
    headers: dict[str, str] = {}
    accept: bool = False


class Drop(Strict):
    """Close the connection without an answer, after accepting and billing unless told not to."""

    kind: Literal["drop"]
    accept: bool = True
    how: Literal["close", "reset"] = "close"


class Delay(Strict):
    """Widen the windows before and after the call is accepted."""

    kind: Literal["delay"]
    before_seconds: Seconds = 0
    after_seconds: Seconds = 0


class Storm(Strict):
    """Answer 429 whatever the limits say."""

    kind: Literal["storm"]
    retry_after: str | None = "1"  # Sent as it is, so that odd forms can be rehearsed.


class LimitFactor(Strict):
    """Cut the limits of the matched organisation and family; for a time, with `for_seconds`."""

    kind: Literal["limit"]
    factor: float = Field(default=0.5, gt=0)


class RetryAfter(Strict):
    """Give real 429s another Retry-After: the other form, a literal value, or none."""

    kind: Literal["retry_after"]
    form: Literal["seconds", "date", "none", "literal"] = "date"
    value: str = ""


class Stuck(Strict):
    """The job runs for ever."""

    kind: Literal["stuck"]


class Late(Strict):
    """The job ends so many seconds (wall time) later."""

    kind: Literal["late"]
    seconds: Seconds


class Lost(Strict):
    """The job's status answers 404, although it was accepted, billed and carried out."""

    kind: Literal["lost"]


class CancelPending(Strict):
    """A cancelled job stays in `cancel_pending`, then ends as told."""

    kind: Literal["cancel_pending"]
    seconds: Seconds | None = None  # None: for ever.
    then: Literal["cancelled", "succeeded"] = "cancelled"


class CancelFailed(Strict):
    """Cancel answers 409 `job_cancel_failed`, and the job goes on."""

    kind: Literal["cancel_failed"]


class EndsAs(Strict):
    """The job ends with any status word, known or not; null leaves the word out."""

    kind: Literal["ends_as"]
    status: str | None = "failed"
    error_code: str | None = None
    message: str | None = None


class FewerOutputs(Strict):
    """The job succeeds with at most *count* outputs."""

    kind: Literal["fewer_outputs"]
    count: int = Field(default=0, ge=0)


class BadOutput(Strict):
    """The job succeeds, yet what it made is wrong."""

    kind: Literal["nothing_written", "zero_bytes", "truncated", "wrong_size", "unchanged_picture"]


class PartialFailure(Strict):
    """The first *written* outputs are made, then the job fails."""

    kind: Literal["partial_failure"]
    written: int = Field(default=1, ge=0)


class ExpiredUrl(Strict):
    """The first *answers* status answers carry output URLs that have expired; null: all do."""

    kind: Literal["expired_url"]
    answers: int | None = Field(default=1, ge=1)


class Flags(Strict):
    """The job succeeds and says that part of the prompt was ignored."""

    kind: Literal["flags"]
    denied_words: bool = True
    blocked_artists: bool = False


Effect = Annotated[
    Answer
    | Drop
    | Delay
    | Storm
    | LimitFactor
    | RetryAfter
    | Stuck
    | Late
    | Lost
    | CancelPending
    | CancelFailed
    | EndsAs
    | FewerOutputs
    | BadOutput
    | PartialFailure
    | ExpiredUrl
    | Flags,
    Field(discriminator="kind"),
]


class FaultRequest(Strict):
    """One entry of `POST /_twin/faults`."""

    when: Trigger = Trigger()
    then: Effect
    note: str = ""


FAULT_REQUESTS: TypeAdapter[list[FaultRequest]] = TypeAdapter(list[FaultRequest])
EFFECTS: TypeAdapter[list[Effect]] = TypeAdapter(list[Effect])
