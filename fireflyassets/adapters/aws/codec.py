"""Jobs and waves to and from DynamoDB items: one typed codec.

Belongs here: attribute names and index attributes of the tables ``jobs`` and ``waves``. Does not:
other tables (``aws/*_codec.py``), when something is written. What would be None is absent.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from zlib import crc32

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import review_codec
from fireflyassets.adapters.aws.attributes import Item, Reader
from fireflyassets.adapters.aws.budget_codec import booking_attribute, booking_of
from fireflyassets.adapters.ledger_rules import is_claimable
from fireflyassets.core.cause import HeldBy
from fireflyassets.core.failure import class_named
from fireflyassets.core.ids import delivery_folder
from fireflyassets.core.job import Cancel, Hold, JobRow
from fireflyassets.core.money import Cost
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.entries import Wave, WaveState

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

PRIORITY: Final = "5"
"""The one priority there is; the digit leaves room on both sides."""
ENDED_SHARDS: Final = 10
"""Partitions that one day's ended jobs are spread over, so that no day is a hot key."""
OPEN: Final = "open"
"""What the waves that have not ended are found under."""
RUNNING: Final = "running"
"""What the jobs that a wave works on are found under; below, those that an open call may move."""
UNSETTLED: Final = "unsettled"
WAVE_LIFE: Final = timedelta(days=90)
"""How long a wave's row is kept, as long as the jobs it made."""


# -- keys -----------------------------------------------------------------------------------
def job_key(job_id: str, customer: str) -> Item:
    """Return the primary key of a job."""
    return {"jobId": to.text(job_id), "customerId": to.text(customer)}


def wave_key(wave_id: str) -> Item:
    """Return the primary key of a wave."""
    return {"waveId": to.text(wave_id)}


def keys_key(customer: str, campaign: str) -> Item:
    """Return the primary key of who may move a campaign's keys; no wave's id holds a ``#``."""
    return {"waveId": to.text(f"keys#{customer}#{campaign}")}


def queue_key(credential: str, customer: str, campaign: str) -> "AttributeValueTypeDef":
    """Return the line that a queued job stands in; older rows' lines were of no campaign."""
    return to.text("#".join(name for name in (credential, customer, campaign) if name))


def line_of(key: str) -> tuple[str, str, str]:
    """Return (credential, customer, campaign) of a line; no name holds a ``#``."""
    credential, customer, *campaign = key.split("#")
    return credential, customer, "".join(campaign)


def queue_sort(due_at: datetime, job_id: str) -> "AttributeValueTypeDef":
    """Return a queued job's place in its line."""
    return to.text(f"{PRIORITY}#{to.iso(due_at)}#{job_id}")


def queue_bound(now: datetime) -> "AttributeValueTypeDef":
    """Return a bound just behind all places that are due; ``$`` follows ``#``."""
    return to.text(f"{PRIORITY}#{to.iso(now)}$")


def campaign_key(customer: str, campaign: str) -> "AttributeValueTypeDef":
    """Return what a campaign's jobs are found under."""
    return to.text(f"{customer}#{campaign}")


def campaign_sort(created_at: datetime, job_id: str) -> "AttributeValueTypeDef":
    """Return a job's place among its campaign's."""
    return to.text(f"{to.iso(created_at)}#{job_id}")


def dead_key(status: Status) -> "AttributeValueTypeDef | None":
    """Return what jobs in ``dlq`` are found under; None for all others."""
    return to.text(Status.DLQ.value) if status is Status.DLQ else None


def ended_key(job_id: str, ended_at: datetime) -> "AttributeValueTypeDef":
    """Return the day and shard that an ended job is exported under."""
    shard = crc32(job_id.encode()) % ENDED_SHARDS
    return to.text(f"{to.iso(ended_at)[:10]}#{shard}")


def running_sort(wave_id: str, job_id: str) -> "AttributeValueTypeDef":
    """Return a running job's place: beside the others of its wave."""
    return to.text(f"{wave_id}#{job_id}")


def behind_wave(wave_id: str) -> "AttributeValueTypeDef":
    """Return a bound just behind all jobs of a wave; ``$`` follows ``#``."""
    return to.text(f"{wave_id}$")


# -- jobs -----------------------------------------------------------------------------------
def job_item(row: JobRow) -> Item:
    """Return the item of a row, its index attributes included."""
    folder = delivery_folder(row.customer_id, row.campaign_id, row.job_id)
    return to.present(
        {
            **job_key(row.job_id, row.customer_id),
            "campaignId": to.text(row.campaign_id),
            "status": to.text(row.status),
            "inputManifest": to.text(row.input_manifest),
            "outputs": to.within(folder, row.outputs),
            "costEstimate": to.number(row.cost_estimate),
            "createdAt": to.instant(row.created_at),
            "updatedAt": to.instant(row.updated_at),
            "bodyHash": to.text(row.body_hash),
            "idempotencyKey": to.text(row.idempotency_key),
            "credential": to.text(row.credential),
            "campaignVersion": to.text(row.campaign_version),
            "rateCard": to.text(row.rate_card),
            "epoch": to.number(row.epoch),
            "generation": to.number(row.generation),
            "attempts": to.number(row.attempts),
            "crashes": to.number(row.crashes),
            "replays": to.number(row.replays),
            "humanReviewed": to.text(row.human_reviewed),
            **_optional_attributes(row),
            **_index_attributes(row),
        }
    )


def _optional_attributes(row: JobRow) -> "dict[str, AttributeValueTypeDef | None]":
    return {
        "runId": to.text(row.run_id) if row.run_id else None,
        "costActual": None if row.cost_actual is None else to.number(row.cost_actual),
        "costPossible": None if row.cost_possible is None else to.number(row.cost_possible),
        "ttl": to.epoch(row.ttl) if row.ttl else None,
        "wave": to.text(row.wave) if row.wave else None,
        "hold": hold_attribute(row.hold) if row.hold else None,
        "notBefore": to.instant(row.not_before) if row.not_before else None,
        "reason": None if row.reason is None else to.text(row.reason),
        "endedAt": to.instant(row.ended_at) if row.ended_at else None,
        "failure": None if row.failure is None else to.text(row.failure),
        "parkedFor": None if row.parked_for is None else to.text(row.parked_for),
        "booking": booking_attribute(row.booking) if row.booking else None,
        **review_codec.row_attributes(row),
    }


def _index_attributes(row: JobRow) -> "dict[str, AttributeValueTypeDef | None]":
    queued, working = is_claimable(row), row.status is Status.RUNNING
    line = queue_key(row.credential, row.customer_id, row.campaign_id)
    due = queue_sort(row.due_at, row.job_id)
    return {
        "campaignKey": campaign_key(row.customer_id, row.campaign_id),
        "campaignSort": campaign_sort(row.created_at, row.job_id),
        # Where a release puts the job back, without having read its row.
        "queueHome": line,
        "queuePlace": queue_sort(row.created_at, row.job_id),
        "queueKey": line if queued else None,
        "queueSort": due if queued else None,
        "endedKey": ended_key(row.job_id, row.ended_at) if row.ended_at else None,
        "deadKey": dead_key(row.status),
        "runningKey": to.text(RUNNING) if working else None,
        "runningSort": running_sort(row.wave or "", row.job_id) if working else None,
    }


def job_row(item: Item) -> JobRow:
    """Return the row of an item."""
    read = Reader(item)
    folder = delivery_folder(*map(read.text, ("customerId", "campaignId", "jobId")))
    return JobRow(
        job_id=read.text("jobId"),
        customer_id=read.text("customerId"),
        campaign_id=read.text("campaignId"),
        status=Status(read.text("status")),
        run_id=read.maybe_text("runId"),
        input_manifest=read.text("inputManifest"),
        outputs=to.whole(folder, read.texts("outputs")),
        cost_estimate=read.decimal("costEstimate"),
        cost_actual=read.maybe_decimal("costActual"),
        created_at=read.instant("createdAt"),
        updated_at=read.instant("updatedAt"),
        ttl=read.maybe_epoch("ttl"),
        body_hash=read.text("bodyHash"),
        idempotency_key=read.text("idempotencyKey"),
        credential=read.text("credential"),
        campaign_version=read.text("campaignVersion"),
        rate_card=read.maybe_text("rateCard") or "",
        epoch=read.integer("epoch"),
        generation=read.integer("generation"),
        wave=read.maybe_text("wave"),
        hold=hold_of(read.mapping("hold")) if read.has("hold") else None,
        not_before=read.maybe_instant("notBefore"),
        reason=read.maybe_text("reason"),
        attempts=read.integer("attempts"),
        crashes=read.integer("crashes"),
        replays=read.integer("replays"),
        human_reviewed=HumanReview(read.text("humanReviewed")),
        ended_at=read.maybe_instant("endedAt"),
        cost_possible=read.maybe_decimal("costPossible"),
        booking=booking_of(read.mapping("booking")) if read.has("booking") else None,
        cancel=_cancel_of(read),
        failure=class_named(read.maybe_text("failure")),
        parked_for=HeldBy(read.text("parkedFor")) if read.has("parkedFor") else None,
        unsettled=read.maybe_text("runningKey") == UNSETTLED,
        looks=review_codec.looks_of(read),
        judged=review_codec.judged_of(read),
    )


def cost_attributes(job_id: str, cost: Cost) -> "dict[str, AttributeValueTypeDef | None]":
    """Return what an ended job has cost."""
    return {
        "costActual": to.number(cost.certain),
        "costPossible": to.number(cost.possible),
        **at_rest(job_id, unsettled=cost.open),
    }


def at_rest(job_id: str, *, unsettled: bool) -> "dict[str, AttributeValueTypeDef | None]":
    """Return what a job that no wave works on is found under, if an open call may move it."""
    key, sort = (to.text(UNSETTLED), to.text(job_id)) if unsettled else (None, None)
    return {"runningKey": key, "runningSort": sort}


def cancel_attributes(cancel: Cancel | None) -> "dict[str, AttributeValueTypeDef | None]":
    """Return a wish to cancel, or what takes it away."""
    if cancel is None:
        return {"cancelBy": None, "cancelKeep": None}
    keep = to.number(int(cancel.keep.total_seconds()))
    return {"cancelBy": to.text(cancel.by), "cancelKeep": keep}


def _cancel_of(read: Reader) -> Cancel | None:
    if not read.has("cancelBy"):
        return None
    return Cancel(read.text("cancelBy"), timedelta(seconds=read.integer("cancelKeep")))


def hold_attribute(hold: Hold) -> "AttributeValueTypeDef":
    """Return a hold as a map."""
    return to.mapping(
        {"reason": to.text(hold.reason), "since": to.instant(hold.since), "by": to.text(hold.by)}
    )


def hold_of(read: Reader) -> Hold:
    """Return the hold of such a map."""
    return Hold(reason=read.text("reason"), since=read.instant("since"), by=read.text("by"))


# -- waves ----------------------------------------------------------------------------------
def wave_item(wave: Wave) -> Item:
    """Return the item of a wave; it stands in the index until it ends."""
    return to.present(
        {
            **wave_key(wave.wave_id),
            "customer": to.text(wave.customer),
            "campaign": to.text(wave.campaign),
            "campaignVersion": to.text(wave.campaign_version),
            "credential": to.text(wave.credential),
            "state": to.text(wave.state),
            "jobs": to.texts(wave.jobs),
            "formedAt": to.instant(wave.formed_at),
            "launches": to.number(wave.launches),
            "runId": to.text(wave.run_id) if wave.run_id else None,
            "leaseUntil": to.instant(wave.lease_until) if wave.lease_until else None,
            "draining": to.flag(value=wave.draining),
            "ttl": to.epoch(wave.formed_at + WAVE_LIFE),
            "open": None if wave.state is WaveState.ENDED else to.text(OPEN),
        }
    )


def wave_of(item: Item) -> Wave:
    """Return the wave of an item."""
    read = Reader(item)
    return Wave(
        wave_id=read.text("waveId"),
        customer=read.text("customer"),
        campaign=read.text("campaign"),
        campaign_version=read.text("campaignVersion"),
        credential=read.text("credential"),
        state=WaveState(read.text("state")),
        jobs=read.texts("jobs"),
        formed_at=read.instant("formedAt"),
        launches=read.integer("launches"),
        run_id=read.maybe_text("runId"),
        lease_until=read.maybe_instant("leaseUntil"),
        draining=read.flag("draining"),
    )
