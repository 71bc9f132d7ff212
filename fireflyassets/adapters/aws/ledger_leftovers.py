"""What the dead left behind, in the DynamoDB ledger: open sends, stranded jobs, decisions.

Belongs here: the part of the port that sweeps and people use. Does not: what a wave does. An index
proposes; whatever is written states on the base rows that nothing has moved.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec, work_codec
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.booking import as_read, settled, written
from fireflyassets.adapters.aws.database import Applied, Committed, query
from fireflyassets.adapters.aws.expressions import Change, Condition, check, update
from fireflyassets.adapters.aws.ledger_calls import LedgerCalls, noted
from fireflyassets.adapters.aws.ledger_turns import ended
from fireflyassets.adapters.aws.tables import OPEN_CALLS, RUNNING
from fireflyassets.adapters.ledger_rules import check_unowned, decided
from fireflyassets.adapters.outbox import StatusEvent, status_event
from fireflyassets.core.budget import Booking
from fireflyassets.core.job import JobRow, StepResult
from fireflyassets.core.money import Cost
from fireflyassets.core.status import ENDED, Status
from fireflyassets.ports.entries import Attempt, Decision, Ending, Operation, Resumed, WaveState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_EARLIEST: Final = " "
"""Sorts before every time and every wave id."""


class LedgerLeftovers(LedgerCalls):
    """The sweeps' and the operators' part of the ledger."""

    def open_attempts(
        self, *, before: datetime, after: datetime | None = None, most: int
    ) -> list[Attempt]:
        """Return up to *most* sends that are owed an answer, the oldest first."""
        start = work_codec.open_bound(after, behind=True) if after else to.text(_EARLIEST)
        condition = Condition(
            "#open = :open AND #openAt BETWEEN :after AND :before",
            {
                ":open": to.text(work_codec.OPEN),
                ":after": start,
                ":before": work_codec.open_bound(before, behind=False),
            },
        )
        found = self._database.pages(query(self._tables.work, condition, index=OPEN_CALLS.name))
        keys: list[Item] = [
            {"jobId": item["jobId"], "sk": item["sk"]} for item in islice(found, most)
        ]
        items = self._database.get_many(self._tables.work, keys)
        still = [work_codec.attempt_of(item) for item in items if Reader(item).has("open")]
        mine = [one for one in still if one and one.is_open]
        return sorted(mine, key=lambda one: (one.submitted_at, one.job_id, one.step, one.n))

    def stranded(self, *, most: int) -> list[JobRow]:
        """Return up to *most* jobs that run under a wave that has ended or is gone.

        One request for each wave that has running jobs, not for each job.
        """
        seen = list(self._waves_at_work())
        keys = [codec.wave_key(wave_id) for wave_id in seen]
        waves = map(codec.wave_of, self._database.get_many(self._tables.waves, keys))
        alive = {wave.wave_id for wave in waves if wave.state is not WaveState.ENDED}
        rows: list[JobRow] = []
        for wave_id in seen:
            if wave_id not in alive and len(rows) < most:
                rows += self._running_under(wave_id, most - len(rows))
        return rows

    def _waves_at_work(self) -> Iterator[str]:
        """Yield the waves of running jobs by the index, jumping from each to the next."""
        place = to.text(_EARLIEST)
        while True:
            condition = Condition(
                "#runningKey = :running AND #runningSort > :place",
                {":running": to.text(codec.RUNNING), ":place": place},
            )
            request = query(self._tables.jobs, condition, index=RUNNING.name)
            item = next(self._database.pages({**request, "Limit": 1}), None)
            if item is None:
                return
            wave_id, _, _ = Reader(item).text("runningSort").rpartition("#")
            yield wave_id
            place = codec.behind_wave(wave_id)

    def _running_under(self, wave_id: str, most: int) -> list[JobRow]:
        condition = Condition(
            "#runningKey = :running AND begins_with(#runningSort, :wave)",
            {":running": to.text(codec.RUNNING), ":wave": codec.running_sort(wave_id, "")},
        )
        rows = self._found(condition, most)
        mine = [row for row in rows if row.status is Status.RUNNING and row.wave == wave_id]
        return sorted(mine, key=lambda row: row.job_id)

    def unsettled(self, *, after: str | None, most: int) -> list[JobRow]:
        """Return up to *most* unsettled rows by job id, behind *after*."""
        condition = Condition(
            "#runningKey = :unsettled AND #runningSort > :after",
            {":unsettled": to.text(codec.UNSETTLED), ":after": to.text(after or _EARLIEST)},
        )
        rows = self._found(condition, most)
        return sorted((row for row in rows if row.unsettled), key=lambda row: row.job_id)

    def _found(self, condition: Condition, most: int) -> Iterator[JobRow]:
        """Return the first rows of the index, as they are."""
        found = self._database.pages(query(self._tables.jobs, condition, index=RUNNING.name))
        keys: list[Item] = [
            {"jobId": item["jobId"], "customerId": item["customerId"]}
            for item in islice(found, most)
        ]
        return map(codec.job_row, self._database.get_many(self._tables.jobs, keys))

    def adopt(self, row: JobRow, result: StepResult, operations: Sequence[Operation]) -> bool:
        """As `bind`, for a job that no wave works on."""
        check_unowned(row)
        key = codec.job_key(row.job_id, row.customer_id)
        guard: TransactWriteItemTypeDef = {
            "ConditionCheck": check(self._tables.jobs, key, unmoved(row))
        }
        return self._make(guard, result, operations)

    def decide(
        self,
        row: JobRow,
        attempt: Attempt,
        decision: Decision,
        move: Resumed | Ending | None,
        operations: Sequence[Operation],
    ) -> bool:
        """Write a decision on an unknown send, what it books and how its job moves."""
        after = decided(attempt, decision)
        change = noted(after).and_also(work_codec.booked(operations))
        key = work_codec.attempt_key(attempt)
        send = update(self._tables.work, key, change, _undecided(attempt))
        writes: list[TransactWriteItemTypeDef] = [self._moved(row, move), {"Update": send}]
        if isinstance(move, Ending):
            writes.append(self._event_put(closing_event(row, move)))
            writes += self._settled(row, booked_at_end(row, move.cost), move.ended_at)
        return isinstance(self._database.transact(writes), Committed)

    def recost(self, row: JobRow, cost: Cost) -> bool:
        """Write what an ended job has cost by now; False if it has moved."""
        key = codec.job_key(row.job_id, row.customer_id)
        after = booked_at_end(row, cost) if row.status in ENDED else row.booking
        change = Change({**codec.cost_attributes(row.job_id, cost), **written(after)})
        as_read, known = unmoved(row), row.cost
        told: Item = {":actual": to.number(known.certain), ":possible": to.number(known.possible)}
        condition = Condition(
            f"{as_read.text} AND #costActual = :actual AND #costPossible = :possible",
            {**as_read.values, **told},
        )
        recosted: TransactWriteItemTypeDef = {
            "Update": update(self._tables.jobs, key, change, condition)
        }
        more = self._settled(row, after, row.updated_at)
        return isinstance(self._database.transact([recosted, *more]), Committed)

    def _settled(
        self, row: JobRow, after: Booking | None, at: datetime
    ) -> "list[TransactWriteItemTypeDef]":
        return settled(self._tables, row.job_id, row.customer_id, row.booking, after, at)

    def lift(self, row: JobRow, *, now: datetime, said: str | None = None) -> bool:
        """Take the hold that *row* shows off its job; False if it has moved."""
        if row.hold is None:
            return False
        key = codec.job_key(row.job_id, row.customer_id)
        change = _resumed(row, now)
        if said is not None:
            sets = {**change.sets, "reason": to.text(said), "crashes": to.number(0)}
            change = replace(change, sets=sets, adds={"replays": 1})
        request = update(self._tables.jobs, key, change, unmoved(row))
        return isinstance(self._database.update(request), Applied)

    def _moved(self, row: JobRow, move: Resumed | Ending | None) -> "TransactWriteItemTypeDef":
        key, as_read = codec.job_key(row.job_id, row.customer_id), unmoved(row)
        if move is None:
            return {"ConditionCheck": check(self._tables.jobs, key, as_read)}
        change = _resumed(row, move.at) if isinstance(move, Resumed) else closed(row, move)
        return {"Update": update(self._tables.jobs, key, change, as_read)}


def unmoved(row: JobRow) -> Condition:
    """Return the condition that a job stands as it was read: status, epoch, hold and booking."""
    values: Item = {":status": to.text(row.status), ":epoch": to.number(row.epoch)}
    held = "attribute_not_exists(#hold)"
    if row.hold is not None:
        values[":since"] = to.instant(row.hold.since)
        held = "#hold.#since = :since"
    stands = Condition(f"#status = :status AND #epoch = :epoch AND {held}", values)
    return stands.and_also(as_read(row.booking))


def _undecided(attempt: Attempt) -> Condition:
    """Return the condition that a send stands as it was read: state, id and decision."""
    values: Item = {":state": to.text(attempt.state)}
    parts = ["#state = :state"]
    for name, value in (
        ("vendorId", attempt.vendor_id),
        ("decidedAt", to.iso(attempt.decision.at) if attempt.decision else None),
    ):
        if value is None:
            parts.append(f"attribute_not_exists(#{name})")
        else:
            parts.append(f"#{name} = :{name}")
            values[f":{name}"] = to.text(value)
    return Condition(" AND ".join(parts), values)


def _resumed(row: JobRow, at: datetime) -> Change:
    return Change(
        sets={
            "hold": None,
            "reason": None,
            "notBefore": to.instant(at),
            "updatedAt": to.instant(at),
            "queueSort": codec.queue_sort(at, row.job_id),
            **codec.at_rest(row.job_id, unsettled=False),
        },
        copies={"queueKey": "queueHome"},
    )


def closed(row: JobRow, ending: Ending) -> Change:
    """Return what the end of a job that no wave works on writes: a new epoch, out of its line."""
    of = (row.customer_id, row.campaign_id, row.job_id)
    change = ended(*of, ending, booked_at_end(row, ending.cost))
    gone = dict.fromkeys(("hold", "notBefore", "queueKey", "queueSort"))
    return replace(change, sets={**change.sets, **gone}, adds={**change.adds, "epoch": 1})


def booked_at_end(row: JobRow, cost: Cost) -> Booking | None:
    """Return what a job takes of budgets once it has ended at a cost."""
    return row.booking.settled(cost) if row.booking else None


def closing_event(row: JobRow, ending: Ending) -> StatusEvent:
    """Return the event of that end."""
    return status_event(
        job_id=row.job_id,
        customer=row.customer_id,
        campaign=row.campaign_id,
        epoch=row.epoch + 1,
        status=ending.status,
        at=ending.ended_at,
    )
