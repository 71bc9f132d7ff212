"""A job's turn in a wave, in DynamoDB: claim, release, finish.

Belongs here: each move of a job's status, one transaction with its event; nobody is told of a
claim, which has none. Does not: reading rows for people, waves as such. No move reads a row it
could state a condition on: a claim guesses the epoch of a job that was never claimed, and a lost
guess hands the row back.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec, owed_codec, review_codec
from fireflyassets.adapters.aws.attributes import Item
from fireflyassets.adapters.aws.booking import as_read, replayed, settled, written
from fireflyassets.adapters.aws.database import Applied, Cancelled, Committed
from fireflyassets.adapters.aws.expressions import Change, Condition, update
from fireflyassets.adapters.aws.ledger_base import LedgerBase
from fireflyassets.adapters.budget_rules import refused, replays
from fireflyassets.adapters.ledger_rules import FAULTS, as_asked, is_claimable, is_unsettled
from fireflyassets.adapters.outbox import StatusEvent, status_event
from fireflyassets.core.budget import Booking
from fireflyassets.core.errors import OwnershipLost
from fireflyassets.core.ids import delivery_folder
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.ports.budgets import OverBudget
from fireflyassets.ports.entries import Claim, Ending, Release

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        TransactWriteItemTypeDef,
        UpdateTypeDef,
    )

CLAIM_TRIES: Final = 3
"""One by guess, one by what stands there, one more for a job that moved in between."""

_CLAIMER: Final = "claimer"
"""Names the call that claimed a job until its turn ends, so that a retry of it knows its own."""


class LedgerTurns(LedgerBase):
    """The wave's part of the ledger, job by job."""

    def claim(self, job_id: str, customer: str, wave_id: str, *, now: datetime) -> Claim | None:
        """Move a queued, unheld job into a wave and raise its epoch; None if it is not so."""
        epoch = 0
        if wave_id not in self._campaigns:
            row = self._row(job_id, customer)
            if row is None:
                return None
            epoch = row.epoch
            self._remember(wave_id, row.campaign_id)
        for _ in range(CLAIM_TRIES):
            claim = Claim(job_id, customer, wave_id, epoch + 1)
            taken = self._taken(claim, Status.QUEUED, now)
            answer = self._database.update(taken)
            # The client repeats a write whose answer was lost: it may be our own that stands there.
            ours = taken.get("ExpressionAttributeValues", {}).get(f":new_{_CLAIMER}")
            if isinstance(answer, Applied) or (answer.item or {}).get(_CLAIMER) == ours:
                return claim
            stored = codec.job_row(answer.item) if answer.item else None
            if stored is None or not is_claimable(stored):
                return None
            epoch = stored.epoch
        return None

    def reclaim(
        self, job_id: str, customer: str, wave_id: str, *, now: datetime
    ) -> Claim | OverBudget | None:
        """As `claim`, for a job in ``dlq`` (replays + 1) that a person runs again."""
        for _ in range(CLAIM_TRIES):
            row = self._row(job_id, customer)
            if row is None or row.status is not Status.DLQ:
                return None
            asked = replays(row, self._counters_of_row(row), now)
            if over := refused(asked):
                return over
            self._remember(wave_id, row.campaign_id)
            booking = row.booking.renewed(row.cost_estimate) if row.booking else None
            claim = Claim(job_id, customer, wave_id, row.epoch + 1, booking)
            month = booking.month if booking else ""
            more = replayed(self._tables, customer, month, asked)
            as_it_is = as_read(row.booking)
            taken = self._taken(claim, Status.DLQ, now, as_it_is)
            if isinstance(self._database.transact([{"Update": taken}, *more]), Committed):
                return claim
        return None

    def _taken(
        self, claim: Claim, source: Status, now: datetime, booked: Condition | None = None
    ) -> "UpdateTypeDef":
        """Return the move from *source* to running; leaving ``dlq`` passes the queue on its way."""
        replayed = source is Status.DLQ
        ended = ("ttl", "endedAt", "endedKey", "deadKey", "failure") if replayed else ()
        change = Change(
            sets={
                "status": to.text(Status.RUNNING),
                "wave": to.text(claim.wave_id),
                "runningKey": to.text(codec.RUNNING),
                "runningSort": codec.running_sort(claim.wave_id, claim.job_id),
                "epoch": to.number(claim.epoch),
                "updatedAt": to.instant(now),
                _CLAIMER: to.text(uuid4().hex[:12]),
                # Whoever runs a job again may have mended what killed its processes.
                **({"crashes": to.number(0)} if replayed else {}),
                **written(claim.booking),
                **dict.fromkeys(
                    ("queueKey", "queueSort", "notBefore", "reason", "parkedFor", *ended)
                ),
            },
            adds={"replays": 1} if replayed else {},
        )
        condition = Condition(
            "#status = :source AND #epoch = :epoch AND attribute_not_exists(#hold)",
            {":source": to.text(source), ":epoch": to.number(claim.epoch - 1)},
        )
        key = codec.job_key(claim.job_id, claim.customer)
        return update(self._tables.jobs, key, change, condition.and_also(booked))

    def release(self, claim: Claim, release: Release, *, now: datetime) -> Status:
        """Give a job back, or cancel it as asked, with its event; a takeover raises the epoch."""
        change = Change(
            sets={
                "status": to.text(Status.QUEUED),
                "wave": None,
                "reason": to.text(release.reason),
                "parkedFor": None if release.held_by is None else to.text(release.held_by),
                "updatedAt": to.instant(now),
                **codec.at_rest(claim.job_id, unsettled=is_unsettled(release.hold)),
                **_wait(claim.job_id, release),
                **self._line_of(claim, release),
            },
            adds={"epoch": 1, "crashes": 1} if release.crashed else {},
            copies=_line(release),
        )
        event = self._event(claim, Status.QUEUED, claim.epoch + release.crashed, now)
        answer = self._move(claim, change, _unasked(claim), event)
        if isinstance(answer, Committed):
            return Status.QUEUED
        return self._cancel(claim, answer, None, now)

    def finish(self, claim: Claim, ending: Ending) -> Status:
        """Write a terminal status with its event, settle its budgets, and return the status.

        The claim may know what the job takes of budgets; where it is wrong, the row is handed back.
        """
        done = ending.status in {Status.SUCCEEDED, Status.CANCELLED}
        event = self._event(claim, ending.status, claim.epoch, ending.ended_at)
        booked = as_read(claim.booking)
        condition = (owned(claim) if done else _unasked(claim)).and_also(booked)
        after = claim.booking.settled(ending.cost) if claim.booking else None
        of = (claim.job_id, claim.customer)
        more = settled(self._tables, *of, claim.booking, after, ending.ended_at)
        change = ended(claim.customer, event.campaign, claim.job_id, ending, after)
        answer = self._move(claim, change, condition, event, more)
        if isinstance(answer, Committed):
            return ending.status
        row = _row_of(answer)
        if row is not None and row.booking != claim.booking:
            return self.finish(replace(claim, booking=row.booking), ending)
        return self._cancel(claim, answer, ending, ending.ended_at)

    def _cancel(
        self, claim: Claim, answer: Cancelled, ending: Ending | None, at: datetime
    ) -> Status:
        """End a job as asked, if it is that which stood in the way.

        Raises:
            OwnershipLost: It is not; or the job is cancelled, and has moved all the same.
        """
        row = _row_of(answer)
        asked = as_asked(row, ending, at=at) if row else None
        if asked is None or (ending is not None and ending.status is Status.CANCELLED):
            raise lost(claim)
        return self.finish(claim, asked)

    def _event(self, claim: Claim, status: Status, epoch: int, at: datetime) -> StatusEvent:
        return _event(claim, self._campaign_of(claim), status, epoch, at)

    def _move(
        self,
        claim: Claim,
        change: Change,
        condition: Condition,
        event: StatusEvent,
        more: "Sequence[TransactWriteItemTypeDef]" = (),
    ) -> Committed | Cancelled:
        key = codec.job_key(claim.job_id, claim.customer)
        moved = update(self._tables.jobs, key, change, condition)
        return self._database.transact([{"Update": moved}, self._event_put(event), *more])

    def _line_of(self, claim: Claim, release: Release) -> Item:
        """Return what puts a job into another credential's line, for good."""
        if release.credential is None:
            return {}
        line = codec.queue_key(release.credential, claim.customer, self._campaign_of(claim))
        there: Item = {"credential": to.text(release.credential), "queueHome": line}
        return there if release.hold else {**there, "queueKey": line}

    def _campaign_of(self, claim: Claim) -> str:
        if known := self._campaigns.get(claim.wave_id):
            return known
        row = self._row(claim.job_id, claim.customer)
        if row is None:
            raise lost(claim)
        self._remember(claim.wave_id, row.campaign_id)
        return row.campaign_id


def ended(
    customer: str, campaign: str, job_id: str, ending: Ending, booking: Booking | None
) -> Change:
    """Return what an ending writes into a job's row, and what it takes of budgets from then on."""
    folder, is_done = delivery_folder(customer, campaign, job_id), ending.status is Status.SUCCEEDED
    return Change(
        sets={
            "status": to.text(ending.status),
            "reason": None if ending.reason is None else to.text(ending.reason),
            "outputs": to.within(folder, ending.outputs),
            "looks": review_codec.looks_attribute(ending.looks),
            **codec.cost_attributes(job_id, ending.cost),
            **written(booking),
            "updatedAt": to.instant(ending.ended_at),
            **codec.cancel_attributes(None),
            "endedAt": to.instant(ending.ended_at),
            "endedKey": codec.ended_key(job_id, ending.ended_at),
            "deadKey": codec.dead_key(ending.status),
            "ttl": to.epoch(ending.ttl) if ending.ttl else None,
            "failure": None if ending.failure is None else to.text(ending.failure),
            **owed_codec.owing(ending),
            _CLAIMER: None,
            # It goes into no line again; without its place there the row stays below a kilobyte.
            **(dict.fromkeys(("queueHome", "queuePlace")) if is_done else {}),
            **({"runId": to.text(ending.run_id)} if ending.run_id else {}),
        },
        adds={"attempts": 1} if ending.status in FAULTS else {},
    )


def owned(claim: Claim) -> Condition:
    """Return the condition that a job is still the claim's."""
    return Condition(
        "#status = :running AND #wave = :wave AND #epoch = :epoch",
        {
            ":running": to.text(Status.RUNNING),
            ":wave": to.text(claim.wave_id),
            ":epoch": to.number(claim.epoch),
        },
    )


def _unasked(claim: Claim) -> Condition:
    """Return the condition that a job is the claim's and that nobody asked to cancel it."""
    ours = owned(claim)
    return Condition(f"{ours.text} AND attribute_not_exists(#cancelBy)", ours.values)


def lost(claim: Claim) -> OwnershipLost:
    """Return the error of a claim whose condition failed."""
    return OwnershipLost(f"Job {claim.job_id} is not wave {claim.wave_id}'s any more.")


def _event(claim: Claim, campaign: str, status: Status, epoch: int, at: datetime) -> StatusEvent:
    return status_event(
        job_id=claim.job_id,
        customer=claim.customer,
        campaign=campaign,
        epoch=epoch,
        status=status,
        at=at,
    )


def _row_of(answer: Cancelled) -> JobRow | None:
    item = answer.failed.get(0)
    return codec.job_row(item) if item else None


def _wait(job_id: str, release: Release) -> "dict[str, AttributeValueTypeDef | None]":
    """Return what a release says about when the job may be claimed again."""
    later = release.not_before
    parked: Item = {"notBefore": to.instant(later)} if later else {}
    if later and not release.hold:
        parked["queueSort"] = codec.queue_sort(later, job_id)
    held: Item = {"hold": codec.hold_attribute(release.hold)} if release.hold else {}
    return {**parked, **held}


def _line(release: Release) -> dict[str, str]:
    """Return how a released job gets back into its line; a held one stays out."""
    if release.hold:
        return {}
    home = {} if release.credential else {"queueKey": "queueHome"}
    return home if release.not_before else {**home, "queueSort": "queuePlace"}
