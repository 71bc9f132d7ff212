"""Ledgers to check the port's promises on, and the values that such tests write.

Here: a world of one empty ledger with a look at its outbox, and builders with legal defaults. Not
here: promises.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fireflyassets.adapters.aws import budget_codec, event_codec
from fireflyassets.adapters.aws.ledger import DynamoLedger
from fireflyassets.adapters.aws.provision import provision_tables
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.adapters.budget_rules import BudgetEvent
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.outbox import StatusEvent
from fireflyassets.core import ids
from fireflyassets.core.failure import Family
from fireflyassets.core.job import JobRow, Picture, StepResult
from fireflyassets.core.money import Cause, Cost
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Attempt, Claim, Ending, Operation, Recorded, Wave, WaveState
from fireflyassets.ports.ledger import JobLedger

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NOON = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ACME = "acme"
SPRING = "spring"
CREDENTIAL = "acme-main"
WAVE = "w-1"
RUN = "run-1"


@dataclass(frozen=True)
class World:
    """One empty ledger; *outbox* reads the events it has written, by version within a job."""

    ledger: JobLedger
    outbox: Callable[[], list[StatusEvent]]
    budget_outbox: Callable[[], list[BudgetEvent]]

    def queued(self, key: str = "one", **changes: object) -> JobRow:
        """Record a job and return its row."""
        (recording,) = self.ledger.record([job(key, **changes)])
        assert isinstance(recording, Recorded)
        return recording.row

    def running(self, key: str = "one", wave_id: str = WAVE, **changes: object) -> Claim:
        """Record a job, claim it and return the claim."""
        row = self.queued(key, **changes)
        claim = self.ledger.claim(row.job_id, ACME, wave_id, now=NOON)
        assert claim is not None
        return claim

    def ended(self, status: Status, key: str = "one") -> Claim:
        """Bring a job to an ended status and return the claim that did it."""
        claim = self.running(key)
        self.ledger.finish(claim, ending(status))
        return claim

    def row(self, claim: Claim) -> JobRow:
        """Return the claim's job as it stands."""
        row = self.ledger.job(claim.job_id)
        assert row is not None
        return row

    def events(self) -> list[tuple[Status, int]]:
        """Return status and version of every event, in order."""
        return [(event.status, event.version) for event in self.outbox()]


def memory_world() -> World:
    """Return a world in memory."""
    ledger = MemoryLedger()
    return World(
        ledger,
        lambda: sorted(ledger.outbox, key=_order),
        lambda: sorted(ledger.budget_events, key=lambda event: event.event_id),
    )


def dynamo_world(client: "DynamoDBClient", prefix: str) -> World:
    """Return a world in tables of its own, made now."""
    provision_tables(client, Tables(prefix))

    def events(*, of_budgets: bool) -> list[Any]:
        found = scan(client, Tables(prefix).outbox)
        return [item for item in found if ("kind" in item) is of_budgets]

    return World(
        DynamoLedger(client, prefix=prefix),
        lambda: sorted(map(event_codec.event_of, events(of_budgets=False)), key=_order),
        lambda: sorted(
            map(budget_codec.event_of, events(of_budgets=True)),
            key=lambda event: event.event_id,
        ),
    )


def scan(client: "DynamoDBClient", table: str) -> Iterator[Any]:
    """Yield everything in a table."""
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        yield from page["Items"]


def _order(event: StatusEvent) -> tuple[str, int]:
    return (event.job_id, event.version)


def job(key: str = "one", **changes: object) -> JobRow:
    """Return a new job's row."""
    job_id = ids.job_id(ACME, key)
    row = JobRow(
        job_id=job_id,
        customer_id=ACME,
        campaign_id=SPRING,
        status=Status.QUEUED,
        run_id=None,
        input_manifest=f"{ids.manifests_key(ACME, SPRING, 'd' * 64)}#0-99",
        outputs=(),
        cost_estimate=Decimal("3.5"),
        cost_actual=None,
        created_at=NOON,
        updated_at=NOON,
        ttl=None,
        body_hash="h" * 64,
        idempotency_key=key,
        credential=CREDENTIAL,
        campaign_version="v1",
        rate_card="c1",
    )
    return replace(row, **changes)


def wave(wave_id: str = WAVE, **changes: object) -> Wave:
    """Return a wave that begins to form."""
    new = Wave(
        wave_id=wave_id,
        customer=ACME,
        campaign=SPRING,
        campaign_version="v1",
        credential=CREDENTIAL,
        state=WaveState.FORMING,
        jobs=("a", "b"),
        formed_at=NOON,
    )
    return replace(new, **changes)


def ending(status: Status = Status.SUCCEEDED, **changes: object) -> Ending:
    """Return an ending that does not expire."""
    end = Ending(
        status=status,
        reason=None,
        outputs=(),
        cost=Cost(Decimal("3.5"), Decimal("0.5")),
        ended_at=NOON + MINUTE,
        ttl=None,
    )
    return replace(end, **changes)


def attempt(claim: Claim, step: str = "hero", n: int = 1, **changes: object) -> Attempt:
    """Return an attempt before its submit."""
    new = Attempt(
        job_id=claim.job_id,
        step=step,
        generation=1,
        n=n,
        family=Family.FIREFLY,
        organisation="org",
        wave_id=claim.wave_id,
        epoch=claim.epoch,
        submitted_at=NOON,
        output_key=None,
        cause=Cause.FIRST_TRY,
    )
    return replace(new, **changes)


def result(claim: Claim, step: str = "hero", **changes: object) -> StepResult:
    """Return the result of a step."""
    made = StepResult(
        job_id=claim.job_id,
        step=step,
        generation=1,
        n=1,
        picture=Picture("originals/x.jpg", "s" * 64, "image/jpeg", 2048, 1024, 123_456),
        operations=Decimal("1.10"),
        model="image3",
        seed=7,
        facts={"polls": "3"},
    )
    return replace(made, **changes)


def operation(claim: Claim, vendor_id: str = "urn:1", **changes: object) -> Operation:
    """Return what one output costs."""
    row = Operation(
        job_id=claim.job_id,
        vendor_id=vendor_id,
        output=0,
        step="hero",
        generation=1,
        n=1,
        customer=ACME,
        campaign=SPRING,
        operations=Decimal("1.10"),
        rate_card="card-1",
        cause=Cause.FIRST_TRY,
        booked_at=NOON,
    )
    return replace(row, **changes)
