"""Steering: what a customer or an operator does to jobs that are in: cancel, hold, resume.

In: jobs and campaigns by name, who asks and why. Out: the ledger's rows, moved. Spends: nothing.

A wave's job is ended by its wave, which hears of it at its next heartbeat. A campaign's hold is
looked at before each wave is formed, so that what a wave gives back stays back. Each move is
conditional on the row as it was read.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core.job import CAMPAIGN, Cancel, Hold, JobRow
from fireflyassets.core.status import ENDED, Status, may_move
from fireflyassets.fence.standing import awaits_person
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import Ending, Place
from fireflyassets.ports.ledger import JobLedger

CANCELLED: Final = "it is cancelled; jobs sent from now on wait until it is resumed"
"""Why a cancelled campaign is on hold."""
_WRITERS: Final = 16
_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The job has ended, by this call or by an earlier one."""

    row: JobRow


@dataclass(frozen=True, slots=True)
class Cancelling:
    """The wave that has the job ends it, once what is in flight has been called back and heard."""

    row: JobRow


@dataclass(frozen=True, slots=True)
class Kept:
    """The job goes on, or has ended otherwise."""

    reason: str
    fix: str


_MOVED: Final = Kept("The job has moved just now.", "Look how it stands, and ask again.")
_WITH_CAMPAIGN: Final = Kept("The job is held with its campaign.", "Resume the campaign.")
_UNDECIDED: Final = Kept(
    "Nobody knows whether a paid call of the job was taken.",
    "Decide it with fireflyassets fence resolve, then ask again.",
)


_SETTLES: Final = Kept(
    "A paid call of the job has no answer yet; the file that it writes will tell.",
    "Ask again 75 minutes after the call was sent.",
)


@dataclass(frozen=True, slots=True)
class Steering:
    """The use case. *keep* says how long the row of an ended job stays."""

    ledger: JobLedger
    clock: Clock
    keep: Callable[[JobRow], timedelta]

    def cancel(self, row: JobRow, *, by: str) -> Cancelled | Cancelling | Kept:
        """End a job, or have its wave end it; what was billed for it stays booked.

        A call that is in flight is called back by the wave or the sweep, and booked as what it
        comes to: the row says so by and by.
        """
        if row.status is Status.CANCELLED:
            return Cancelled(row)
        if row.status is Status.RUNNING:
            asked = row.cancel or self.ledger.ask_cancel(row, Cancel(by, self.keep(row)))
            now_row = self.ledger.job(row.job_id)
            return Cancelling(now_row) if asked and now_row else _MOVED
        if not may_move(row.status, Status.CANCELLED):
            return Kept(f"The job is {row.status.value} already.", "There is nothing to cancel.")
        history = self.ledger.history(row.job_id)
        now = self.clock.now()
        reason = f"Cancelled by {by}."
        ending = Ending(Status.CANCELLED, reason, (), history.cost, now, now + self.keep(row))
        if not self.ledger.close(row, ending):
            return _MOVED
        ended = self.ledger.job(row.job_id)
        return Cancelled(ended) if ended else _MOVED

    def let_go_on(self, row: JobRow, *, by: str, why: str) -> JobRow | Kept:
        """Lift the hold of a job that waits for a person to look at it, and return it as it is due.

        It goes on after its last finished step, and its tries begin anew. To ask again is safe.
        """
        if row.status in ENDED:
            return Kept(f"The job is {row.status.value} already.", "There is nothing to resume.")
        if row.hold is None:
            return row
        if row.hold.by == CAMPAIGN:
            return _WITH_CAMPAIGN
        history = self.ledger.history(row.job_id)
        mine = [one for one in history.unanswered if one.generation == row.generation]
        now = self.clock.now()
        if any(one.is_unknown for one in mine):
            by_person = any(awaits_person(one, now=now) for one in mine)
            return _UNDECIDED if by_person else _SETTLES
        if not self.ledger.lift(row, now=now, said=f"Resumed by {by}: {why}"):
            return _MOVED
        return self.ledger.job(row.job_id) or _MOVED

    def hold(self, customer: str, campaign: str, *, reason: str, by: str) -> Hold:
        """Put a campaign on hold: nothing of it goes into a wave until it is resumed."""
        now = self.clock.now()
        hold = self.ledger.hold_campaign(customer, campaign, _of_campaign(reason, by, now))
        queued = self._rows(customer, campaign, Status.QUEUED)
        _each(lambda row: self.ledger.hold_with_campaign(row, hold, now=now), queued)
        return hold

    def resume(self, customer: str, campaign: str) -> None:
        """Let a campaign go on; its jobs are due at once. To ask again is safe."""
        self.ledger.resume_campaign(customer, campaign)
        now = self.clock.now()
        mine = (
            row
            for row in self._rows(customer, campaign, Status.QUEUED)
            if row.hold is not None and row.hold.by == CAMPAIGN
        )
        _each(lambda row: self.ledger.lift(row, now=now), mine)

    def cancel_all(self, customer: str, campaign: str, *, by: str) -> None:
        """Put a campaign on hold and cancel its jobs; those that run are ended by their waves."""
        # In the place of an earlier hold, whose words would be kept: at no moment may a wave begin.
        self.ledger.hold_campaign(
            customer, campaign, _of_campaign(CANCELLED, by, self.clock.now()), anew=True
        )
        for status in (Status.QUEUED, Status.RUNNING, Status.DLQ, Status.REVIEW):
            waiting = self._rows(customer, campaign, status)
            _each(lambda row: self.cancel(row, by=by), waiting)

    def _rows(self, customer: str, campaign: str, status: Status) -> Iterator[JobRow]:
        """Yield the campaign's rows of one status as they are, not as the index has them."""
        after: Place | None = None
        while True:
            page = self.ledger.campaign_page(
                customer, campaign, after=after, status=status, most=_PAGE
            )
            yield from self.ledger.jobs(customer, [row.job_id for row in page]).values()
            if len(page) < _PAGE:
                return
            after = Place(page[-1].created_at, page[-1].job_id)


def _of_campaign(reason: str, by: str, now: datetime) -> Hold:
    return Hold(f"The campaign is on hold ({by}): {reason}", now, CAMPAIGN)


def held_with_campaign(
    ledger: JobLedger, rows: Sequence[JobRow], *, now: datetime
) -> dict[str, JobRow]:
    """Put the hold of their campaign, if it has one, on new *rows*; return those it holds, by id.

    Dispatch would hold them as well, and only then would their reason say what they wait for.
    """
    hold = ledger.campaign_hold(rows[0].customer_id, rows[0].campaign_id) if rows else None
    if hold is None:
        return {}
    held: dict[str, JobRow] = {}

    def put(row: JobRow) -> None:
        if ledger.hold_with_campaign(row, hold, now=now):
            held[row.job_id] = replace(row, hold=hold, reason=hold.reason, updated_at=now)

    _each(put, rows)
    return held


def _each(move: Callable[[JobRow], object], rows: Iterable[JobRow]) -> None:
    """Move many rows side by side: thousands would else take minutes."""
    with ThreadPoolExecutor(_WRITERS, thread_name_prefix="steering") as writers:
        list(writers.map(move, rows))
