"""The ledger as a port: the truth about every job, wave and paid call.

Belongs here: what may be written, under which condition. Every decision is a conditional write
on the base row; index reads are stale and only propose. Does not belong here: keys, expressions.

All calls block; the wave's loop hands them to threads. Times come from the caller's clock.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from fireflyassets.core.failure import Family
from fireflyassets.core.job import Hold, JobRow, StepResult
from fireflyassets.core.money import Cause
from fireflyassets.core.status import ENDED, KEPT, Status


# -- intake ---------------------------------------------------------------------------------
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


# -- waves ----------------------------------------------------------------------------------
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


# -- paid calls -----------------------------------------------------------------------------
class AttemptState(StrEnum):
    """What is known of one send. A bound attempt is one that a step result names."""

    SUBMITTING = "submitting"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    LOST = "lost"
    FAILED = "failed"


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


@dataclass(frozen=True, slots=True)
class Operation:
    """What one output of one vendor job costs. Unique by (vendor_id, output)."""

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


@dataclass(frozen=True, slots=True)
class Ending:
    """How a job's turn in a wave ends for good."""

    status: Status
    reason: str | None
    outputs: tuple[str, ...]
    cost_actual: Decimal
    ended_at: datetime
    ttl: datetime | None
    run_id: str | None = None
    """The run that ended it; None leaves the row's as it is."""

    def __post_init__(self) -> None:
        if self.status not in ENDED:
            raise ValueError(f"{self.status} does not end a job: release it instead.")
        if self.ttl is not None and self.status in KEPT:
            raise ValueError(f"A job in {self.status} waits for somebody: its row never expires.")


@dataclass(frozen=True, slots=True)
class Release:
    """How a job goes back to the queue."""

    reason: str
    not_before: datetime | None = None
    hold: Hold | None = None
    crashed: bool = False
    """A takeover: the process died under it. Counts a crash, which is not an attempt, and raises
    the epoch, so that nothing a zombie still writes is bound."""


class JobLedger(ABC):
    """The truth. Implementations: DynamoDB, and one in memory for tests."""

    # intake
    @abstractmethod
    def record(self, rows: Sequence[JobRow]) -> list[Recording]:
        """Write each row unless its id is taken, with its outbox row in the same transaction.

        The conditional write *is* the idempotency claim: of any number of callers with one id,
        exactly one gets `Recorded`. Answers stand in the order of *rows*.
        """

    @abstractmethod
    def job(self, job_id: str) -> JobRow | None:
        """Return a row by its id alone, read consistently."""

    @abstractmethod
    def jobs(self, customer: str, job_ids: Iterable[str]) -> dict[str, JobRow]:
        """Return the rows that exist, read consistently."""

    @abstractmethod
    def campaign_jobs(self, customer: str, campaign: str) -> list[JobRow]:
        """Return a campaign's rows by creation time: all pages of the index, so maybe stale."""

    # dispatch
    @abstractmethod
    def due(self, credential: str, customer: str, *, now: datetime, most: int) -> list[JobRow]:
        """Return up to *most* queued, unheld jobs that are due; the index's word, maybe stale."""

    @abstractmethod
    def form(self, wave: Wave) -> None:
        """Write a new wave, ``forming``, with its candidates.

        Raises:
            OwnershipLost: The id is another wave's.
        """

    @abstractmethod
    def claim(self, job_id: str, customer: str, wave_id: str, *, now: datetime) -> Claim | None:
        """Move a queued, unheld job into a wave and raise its epoch; None if it is not so.

        queued -> running, with the outbox row in the same transaction.
        """

    @abstractmethod
    def reclaim(self, job_id: str, customer: str, wave_id: str, *, now: datetime) -> Claim | None:
        """As `claim`, for a job in ``dlq`` (replays + 1) that a person runs again."""

    @abstractmethod
    def formed(self, wave_id: str, jobs: Sequence[str]) -> None:
        """Write the winners' list: not yet running -> formed. An empty list ends the wave.

        Raises:
            OwnershipLost: The wave runs, has ended, or was never written.
        """

    @abstractmethod
    def launched(self, wave_id: str) -> int:
        """Count a launch and return its number; formed or launched -> launched.

        Raises:
            OwnershipLost: The wave runs, has ended, or was never formed.
        """

    @abstractmethod
    def wave(self, wave_id: str) -> Wave | None:
        """Return a wave, read consistently."""

    @abstractmethod
    def open_waves(self) -> list[Wave]:
        """Return the waves that have not ended: proposals, read from an index."""

    # the wave's run
    @abstractmethod
    def start(self, wave_id: str, run_id: str, *, lease_until: datetime) -> Wave | None:
        """Bind the wave to a run, once: None if another run has it or it has ended."""

    @abstractmethod
    def heartbeat(self, wave_id: str, run_id: str, *, lease_until: datetime) -> bool:
        """Extend the lease; False if the wave is not this run's any more."""

    @abstractmethod
    def draining(self, wave_id: str) -> None:
        """Note that the wave needs no more first tickets."""

    @abstractmethod
    def end(self, wave_id: str) -> None:
        """Close the wave; one that has ended stays so."""

    @abstractmethod
    def release(self, claim: Claim, release: Release, *, now: datetime) -> None:
        """Give a job back: running -> queued, with its outbox row.

        Raises:
            OwnershipLost: The row is not the claim's any more.
        """

    @abstractmethod
    def finish(self, claim: Claim, ending: Ending) -> None:
        """Write a terminal status with its outbox row in one transaction.

        Raises:
            OwnershipLost: The row is not the claim's any more.
        """

    # paid calls
    @abstractmethod
    def history(self, job_id: str) -> History:
        """Return everything sent and made for a job, read consistently, all pages."""

    @abstractmethod
    def begin_attempt(self, attempt: Attempt) -> bool:
        """Create the attempt's row; False if it exists: another worker owns the step, stop."""

    @abstractmethod
    def accept_attempt(
        self, attempt: Attempt, *, vendor_id: str, status_url: str, cancel_url: str | None
    ) -> None:
        """Store the vendor's id and URLs, **without any lease or epoch condition**.

        What was paid is never forgotten, even by a worker that lost its lease.
        """

    @abstractmethod
    def close_attempt(
        self, attempt: Attempt, state: AttemptState, *, fault: str, counts: bool
    ) -> None:
        """Note how a send ended that made nothing; unconditional, for the same reason."""

    @abstractmethod
    def bind(self, claim: Claim, result: StepResult, operations: Sequence[Operation]) -> None:
        """Write a step's result and its operation rows, once, under the claim's epoch.

        Raises:
            OwnershipLost: The job is another wave's now; the caller books an orphan instead.
        """

    @abstractmethod
    def book(self, operations: Sequence[Operation]) -> None:
        """Write operation rows that belong to no result (orphans, failures); known ones stay."""
