"""What the ledger's answers and rows say: recordings, waves, claims, sends, operations.

Belongs here: values that cross the ledger's port. Does not: what may be written when
(``ports/ledger.py``), jobs and results (``core/job.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final

from fireflyassets.core.budget import Booking
from fireflyassets.core.cause import HeldBy
from fireflyassets.core.failure import FailureClass, Family
from fireflyassets.core.job import Hold, JobRow, StepResult
from fireflyassets.core.money import Cause, Cost, cost_of
from fireflyassets.core.status import ENDED, KEPT, Status


@dataclass(frozen=True, slots=True)
class Recorded:
    """The row is durable, by this call."""

    row: JobRow


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The same request was recorded before; nothing was written."""

    row: JobRow


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another request was recorded under the same key; nothing was written."""

    row: JobRow


Recording = Recorded | Duplicate | Conflict


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a campaign's list, which is in the order of creation; ids part equal instants."""

    created_at: datetime
    job_id: str


class WaveState(StrEnum):
    """How far a wave is. ``ended`` is the only state that a sweep leaves alone."""

    FORMING = "forming"
    FORMED = "formed"
    LAUNCHED = "launched"
    RUNNING = "running"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Wave:
    """The jobs that one Dagster run works on."""

    wave_id: str
    customer: str
    campaign: str
    campaign_version: str
    credential: str
    state: WaveState
    jobs: tuple[str, ...]
    """Candidates while forming, winners after."""
    formed_at: datetime
    launches: int = 0
    run_id: str | None = None
    lease_until: datetime | None = None
    draining: bool = False
    """All its jobs have their first ticket: the tenant's warm wave may begin to take some."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on a job: every status write names it."""

    job_id: str
    customer: str
    wave_id: str
    epoch: int
    booking: Booking | None = field(default=None, compare=False)
    """What the job takes of budgets, as far as whoever claims knows: saves the ledger a look."""

    @classmethod
    def standing(cls, row: JobRow) -> "Claim":
        """Return the claim by which a row is held; nobody's where no wave has it."""
        return cls(row.job_id, row.customer_id, row.wave or "", row.epoch, row.booking)


class AttemptState(StrEnum):
    """What is known of one send. A bound attempt is one that a step result names."""

    SUBMITTING = "submitting"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    LOST = "lost"
    FAILED = "failed"
    ORPHANED = "orphaned"
    """Accepted, collected and booked, and bound to nothing."""


class Verdict(StrEnum):
    """What was decided on a send whose outcome is unknown."""

    BILLED = "billed"
    """The vendor's report shows it: it is booked, and collected if its id is known."""
    RESUBMIT = "resubmit"
    """One more send, knowing that both may be paid."""
    DROP = "drop"
    """The job is given up; the outcome stays unknown."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict on one send, with who gave it and why; kept with the send for good."""

    verdict: Verdict
    by: str
    at: datetime
    why: str | None = None
    """None where it was not asked for: by a campaign's rule."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One send of a paid call, written before it happens. Append-only by (step, generation, n)."""

    job_id: str
    step: str
    generation: int
    n: int
    family: Family
    organisation: str
    wave_id: str
    epoch: int
    submitted_at: datetime
    output_key: str | None
    """Our own key that the vendor writes to: makes the outcome decidable. None: it is not."""
    cause: Cause
    state: AttemptState = AttemptState.SUBMITTING
    replay: int = 0
    """Replays of the job before this send: each replay has a budget of tries of its own."""
    counts: bool = True
    """False for a send that a 429 or a 401 answered: it costs no try."""
    vendor_id: str | None = None
    status_url: str | None = None
    cancel_url: str | None = None
    fault: str | None = None
    decision: Decision | None = None

    def is_same_send(self, other: "Attempt") -> bool:
        """Say whether both are one send of one claim; a takeover raises the epoch."""
        mine, theirs = (
            (one.job_id, one.step, one.generation, one.n, one.wave_id, one.epoch)
            for one in (self, other)
        )
        return mine == theirs

    @property
    def is_open(self) -> bool:
        """Say whether the send is still owed an answer, as far as it knows of itself."""
        return self.state is AttemptState.ACCEPTED or self.is_unknown

    @property
    def is_unknown(self) -> bool:
        """Say whether nobody knows, and nobody has decided, if the send was taken.

        A send that is billed by somebody's word and that the vendor does not find is unknown anew.
        """
        if self.state not in {AttemptState.SUBMITTING, AttemptState.LOST}:
            return False
        return self.decision is None or self.decision.verdict is Verdict.BILLED


UNNAMED: Final = "send:"


def unnamed(step: str, generation: int, n: int) -> str:
    """Return what stands for the vendor's id in the operations of a send that has none."""
    return f"{UNNAMED}{step}#{generation}#{n}"


@dataclass(frozen=True, slots=True)
class Operation:
    """What one output of one vendor job costs. Unique by (vendor_id, output).

    It is booked as accepted-but-failed with the vendor's id, and restated once it is known better.
    """

    job_id: str
    vendor_id: str
    output: int
    step: str
    generation: int
    n: int
    customer: str
    campaign: str
    operations: Decimal
    rate_card: str
    cause: Cause
    booked_at: datetime


@dataclass(frozen=True, slots=True)
class History:
    """All that was sent and made for one job."""

    steps: Mapping[tuple[str, int], StepResult]
    """(step, generation) -> its result."""
    attempts: tuple[Attempt, ...]
    operations: tuple[Operation, ...]

    @property
    def unanswered(self) -> tuple[Attempt, ...]:
        """Return the sends that are open and whose result nothing holds yet."""
        bound = {(one.step, one.generation, one.n) for one in self.steps.values()}
        sends = (one for one in self.attempts if one.is_open)
        return tuple(one for one in sends if (one.step, one.generation, one.n) not in bound)

    @property
    def cost(self) -> Cost:
        """Return what all of it comes to; of rows with one key the last one counts."""
        rows = {(one.vendor_id, one.output): one for one in self.operations}
        spent = ((one.cause, one.operations) for one in rows.values())
        return cost_of(spent, open_calls=bool(self.unanswered))


@dataclass(frozen=True, slots=True)
class Ending:
    """How a job's turn in a wave ends for good."""

    status: Status
    reason: str | None
    outputs: tuple[str, ...]
    cost: Cost
    ended_at: datetime
    ttl: datetime | None
    run_id: str | None = None
    """The run that ended it; None leaves the row's as it is."""
    failure: FailureClass | None = None
    """The class of the fault that it ended by."""
    looks: tuple[int, ...] = ()
    """Perceptual hashes of the outputs, in their order."""

    def __post_init__(self) -> None:
        if self.status not in ENDED:
            raise ValueError(f"{self.status} does not end a job: release it instead.")
        if self.ttl is not None and self.status in KEPT:
            raise ValueError(f"A job in {self.status} waits for somebody: its row never expires.")


@dataclass(frozen=True, slots=True)
class Resumed:
    """How a held job goes on: its hold is lifted and it is due."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Release:
    """How a job goes back to the queue."""

    reason: str
    not_before: datetime | None = None
    hold: Hold | None = None
    held_by: HeldBy | None = None
    """What the reason is about; None: nobody says."""
    crashed: bool = False
    """A takeover: the process died under it. Counts a crash, which is not an attempt, and raises
    the epoch, so that nothing a zombie still writes is bound."""
    credential: str | None = None
    """The credential in whose line it waits from now on; None: its own."""
