"""Rows to and from DynamoDB items.

Here: round trips of anything the types allow, and the names and index attributes that others read.
Not here: writes.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fireflyassets.adapters.aws import attributes, codec, event_codec, work_codec
from fireflyassets.adapters.outbox import StatusEvent
from fireflyassets.core import ids
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.job import Hold, JobRow, Picture, StepResult
from fireflyassets.core.status import ENDED, Status
from fireflyassets.ports.entries import Attempt, Operation, Wave, WaveState
from fireflyassets_tests.contracts.ledgers import MINUTE, NOON, job, wave

UNHURRIED = settings(
    # A busy machine is not a defect of the codec.
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
AMOUNTS = st.decimals(0, 10**9, places=6)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSTANTS = st.integers(0, 7_000_000_000_000).map(lambda ms: EPOCH + timedelta(milliseconds=ms))
SECONDS = INSTANTS.map(lambda at: at.replace(microsecond=0))
HOLDS = st.builds(Hold, reason=TEXTS, since=INSTANTS, by=TEXTS)
JOBS = st.builds(
    JobRow,
    job_id=NAMES,
    customer_id=NAMES,
    run_id=st.none() | NAMES,
    outputs=st.lists(TEXTS.filter(lambda key: not key.startswith("/"))).map(tuple),
    cost_estimate=AMOUNTS,
    cost_actual=st.none() | AMOUNTS,
    cost_possible=st.none() | AMOUNTS,
    created_at=INSTANTS,
    updated_at=INSTANTS,
    ttl=st.none() | SECONDS,
    wave=st.none() | NAMES,
    hold=st.none() | HOLDS,
    not_before=st.none() | INSTANTS,
    reason=st.none() | TEXTS,
    ended_at=st.none() | INSTANTS,
)
WAVES = st.builds(
    Wave,
    wave_id=NAMES,
    jobs=st.lists(TEXTS).map(tuple),
    formed_at=INSTANTS,
    run_id=st.none() | NAMES,
    lease_until=st.none() | INSTANTS,
)
OPTIONAL_TEXTS = st.none() | TEXTS
ATTEMPTS = st.builds(
    Attempt,
    generation=st.integers(1, 9999),
    n=st.integers(1, 99999),
    submitted_at=INSTANTS,
    output_key=OPTIONAL_TEXTS,
    vendor_id=OPTIONAL_TEXTS,
    status_url=OPTIONAL_TEXTS,
    cancel_url=OPTIONAL_TEXTS,
    fault=OPTIONAL_TEXTS,
)
RESULTS = st.builds(
    StepResult,
    picture=st.builds(Picture),
    operations=AMOUNTS,
    model=OPTIONAL_TEXTS,
    seed=st.none() | st.integers(0, 2**32),
    facts=st.dictionaries(TEXTS, TEXTS, max_size=3),
)
OPERATIONS = st.builds(Operation, operations=AMOUNTS, booked_at=INSTANTS)
EVENTS = st.builds(StatusEvent, at=INSTANTS)

SOURCE_SCHEMA = {
    "jobId",
    "customerId",
    "campaignId",
    "status",
    "inputManifest",
    "outputs",
    "costEstimate",
    "createdAt",
    "updatedAt",
}
OWN = {
    "generation",
    "campaignVersion",
    "rateCard",
    "humanReviewed",
    "bodyHash",
    "epoch",
    "crashes",
    "attempts",
    "replays",
    "credential",
    "idempotencyKey",
}
INDEX = {"campaignKey", "campaignSort", "queueHome", "queuePlace"}
IN_LINE = {"queueKey", "queueSort"}


@UNHURRIED
@given(JOBS)
def test_jobs_come_back_equal(row: JobRow) -> None:
    assert codec.job_row(codec.job_item(row)) == row


@UNHURRIED
@given(WAVES)
def test_waves_come_back_equal(row: Wave) -> None:
    assert codec.wave_of(codec.wave_item(row)) == row


@UNHURRIED
@given(EVENTS)
def test_events_come_back_equal(event: StatusEvent) -> None:
    assert event_codec.event_of(event_codec.event_item(event)) == event


@UNHURRIED
@given(ATTEMPTS)
def test_attempts_come_back_equal(attempt: Attempt) -> None:
    item = work_codec.attempt_key(attempt) | work_codec.attempt_attributes(attempt)

    assert work_codec.attempt_of(item) == attempt


@UNHURRIED
@given(RESULTS)
def test_results_come_back_equal(result: StepResult) -> None:
    said = work_codec.send_attributes(result.step, result.generation, work_codec.FIRST)
    item = work_codec.result_key(result) | said
    item |= {"result": work_codec.result_attribute(result)}

    assert work_codec.result_of(item) == result


@UNHURRIED
@given(OPERATIONS)
def test_operations_come_back_equal(operation: Operation) -> None:
    for change in (work_codec.booked([operation]), work_codec.stated([operation])):
        said: attributes.Item = attributes.present({**change.sets, **change.firsts})

        assert work_codec.operations_of({"jobId": {"S": operation.job_id}, **said}) == [operation]


def test_new_job_has_exactly_the_schema_s_attributes() -> None:
    """What is None is absent, and nothing is there that nobody named."""
    assert set(codec.job_item(job())) == SOURCE_SCHEMA | OWN | INDEX | IN_LINE


def test_full_job_has_every_attribute() -> None:
    """An ended row in a wave has all optional attributes too, under the schema's names."""
    full = replace(
        job(),
        status=Status.SUCCEEDED,
        run_id="r",
        cost_actual=Decimal(1),
        cost_possible=Decimal(1),
        ttl=NOON,
        wave="w",
        hold=Hold("r", NOON, "b"),
        not_before=NOON,
        reason="r",
        ended_at=NOON,
    )

    costs = {"costActual", "costPossible"}
    optional = costs | {"runId", "ttl", "wave", "hold", "notBefore", "reason", "endedAt"}
    assert set(codec.job_item(full)) == SOURCE_SCHEMA | OWN | INDEX | optional | {"endedKey"}


def test_attributes_have_the_forms_that_others_read() -> None:
    """Times are ISO with a Z, money a number without a float's rounding, expiry in seconds."""
    item = codec.job_item(
        job(cost_estimate=Decimal("0.10"), ttl=NOON, created_at=NOON + timedelta(milliseconds=7))
    )

    assert item["createdAt"] == {"S": "2026-03-09T12:00:00.007Z"}
    assert item["costEstimate"] == {"N": "0.10"}
    assert item["ttl"] == {"N": "1773057600"}


def test_ended_job_of_three_renditions_stays_below_a_kilobyte() -> None:
    """Each write of a row and of its indexes is billed by the begun kilobyte."""
    row = job("summer-2026-hero-0042", campaign_id="spring-launch")
    at = (row.customer_id, row.campaign_id, row.job_id)
    aspects = ("1080x1080", "1080x1920", "1920x1080")
    ended = replace(
        row,
        status=Status.SUCCEEDED,
        run_id=str(UUID(int=1)),
        wave="w-20260309-120000-00000000",
        outputs=tuple(
            ids.delivery_key(*at, one, f"spring-launch_en-GB_{one}_{row.job_id[:8]}.jpg")
            for one in aspects
        ),
        cost_actual=Decimal("4.00"),
        cost_possible=Decimal(0),
        ended_at=NOON,
        ttl=NOON,
    )

    item = codec.job_item(ended)

    texts = [value["S"] for value in item.values() if "S" in value]
    outputs = [one["S"] for one in item["outputs"].get("L", ()) if "S" in one]
    numbers = [value["N"] for value in item.values() if "N" in value]
    size = sum(map(len, (*item, *texts, *outputs, *numbers))) + 3 + len(outputs)
    assert size <= 1024
    assert codec.job_row(item) == ended


@pytest.mark.parametrize("status", sorted(Status))
def test_only_claimable_jobs_stand_in_line(status: Status) -> None:
    """A job in a wave, held or ended is not in the queue's index."""
    queued = status is Status.QUEUED

    assert ("queueKey" in codec.job_item(job(status=status))) is queued
    assert ("queueSort" in codec.job_item(job(status=status))) is queued
    assert "queueKey" not in codec.job_item(job(status=status, hold=Hold("r", NOON, "b")))


@pytest.mark.parametrize("status", sorted(ENDED))
def test_ended_jobs_are_spread_over_shards_of_their_day(status: Status) -> None:
    """A day's jobs are found under its shards, and under each of them some."""
    keys = {
        codec.job_item(job(str(n), status=status, ended_at=NOON))["endedKey"].get("S")
        for n in range(200)
    }

    assert keys == {f"2026-03-09#{shard}" for shard in range(codec.ENDED_SHARDS)}


@pytest.mark.parametrize("state", sorted(WaveState))
def test_only_ended_waves_are_not_open(state: WaveState) -> None:
    assert ("open" in codec.wave_item(wave(state=state))) is (state is not WaveState.ENDED)


@UNHURRIED
@given(INSTANTS, INSTANTS, NAMES)
def test_places_sort_by_due_time(first: datetime, second: datetime, job_id: str) -> None:
    """A place is before the bound of a moment if and only if it is due at it."""
    place = codec.queue_sort(first, job_id).get("S", "")
    bound = codec.queue_bound(second).get("S", "")

    assert (place < bound) is (first <= second)


def test_naive_times_are_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        attributes.iso(NOON.replace(tzinfo=None))


def test_times_of_any_zone_are_stored_in_utc() -> None:
    east = (NOON + MINUTE).astimezone(timezone(timedelta(hours=5, minutes=30)))

    assert attributes.iso(east) == "2026-03-09T12:01:00.000Z"


@pytest.mark.parametrize("name", ["text", "texts", "decimal", "flag", "mapping"])
def test_mistyped_attribute_says_its_name(name: str) -> None:
    """A wrong attribute is a bug that names itself, not a None that travels."""
    reader = attributes.Reader({"wrong": {"NULL": True}})

    with pytest.raises(TypeError, match="wrong"):
        getattr(reader, name)("wrong")


def test_missing_attribute_says_its_name() -> None:
    item = codec.job_item(job())
    del item["credential"]

    with pytest.raises(KeyError, match="credential"):
        codec.job_row(item)


def test_a_class_that_the_table_lacks_is_unknown() -> None:
    """A row of a newer release is read, and nobody guesses what its fault was."""
    item = codec.job_item(replace(job(), failure=FailureClass.QUOTA))
    assert codec.job_row(item).failure is FailureClass.QUOTA

    row = codec.job_row({**item, "failure": {"S": "martian"}})

    assert row.failure is FailureClass.UNKNOWN
