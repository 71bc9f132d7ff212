"""The job ledger in memory. It keeps every promise of the port, races included.

Belongs here: rows in dictionaries under one lock. Does not: what a job's row becomes at each move
(``memory/turns.py``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from fireflyassets.adapters.ledger_rules import (
    BEFORE_RUN,
    STARTABLE,
    check_forming,
    is_claimable,
    is_runs,
)
from fireflyassets.adapters.memory import turns
from fireflyassets.adapters.memory.dead import MemoryDead
from fireflyassets.adapters.memory.judging import MemoryJudging
from fireflyassets.adapters.outbox import StatusEvent
from fireflyassets.core.errors import OwnershipLost
from fireflyassets.core.job import JobRow, StepResult
from fireflyassets.core.status import Status
from fireflyassets.ports.budgets import OverBudget
from fireflyassets.ports.entries import (
    Attempt,
    AttemptState,
    Claim,
    Ending,
    History,
    Operation,
    Place,
    Release,
    Wave,
    WaveState,
)
from fireflyassets.ports.ledger import JobLedger


class MemoryLedger(MemoryDead, MemoryJudging, JobLedger):
    """The truth of one process. *outbox* holds the events in the order of their writing."""

    @property
    def outbox(self) -> tuple[StatusEvent, ...]:
        """The events written so far."""
        with self._lock:
            return tuple(self._outbox)

    # -- intake -----------------------------------------------------------------------------
    def ready(self) -> None:
        """Return: memory takes writes always."""

    def job(self, job_id: str) -> JobRow | None:
        """Return a row by its id alone."""
        with self._lock:
            return self._rows.get(job_id)

    def jobs(self, customer: str, job_ids: Iterable[str]) -> dict[str, JobRow]:
        """Return the rows that exist."""
        with self._lock:
            found = {job_id: self._rows.get(job_id) for job_id in job_ids}
        return {
            job_id: row
            for job_id, row in found.items()
            if row is not None and row.customer_id == customer
        }

    def campaign_jobs(self, customer: str, campaign: str) -> list[JobRow]:
        """Return a campaign's rows by creation time."""
        with self._lock:
            rows = list(self._rows.values())
        mine = [row for row in rows if (row.customer_id, row.campaign_id) == (customer, campaign)]
        return sorted(mine, key=lambda row: (row.created_at, row.job_id))

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
        """Return up to *most* of those rows that come behind *after*."""
        rows = [
            row
            for row in self.campaign_jobs(customer, campaign)
            if status in {None, row.status} and (row.hold or not is_held)
        ]
        if after:
            bound = (after.created_at, after.job_id)
            rows = [
                row
                for row in rows
                if (row.created_at, row.job_id) != bound
                and ((row.created_at, row.job_id) < bound) is newest_first
            ]
        return (rows[::-1] if newest_first else rows)[:most]

    # -- dispatch ---------------------------------------------------------------------------
    def due(
        self, credential: str, customer: str, campaign: str, *, now: datetime, most: int
    ) -> list[JobRow]:
        """Return up to *most* queued, unheld jobs that are due, the longest due first."""
        with self._lock:
            rows = list(self._rows.values())
        mine = [
            row
            for row in rows
            if _line_of(row) == (credential, customer, campaign)
            and is_claimable(row)
            and row.due_at <= now
        ]
        return sorted(mine, key=lambda row: (row.due_at, row.job_id))[:most]

    def lines(self) -> set[tuple[str, str, str]]:
        """Return (credential, customer, campaign) of every line that an unheld job waits in."""
        with self._lock:
            rows = list(self._rows.values())
        return {_line_of(row) for row in rows if is_claimable(row)}

    def claim(self, job_id: str, customer: str, wave_id: str, *, now: datetime) -> Claim | None:
        """Move a queued, unheld job into a wave and raise its epoch; None if it is not so."""
        with self._lock:
            row = self._rows.get(job_id)
            if row is None or row.customer_id != customer or not is_claimable(row):
                return None
            return self._take(turns.claimed(row, wave_id, now))

    def reclaim(
        self, job_id: str, customer: str, wave_id: str, *, now: datetime
    ) -> Claim | OverBudget | None:
        """As `claim`, for a job in ``dlq`` (replays + 1) that a person runs again."""
        with self._lock:
            row = self._rows.get(job_id)
            if row is None or row.customer_id != customer or row.status is not Status.DLQ:
                return None
            if over := self._book.refusal(row, now):
                return over
            return self._take(turns.reclaimed(row, wave_id, now))

    def _take(self, row: JobRow) -> Claim:
        self._keep(row)
        return Claim.standing(row)

    def release(self, claim: Claim, release: Release, *, now: datetime) -> Status:
        """Give a job back, or cancel it as asked, with its outbox row; return its status."""
        with self._lock:
            row = turns.released(self._owned(claim), release, now)
            self._write(row)
            return row.status

    def finish(self, claim: Claim, ending: Ending) -> Status:
        """Write a terminal status with its outbox row, and return it."""
        with self._lock:
            row = turns.finished(self._owned(claim), ending)
            self._write(row)
            return row.status

    def _owned(self, claim: Claim) -> JobRow:
        row = self._rows.get(claim.job_id)
        if row is None or not turns.is_owned(row, claim):
            raise OwnershipLost(f"Job {claim.job_id} is not wave {claim.wave_id}'s any more.")
        return row

    # -- waves ------------------------------------------------------------------------------
    def form(self, wave: Wave) -> None:
        """Write a new wave, ``forming``, with its candidates."""
        check_forming(wave)
        with self._lock:
            if self._waves.setdefault(wave.wave_id, wave) != wave:
                raise OwnershipLost(f"Wave {wave.wave_id} exists already.")

    def formed(self, wave_id: str, jobs: Sequence[str]) -> None:
        """Write the winners' list; an empty list ends the wave."""
        with self._lock:
            wave = self._wave_in(wave_id, BEFORE_RUN)
            state = WaveState.FORMED if jobs else WaveState.ENDED
            self._waves[wave_id] = replace(wave, state=state, jobs=tuple(jobs))

    def launched(self, wave_id: str) -> int:
        """Count a launch and return its number."""
        with self._lock:
            wave = self._wave_in(wave_id, STARTABLE)
            launches = wave.launches + 1
            self._waves[wave_id] = replace(wave, state=WaveState.LAUNCHED, launches=launches)
            return launches

    def _wave_in(self, wave_id: str, states: frozenset[WaveState]) -> Wave:
        wave = self._waves.get(wave_id)
        if wave is None or wave.state not in states:
            raise OwnershipLost(f"Wave {wave_id} runs already, has ended, or was never formed.")
        return wave

    def wave(self, wave_id: str) -> Wave | None:
        """Return a wave."""
        with self._lock:
            return self._waves.get(wave_id)

    def open_waves(self) -> list[Wave]:
        """Return the waves that have not ended, the oldest first."""
        with self._lock:
            waves = [wave for wave in self._waves.values() if wave.state is not WaveState.ENDED]
        return sorted(waves, key=lambda wave: (wave.formed_at, wave.wave_id))

    def start(self, wave_id: str, run_id: str, *, lease_until: datetime) -> Wave | None:
        """Bind the wave to a run, once, whichever run asks again."""
        with self._lock:
            wave = self._waves.get(wave_id)
            if wave is None or wave.state not in STARTABLE:
                return None
            started = replace(wave, state=WaveState.RUNNING, run_id=run_id, lease_until=lease_until)
            self._waves[wave_id] = started
            return started

    def heartbeat(self, wave_id: str, run_id: str, *, lease_until: datetime) -> bool:
        """Extend the lease; False if the wave is not this run's any more."""
        with self._lock:
            wave = self._waves.get(wave_id)
            if wave is None or not is_runs(wave, run_id):
                return False
            self._waves[wave_id] = replace(wave, lease_until=lease_until)
            return True

    def draining(self, wave_id: str) -> None:
        """Note that the wave needs no more first tickets; an unknown wave stays unknown."""
        with self._lock:
            if wave := self._waves.get(wave_id):
                self._waves[wave_id] = replace(wave, draining=True)

    def end(self, wave_id: str) -> None:
        """Close the wave; one that has ended stays so, an unknown one stays unknown."""
        with self._lock:
            if wave := self._waves.get(wave_id):
                self._waves[wave_id] = replace(wave, state=WaveState.ENDED)

    # -- paid calls -------------------------------------------------------------------------
    def history(self, job_id: str) -> History:
        """Return everything sent and made for a job."""
        with self._lock:
            return self._calls.history(job_id)

    def begin_attempt(self, attempt: Attempt) -> bool:
        """Create the attempt's row; False if it exists."""
        with self._lock:
            return self._calls.begin(attempt)

    def accept_attempt(
        self,
        attempt: Attempt,
        *,
        vendor_id: str,
        status_url: str,
        cancel_url: str | None,
        operations: Sequence[Operation],
    ) -> None:
        """Store the vendor's id and URLs without any condition, and book the send."""
        urls = {"status_url": status_url, "cancel_url": cancel_url, "vendor_id": vendor_id}
        with self._lock:
            self._calls.accept(replace(attempt, state=AttemptState.ACCEPTED, **urls), operations)

    def close_attempt(
        self,
        attempt: Attempt,
        state: AttemptState,
        *,
        fault: str,
        counts: bool,
        operations: Sequence[Operation] = (),
    ) -> None:
        """Note how a send ended that made nothing; the vendor's id, if any, stays."""
        with self._lock:
            self._calls.note(replace(attempt, state=state, fault=fault, counts=counts))
            self._calls.book(operations)

    def bind(self, claim: Claim, result: StepResult, operations: Sequence[Operation]) -> None:
        """Write a step's result and state its operation rows; another send's result stays."""
        with self._lock:
            self._owned(claim)
            self._calls.bind(result, operations)

    def book(self, operations: Sequence[Operation]) -> None:
        """Write operation rows that belong to no result."""
        with self._lock:
            self._calls.book(operations)


def _line_of(row: JobRow) -> tuple[str, str, str]:
    return row.credential, row.customer_id, row.campaign_id
