"""What exists after provisioning, read back from the service.

Here: tables, indexes, expiry, lifecycle, queues, and that doing it again is fine. Not here: what is
kept in them.
"""

import json
from typing import TYPE_CHECKING, Any

import pytest

from fireflyassets.adapters.aws import codec
from fireflyassets.adapters.aws.provision import provision, provision_bucket, provision_tables
from fireflyassets.adapters.aws.queue import find_queues
from fireflyassets.adapters.aws.tables import Tables, requests
from fireflyassets.core.job import Hold
from fireflyassets.core.status import KEPT, Status
from fireflyassets.ports.entries import Release
from fireflyassets_tests.adapters.aws.conftest import WiredLedger
from fireflyassets_tests.contracts.ledgers import ACME, NOON, WAVE, ending, scan, wave
from fireflyassets_tests.contracts.stores import unique

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

pytestmark = pytest.mark.stack

HOLD = Hold("why", NOON, "somebody")


def test_everything_is_there_and_asking_twice_is_fine(
    dynamodb: "DynamoDBClient", s3: "S3Client", sqs: "SQSClient"
) -> None:
    """The second time changes nothing and finds the same queues."""
    prefix, bucket, queue = unique("all"), unique("all"), unique("all")

    first = provision(dynamodb, s3, sqs, prefix=prefix, bucket=bucket, queue=queue)
    s3.put_object(Bucket=bucket, Key="kept", Body=b"x")
    second = provision(dynamodb, s3, sqs, prefix=prefix, bucket=bucket, queue=queue)

    assert first == second == find_queues(sqs, queue)
    assert s3.get_object(Bucket=bucket, Key="kept")["Body"].read() == b"x"
    tables = set(dynamodb.list_tables()["TableNames"])
    kinds = ("jobs", "work", "waves", "outbox", "tokens", "tickets")
    assert {f"{prefix}-{kind}" for kind in kinds} <= tables


@pytest.mark.parametrize(
    ("kind", "keys", "indexes"),
    [
        (
            "jobs",
            ["jobId", "customerId"],
            {
                "queue": (["queueKey", "queueSort"], "ALL"),
                "campaign": (["campaignKey", "campaignSort"], "ALL"),
                "ended": (["endedKey", "endedAt"], "ALL"),
                "dead": (["deadKey", "endedAt"], "KEYS_ONLY"),
                "owed": (["owedKey", "owedAt"], "KEYS_ONLY"),
                "running": (["runningKey", "runningSort"], "KEYS_ONLY"),
                "unreviewed": (["reviewKey", "campaignSort"], "ALL"),
                "unshown": (["unshownKey", "unshownAt"], "KEYS_ONLY"),
            },
        ),
        ("work", ["jobId", "sk"], {"open": (["open", "openAt"], "KEYS_ONLY")}),
        ("waves", ["waveId"], {"open": (["open", "formedAt"], "KEYS_ONLY")}),
        ("outbox", ["eventId"], {"pending": (["pendingKey", "at"], "ALL")}),
        ("tokens", ["entry"], {}),
        ("api-keys", ["customer", "keyId"], {}),
        ("tickets", ["pk"], {}),
    ],
)
def test_table_has_its_keys_and_indexes(
    wired: WiredLedger, kind: str, keys: list[str], indexes: dict[str, Any]
) -> None:
    table = wired.client.describe_table(TableName=f"{wired.tables.prefix}-{kind}")["Table"]

    assert _names(table["KeySchema"]) == keys
    assert {
        index["IndexName"]: (_names(index["KeySchema"]), index["Projection"]["ProjectionType"])
        for index in table.get("GlobalSecondaryIndexes", [])
    } == indexes
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"


def test_table_of_an_earlier_version_gets_its_new_index(dynamodb: "DynamoDBClient") -> None:
    """What was kept before an index was thought of is found in it afterwards."""
    tables = Tables(unique("older"))
    (work,) = [one for one in requests(tables) if one["TableName"] == tables.work]
    key = ("jobId", "sk")
    older = {name: value for name, value in work.items() if name != "GlobalSecondaryIndexes"}
    older["AttributeDefinitions"] = [{"AttributeName": one, "AttributeType": "S"} for one in key]
    dynamodb.create_table(**older)  # pyright: ignore[reportArgumentType] - a request as data.

    provision_tables(dynamodb, tables)
    provision_tables(dynamodb, tables)

    table = dynamodb.describe_table(TableName=tables.work)["Table"]
    assert [one.get("IndexName") for one in table.get("GlobalSecondaryIndexes", [])] == ["open"]


@pytest.mark.parametrize(
    ("kind", "expires"), [("jobs", True), ("waves", True), ("work", False), ("outbox", False)]
)
def test_only_rows_with_an_end_expire(wired: WiredLedger, kind: str, *, expires: bool) -> None:
    """What was paid and what was not delivered yet never disappears by itself."""
    name = f"{wired.tables.prefix}-{kind}"

    said = wired.client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]

    assert (said["TimeToLiveStatus"] == "ENABLED") is expires
    assert said.get("AttributeName") == ("ttl" if expires else None)


def test_bucket_expires_what_is_temporary_or_standard(s3: "S3Client") -> None:
    """Only a positive tag makes an object cheaper and then gone; no tag keeps it."""
    bucket = unique("rules")
    provision_bucket(s3, bucket)

    rules = s3.get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"]

    temporary, standard, inbox = sorted(rules, key=lambda rule: rule["ID"], reverse=True)
    assert temporary["Filter"]["Prefix"] == "_tmp/"
    assert temporary["Expiration"]["Days"] == 1
    assert inbox["Filter"]["Prefix"] == "inbox/"
    assert inbox["Expiration"]["Days"] == 30
    assert standard["Filter"]["Tag"] == {"Key": "retention", "Value": "standard"}
    assert standard["Expiration"]["Days"] == 365
    assert standard["Transitions"] == [{"Days": 90, "StorageClass": "GLACIER_IR"}]


def test_queue_gives_up_after_three_and_keeps_dead_letters_long(
    dynamodb: "DynamoDBClient", s3: "S3Client", sqs: "SQSClient"
) -> None:
    name = unique("policy")
    urls = provision(dynamodb, s3, sqs, prefix=name, bucket=name, queue=name)

    jobs = sqs.get_queue_attributes(QueueUrl=urls.jobs, AttributeNames=["All"])["Attributes"]
    dead = sqs.get_queue_attributes(QueueUrl=urls.dead, AttributeNames=["All"])["Attributes"]

    redrive = json.loads(jobs["RedrivePolicy"])
    assert int(redrive["maxReceiveCount"]) == 3
    assert redrive["deadLetterTargetArn"] == dead["QueueArn"]
    assert jobs["VisibilityTimeout"] == "60"
    assert dead["MessageRetentionPeriod"] == str(14 * 24 * 3600)
    assert dead["QueueArn"].endswith(f"{name}-dlq")


def test_job_stands_in_the_indexes_of_its_state(wired: WiredLedger) -> None:
    """Each move leaves the item that its row alone would make, in no index but its own."""
    ledger, seen = wired.ledger, dict[str, set[str]]()

    def look(state: str) -> None:
        seen[state] = _indexes(wired)
        (item,) = scan(wired.client, wired.tables.jobs)
        # Until its snapshot is written, whatever else becomes of it.
        owed = [item.pop(name, None) is None for name in ("owedKey", "owedAt", "owedFault")]
        assert owed in ([True] * 3, [False] * 3)
        # The word by which a claim knows its own repetition.
        assert ("claimer" in item) == (item["status"]["S"] != "dlq")
        item.pop("claimer", None)
        assert item == codec.job_item(codec.job_row(item))

    claim = wired.world.running()
    look("running")
    ledger.release(claim, Release("parked", not_before=NOON), now=NOON)
    look("parked")
    again = ledger.claim(claim.job_id, ACME, "w-2", now=NOON)
    assert again is not None
    ledger.finish(again, ending(Status.DLQ))
    look("dead")
    replayed = ledger.reclaim(claim.job_id, ACME, "w-3", now=NOON)
    assert replayed is not None
    look("replayed")
    ledger.release(replayed, Release("x", not_before=NOON, hold=HOLD), now=NOON)
    look("held")

    assert seen == {
        "running": {"campaign", "running"},
        "parked": {"campaign", "queue"},
        "dead": {"campaign", "ended", "dead", "owed"},
        "replayed": {"campaign", "running", "owed"},
        "held": {"campaign", "owed"},
    }


@pytest.mark.parametrize("winners", [["a"], []])
def test_ended_wave_leaves_the_index_of_open_ones(wired: WiredLedger, winners: list[str]) -> None:
    """Waves that have ended cost the sweeps nothing."""
    wired.ledger.form(wave())
    assert wired.client.scan(TableName=wired.tables.waves, IndexName="open")["Items"]

    wired.ledger.formed(WAVE, winners)
    if winners:
        wired.ledger.end(WAVE)

    assert not wired.client.scan(TableName=wired.tables.waves, IndexName="open")["Items"]


@pytest.mark.parametrize("status", sorted(KEPT))
def test_kept_row_has_no_expiry_in_the_table(wired: WiredLedger, status: Status) -> None:
    wired.world.ended(status)

    (item,) = scan(wired.client, wired.tables.jobs)

    assert "ttl" not in item
    assert item["endedAt"] == {"S": "2026-03-09T12:01:00.000Z"}


def _indexes(wired: WiredLedger) -> set[str]:
    return {
        name
        for name in ("queue", "campaign", "ended", "dead", "owed", "running")
        if wired.client.scan(TableName=wired.tables.jobs, IndexName=name)["Items"]
    }


def _names(schema: list[Any]) -> list[str]:
    return [key["AttributeName"] for key in schema]
