"""The ledger as a port: the truth about every job, wave and paid call.

Belongs here: what may be written, under which condition. Every decision is a conditional write
on the base row; index reads are stale and only propose. Does not belong here: keys, expressions.
All calls block; the wave's loop hands them to threads. Times come from the caller's clock.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime

from fireflyassets.core.budget import Block
from fireflyassets.core.job import Cancel, Hold, JobRow, StepResult
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.ports.briefs import BriefLedger
from fireflyassets.ports.budgets import BudgetLedger, OverBudget
from fireflyassets.ports.dead import DeadJobs
from fireflyassets.ports.entries import (
    Attempt,
    AttemptState,
    Claim,
    Decision,
    Ending,
    History,
    Operation,
    Place,
    Recording,
    Release,
    Resumed,
)
from fireflyassets.ports.reviews import ReviewLedger
from fireflyassets.ports.waves import WaveLedger


class JobLedger(WaveLedger, BudgetLedger, BriefLedger, DeadJobs, ReviewLedger):
    """The truth. Implementations: DynamoDB, and one in memory for tests."""

    # intake
    @abstractmethod
    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        """Write each row unless its id is taken, with its outbox row in the same transaction.

        The conditional write *is* the idempotency claim: one caller alone gets `Recorded`. What a
        row's booking holds leaves the *block* with its write; one that holds nothing needs none.
        Up to `ROWS_AT_ONCE` are written all or none; of more, some may be where it fails.

        Raises:
            ReservationLapsed: The block is gone.
        """

    @abstractmethod
    def ready(self) -> None:
        """Return where the ledger takes writes now; nothing is written.

        Raises:
            StoreUnavailable: It does not.
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

    @abstractmethod
    def campaign_page(
        self,
        customer: str,
        campaign: str,
        *,
        after: Place | None,
        status: Status | None = None,
        is_held: bool = False,
        most: int,
        newest_first: bool = False,
    ) -> list[JobRow]:
        """Return up to *most* of those rows behind *after*; those recorded meanwhile come last.

        With *is_held* those on hold alone. With *newest_first* the order is the other way round,
        and so is what is behind.
        """

    # dispatch
    @abstractmethod
    def due(
        self, credential: str, customer: str, campaign: str, *, now: datetime, most: int
    ) -> list[JobRow]:
        """Return up to *most* queued, unheld jobs that are due; the index's word, maybe stale."""

    @abstractmethod
    def lines(self) -> set[tuple[str, str, str]]:
        """Return every (credential, customer, campaign) with an unheld job.

        Slow: from all that is queued. Lines of before campaigns had their own name none.
        """

    @abstractmethod
    def claim(self, job_id: str, customer: str, wave_id: str, *, now: datetime) -> Claim | None:
        """Move a queued, unheld job into a wave and raise its epoch; None if it is not so.

        queued -> running; nobody is told of it, so it has no outbox row.
        """

    @abstractmethod
    def reclaim(
        self, job_id: str, customer: str, wave_id: str, *, now: datetime
    ) -> Claim | OverBudget | None:
        """As `claim`, for a job in ``dlq`` (replays + 1) that a person runs again.

        It reserves anew what is still to come, of the month it was accepted in.
        """

    # the wave's run
    @abstractmethod
    def release(self, claim: Claim, release: Release, *, now: datetime) -> Status:
        """Give a job back: running -> queued, with its outbox row; or end it, if that was asked.

        Raises:
            OwnershipLost: The row is not the claim's any more.
        """

    @abstractmethod
    def finish(self, claim: Claim, ending: Ending) -> Status:
        """Write a terminal status with its outbox row; cancelled instead of a fault, if asked.

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
        self,
        attempt: Attempt,
        *,
        vendor_id: str,
        status_url: str,
        cancel_url: str | None,
        operations: Sequence[Operation],
    ) -> None:
        """Store the vendor's id and URLs, **without any lease or epoch condition**.

        In the same transaction its operation rows take the place of those by the send's own name.
        """

    @abstractmethod
    def close_attempt(
        self,
        attempt: Attempt,
        state: AttemptState,
        *,
        fault: str,
        counts: bool,
        operations: Sequence[Operation] = (),
    ) -> None:
        """Note unconditionally how a send ended that made nothing, and `book` its cost."""

    @abstractmethod
    def bind(self, claim: Claim, result: StepResult, operations: Sequence[Operation]) -> None:
        """Write a step's result and state its operation rows, under the claim's epoch.

        Another send's result stays, and the rows are orphaned then.

        Raises:
            OwnershipLost: The job is another wave's now, which collects the same vendor job.
        """

    @abstractmethod
    def book(self, operations: Sequence[Operation]) -> None:
        """Write rows that belong to no result, over those that say accepted-but-failed."""

    # what the dead left behind
    @abstractmethod
    def open_attempts(
        self, *, before: datetime, after: datetime | None = None, most: int
    ) -> list[Attempt]:
        """Return up to *most* sends that are owed an answer, the oldest first.

        Those submitted before *before* and, if given, after *after*: accepted and not bound, or
        unknown and not decided. An index proposes them.
        """

    @abstractmethod
    def stranded(self, *, most: int) -> list[JobRow]:
        """Return up to *most* jobs that run under a wave that has ended: no open wave has them."""

    @abstractmethod
    def unsettled(self, *, after: str | None, most: int) -> list[JobRow]:
        """Return up to *most* unsettled rows by job id, behind *after*; an index proposes them."""

    @abstractmethod
    def adopt(self, row: JobRow, result: StepResult, operations: Sequence[Operation]) -> bool:
        """As `bind`, for a job that no wave works on, under the row's status and epoch.

        False, and nothing is written, if the job has moved since *row* was read.

        Raises:
            ValueError: *row* is running: its wave binds.
        """

    @abstractmethod
    def decide(
        self,
        row: JobRow,
        attempt: Attempt,
        decision: Decision,
        move: Resumed | Ending | None,
        operations: Sequence[Operation],
    ) -> bool:
        """Write a decision on an unknown send, what it books and how its job moves: all or nothing.

        *move* None leaves the job as it is; an ending raises the epoch. False, and nothing is
        written, if the send or the job has moved since both were read.
        """

    @abstractmethod
    def recost(self, row: JobRow, cost: Cost) -> bool:
        """Write what an ended job costs, unsettled if open; False if *row*, cost too, has moved."""

    @abstractmethod
    def lift(self, row: JobRow, *, now: datetime, said: str | None = None) -> bool:
        """Take the hold that *row* shows off its job, which is due then; False if it has moved.

        *said*, a person's word, is its reason until a wave takes it, and a replay as by `reclaim`.
        """

    # steering
    @abstractmethod
    def close(self, row: JobRow, ending: Ending) -> bool:
        """End a job that no wave works on, with its outbox row, and raise its epoch.

        False, and nothing is written, if the job has moved since *row* was read.

        Raises:
            ValueError: *row* is running: its wave ends it.
        """

    @abstractmethod
    def ask_cancel(self, row: JobRow, cancel: Cancel) -> bool:
        """Note on a running job that whoever has it is to end it; False if it has moved."""

    @abstractmethod
    def hold_campaign(
        self, customer: str, campaign: str, hold: Hold, *, anew: bool = False
    ) -> Hold:
        """Put a campaign on hold, and return the hold that stands: the first one.

        With *anew* it takes the place of an earlier one, in one write.
        """

    @abstractmethod
    def campaign_hold(self, customer: str, campaign: str) -> Hold | None:
        """Return a campaign's hold, read consistently."""

    @abstractmethod
    def resume_campaign(self, customer: str, campaign: str) -> None:
        """Take a campaign's hold away; its jobs keep theirs until they are lifted."""

    @abstractmethod
    def hold_with_campaign(self, row: JobRow, hold: Hold, *, now: datetime) -> bool:
        """Put its campaign's hold on a queued job, which leaves its line.

        False, and nothing is written, if the job or its campaign has moved.
        """
