"""Making the tables, the bucket and the queues, as often as anyone likes.

Belongs here: idempotent creation, for the local stack and for tests. Does not: production, whose
template states the same and is reviewed before it runs; nothing here is ever deleted.
"""

import json
from typing import TYPE_CHECKING, Final

from fireflyassets.adapters.aws.queue import FIFO, MESSAGE_BYTES, QueueUrls, dead_letter_name
from fireflyassets.adapters.aws.tables import EXPIRY, Table, Tables, requests, specs
from fireflyassets.core.retention import RETENTION, RULES, Rule
from fireflyassets.ports.queue import MAX_RECEIVES

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.literals import BucketLocationConstraintType
    from mypy_boto3_s3.type_defs import LifecycleRuleTypeDef
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

VISIBILITY_SECONDS: Final = 60
DEAD_LETTER_SECONDS: Final = 14 * 24 * 3600
"""The longest that SQS keeps a message."""
HOME_REGION: Final = "us-east-1"
"""The one region that a bucket must not name."""


def lifecycle() -> list["LifecycleRuleTypeDef"]:
    """Return the rules of ``core/retention.py`` in S3's form, for a bucket or a template."""
    return [_lifecycle_rule(rule) for rule in RULES]


def _lifecycle_rule(rule: Rule) -> "LifecycleRuleTypeDef":
    made: LifecycleRuleTypeDef = {"ID": rule.name, "Status": "Enabled"}
    # One predicate stands alone: S3 refuses it within an And.
    if rule.retention is None:
        made["Filter"] = {"Prefix": rule.prefix or ""}
    else:
        made["Filter"] = {"Tag": {"Key": RETENTION, "Value": rule.retention}}
    if rule.archive_days:
        made["Transitions"] = [{"Days": rule.archive_days, "StorageClass": "GLACIER_IR"}]
    if rule.expire_days:
        made["Expiration"] = {"Days": rule.expire_days}
    return made


def provision_tables(client: "DynamoDBClient", tables: Tables) -> None:
    """Create the tables and indexes that are not there and wait until all can be used."""
    wanted = requests(tables)
    for request in wanted:
        try:
            client.create_table(**request)
        except client.exceptions.ResourceInUseException:
            continue
    for request in wanted:
        client.get_waiter("table_exists").wait(
            TableName=request["TableName"], WaiterConfig={"Delay": 1, "MaxAttempts": 120}
        )
    for table in specs(tables):
        _add_indexes(client, table)
        if table.expires:
            _expire(client, table.name)


def _add_indexes(client: "DynamoDBClient", table: Table) -> None:
    """Give a table of an earlier version the indexes it lacks; one at a time, as AWS asks."""
    there = client.describe_table(TableName=table.name)["Table"]
    known = {index.get("IndexName") for index in there.get("GlobalSecondaryIndexes", [])}
    for index in table.indexes:
        if index.name not in known:
            client.update_table(
                TableName=table.name,
                AttributeDefinitions=table.request().get("AttributeDefinitions", []),
                GlobalSecondaryIndexUpdates=[{"Create": index.creation()}],
            )


def _expire(client: "DynamoDBClient", table: str) -> None:
    """Turn on expiry; asking for what is on already is an error, so look first."""
    state = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    if state.get("TimeToLiveStatus") not in {"ENABLED", "ENABLING"}:
        client.update_time_to_live(
            TableName=table,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": EXPIRY},
        )


def provision_bucket(client: "S3Client", bucket: str) -> None:
    """Create the bucket in the client's region and set its lifecycle."""
    region = client.meta.region_name
    try:
        if region == HOME_REGION:
            client.create_bucket(Bucket=bucket)
        else:
            place: BucketLocationConstraintType = region  # pyright: ignore[reportAssignmentType]
            client.create_bucket(
                Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": place}
            )
    except client.exceptions.BucketAlreadyOwnedByYou:
        pass
    client.put_bucket_lifecycle_configuration(
        Bucket=bucket, LifecycleConfiguration={"Rules": lifecycle()}
    )


def provision_queues(
    client: "SQSClient", queue: str, *, visibility_seconds: int = VISIBILITY_SECONDS
) -> QueueUrls:
    """Create the job queue and its dead-letter queue and set their attributes."""
    kind: dict[QueueAttributeNameType, str] = {"FifoQueue": "true"} if queue.endswith(FIFO) else {}
    size: dict[QueueAttributeNameType, str] = {"MaximumMessageSize": str(MESSAGE_BYTES)}
    name = dead_letter_name(queue)
    dead = client.create_queue(QueueName=name, Attributes=kind)["QueueUrl"]
    client.set_queue_attributes(
        QueueUrl=dead, Attributes={**size, "MessageRetentionPeriod": str(DEAD_LETTER_SECONDS)}
    )
    described = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
    jobs = client.create_queue(QueueName=queue, Attributes=kind)["QueueUrl"]
    redrive = {
        "deadLetterTargetArn": described["Attributes"]["QueueArn"],
        "maxReceiveCount": MAX_RECEIVES,
    }
    client.set_queue_attributes(
        QueueUrl=jobs,
        Attributes={
            **size,
            "VisibilityTimeout": str(visibility_seconds),
            "RedrivePolicy": json.dumps(redrive),
        },
    )
    return QueueUrls(jobs, dead)


def provision(
    dynamodb: "DynamoDBClient",
    s3: "S3Client",
    sqs: "SQSClient",
    *,
    prefix: str,
    bucket: str,
    queue: str,
) -> QueueUrls:
    """Create everything we keep in AWS that is not there yet."""
    provision_tables(dynamodb, Tables(prefix))
    provision_bucket(s3, bucket)
    return provision_queues(sqs, queue)
