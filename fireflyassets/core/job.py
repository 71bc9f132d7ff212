"""A job: what was asked, the ledger row that owns it, and what was made.

Belongs here: the request, the row and the results as values. Does not: their storage format
(``adapters/aws/codec.py``), nor validation of raw input (``core/request.py``).
"""

import hashlib
import json
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from fireflyassets.core.budget import Booking
from fireflyassets.core.cause import HeldBy
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.money import Cost
from fireflyassets.core.review import Judgement
from fireflyassets.core.status import HumanReview, Status


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What is sent instead of a prompt, by which rule of the guardrail."""

    prompt: str
    rule: str


@dataclass(frozen=True, slots=True)
class JobRequest:
    """One creative request, valid against its campaign. Stored whole in the manifest."""

    customer: str
    campaign: str
    key: str
    prompt: str
    locale: str
    headline: str
    aspects: tuple[str, ...]
    rewritten: Rewritten | None = None
    """Beside the prompt as it was written, which alone tells a repeated request."""
    reference: "Picture | None" = None
    """The picture that came with it."""

    def digest(self) -> str:
        """Return the hash that tells a repeated request from another one under the same key.

        Composed and decomposed letters (NFC, NFD) hash alike, and so do aspects in any order: it
        depends on nothing that may change later. What is sent on stays as it was written.
        """
        return self._hashed(sorted(self.aspects))

    def is_of(self, body_hash: str) -> bool:
        """Say whether a row's hash is this request's; older rows kept their campaign's order."""
        return body_hash in {self.digest(), self._hashed(list(self.aspects))}

    def _hashed(self, aspects: list[str]) -> str:
        said = [
            self.customer,
            self.campaign,
            unicodedata.normalize("NFC", self.prompt),
            self.locale,
            unicodedata.normalize("NFC", self.headline),
            aspects,
            *([self.reference.sha256] if self.reference else ()),
        ]
        text = json.dumps(said, ensure_ascii=False)
        # A request that nobody has checked yet may hold half a surrogate pair.
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def text(self, name: str) -> str:
        """Return the text that ``job.<name>`` stands for in a recipe: a prompt as it is sent."""
        prompt = self.rewritten.prompt if self.rewritten else self.prompt
        return {"prompt": prompt, "headline": self.headline, "locale": self.locale}[name]


FACTORY: Final = "factory"
"""Who holds a job that failed in a way that a person must look at."""
FENCE: Final = "fence"
"""Who holds a job for an unknown outcome; once it is known, no person need lift the hold."""
CAMPAIGN: Final = "campaign"
"""Who holds a job whose campaign is on hold: resuming the campaign lifts such holds alone."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Why a job must not be dispatched, since when, and who said so."""

    reason: str
    since: datetime
    by: str

    @property
    def and_door(self) -> str:
        """Say why, and by which door a person lets the job go on."""
        door = _DOORS.get(self.by, _DOORS[FACTORY])
        return f"{self.reason.rstrip('.')}; {door}"


_DOORS: Final = {
    FACTORY: "an operator lets it go on with POST /v1/jobs/{job_id}/resume",
    FENCE: "an operator decides with fireflyassets fence resolve",
    CAMPAIGN: "an operator lets it go on with POST /v1/campaigns/{campaign}/resume",
}


@dataclass(frozen=True, slots=True)
class Cancel:
    """Somebody's wish to end a job that a wave works on; the wave ends it as soon as it can."""

    by: str
    keep: timedelta
    """How long the row stays then."""

    @property
    def reason(self) -> str:
        """Say why the job ended."""
        return f"Cancelled by {self.by}."


@dataclass(frozen=True, slots=True)
class JobRow:
    """The ledger row. Its first twelve attributes are the source schema's."""

    job_id: str
    customer_id: str
    campaign_id: str
    status: Status
    run_id: str | None
    input_manifest: str
    """S3 key of the full input; the row itself stays under 1 kB."""
    outputs: tuple[str, ...]
    """Final S3 keys, one for each aspect; empty until delivered."""
    cost_estimate: Decimal
    cost_actual: Decimal | None
    created_at: datetime
    updated_at: datetime
    ttl: datetime | None

    body_hash: str
    idempotency_key: str
    credential: str
    campaign_version: str
    rate_card: str
    """Version of the card that the estimate was made by, and that each call is priced by. Empty in
    rows of before it was pinned."""
    epoch: int = 0
    generation: int = 1
    wave: str | None = None
    hold: Hold | None = None
    not_before: datetime | None = None
    reason: str | None = None
    """Why it is parked, held or ended: a sentence without prompt or secret."""
    attempts: int = 0
    crashes: int = 0
    replays: int = 0
    human_reviewed: HumanReview = HumanReview.NOT_REQUIRED
    ended_at: datetime | None = None
    cost_possible: Decimal | None = None
    """What may have been billed beside ``cost_actual``, which is what certainly was."""
    booking: Booking | None = None
    """What it takes of its month's budgets; None where no budget was set when it was accepted."""
    cancel: Cancel | None = None
    """Set while a wave works on a job that is to be cancelled."""
    failure: FailureClass | None = None
    """The class of the fault that it ended by; None while it has not, or where nobody said."""
    parked_for: HeldBy | None = None
    """What its reason is about while it is parked; None where nobody said."""
    unsettled: bool = False
    """An open call may still move it: the fence holds it, or it ended with a call in flight."""
    looks: tuple[int, ...] = ()
    """Perceptual hashes of its outputs, in their order; empty where they were not taken."""
    judged: Judgement | None = None
    """The last decision on its outputs, without its note."""

    @property
    def due_at(self) -> datetime:
        """Return since when a queued job is due: it keeps its place in line unless it is parked."""
        return self.not_before or self.created_at

    @property
    def cost(self) -> Cost:
        """Return what the row says that the job has cost."""
        return Cost(self.cost_actual or Decimal(0), self.cost_possible or Decimal(0))


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture at rest in our own bucket."""

    key: str
    sha256: str
    media_type: str
    width: int
    height: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a finished step made. Stored typed, so that a restart resumes after it."""

    job_id: str
    step: str
    """Step name, with ``.<aspect>`` behind it where the step fans out."""
    generation: int
    n: int
    """The attempt that it is bound to."""
    picture: Picture
    operations: Decimal
    model: str | None = None
    seed: int | None = None
    ignored_words: bool = False
    """It left out a part of its prompt: it is paid and kept, and a person must look at it."""
    facts: dict[str, str] = field(default_factory=dict[str, str])
    """Small texts for metadata (latency, polls)."""
