"""AWS clients, made on demand.

Belongs here: how we connect, wait and retry. Does not: endpoint, region and credentials; botocore
reads them from AWS's usual variables, so that one machine and AWS differ in nothing else.
"""

from functools import cache
from typing import TYPE_CHECKING, Final, cast

from botocore.config import Config
from botocore.credentials import Credentials
from botocore.loaders import Loader, create_loader
from botocore.session import Session, get_session

from fireflyassets.core.errors import UnusableConfiguration

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_events import EventBridgeClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

    from fireflyassets.adapters.aws.secrets import SecretsClient

CONNECTIONS: Final = 50
"""Pool size of a client: more threads than this wait for each other."""
CONNECT_SECONDS: Final = 5
READ_SECONDS: Final = 20
ATTEMPTS: Final = 5
"""Sends of one request, the first included."""

CONFIG: Final = Config(
    connect_timeout=CONNECT_SECONDS,
    read_timeout=READ_SECONDS,
    max_pool_connections=CONNECTIONS,
    retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
)
SECRETS_CONFIG: Final = CONFIG.merge(
    # A wave's lease of a minute runs while its secret is read, in up to two versions.
    Config(read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2})
)
METRICS_CONFIG: Final = CONFIG.merge(
    # A process that ends waits for this at most so long.
    Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2})
)
S3_CONFIG: Final = CONFIG.merge(
    # Presigning falls back to the old signature without the version; a loopback endpoint has no
    # names for buckets, hence the path style.
    Config(signature_version="s3v4", s3={"addressing_style": "path"})
)


def dynamodb(region: str | None = None) -> "DynamoDBClient":
    """Make a DynamoDB client; without a *region* botocore finds its own."""
    return cast("DynamoDBClient", _made(_session(), "dynamodb", region, CONFIG))


def s3(region: str | None = None) -> "S3Client":
    """Make an S3 client; without a *region* botocore finds its own."""
    return s3_and_credentials(region)[0]


def s3_and_credentials(region: str | None = None) -> "tuple[S3Client, Credentials | None]":
    """Make an S3 client, and return beside it what it signs with."""
    session = _session()
    made = cast("S3Client", _made(session, "s3", region, S3_CONFIG))
    return made, session.get_credentials()


def sqs(region: str | None = None) -> "SQSClient":
    """Make an SQS client; without a *region* botocore finds its own."""
    return cast("SQSClient", _made(_session(), "sqs", region, CONFIG))


def secretsmanager(region: str | None = None) -> "SecretsClient":
    """Make a Secrets Manager client; without a *region* botocore finds its own."""
    return cast("SecretsClient", _made(_session(), "secretsmanager", region, SECRETS_CONFIG))


def cloudwatch(region: str | None = None) -> "CloudWatchClient":
    """Make a CloudWatch client; without a *region* botocore finds its own."""
    return cast("CloudWatchClient", _made(_session(), "cloudwatch", region, METRICS_CONFIG))


def sns(region: str | None = None) -> "SNSClient":
    """Make an SNS client; without a *region* botocore finds its own."""
    return cast("SNSClient", _made(_session(), "sns", region, CONFIG))


def events(region: str | None = None) -> "EventBridgeClient":
    """Make an EventBridge client; without a *region* botocore finds its own."""
    return cast("EventBridgeClient", _made(_session(), "events", region, CONFIG))


def _made(session: Session, service: str, region: str | None, config: Config) -> object:
    """Make a client.

    Raises:
        UnusableConfiguration: An endpoint among AWS's variables is no address.
    """
    try:
        return session.create_client(service, region_name=region, config=config)
    except ValueError as error:  # botocore's word for it; it names the address.
        raise UnusableConfiguration(f"AWS_ENDPOINT_URL can't be used: {error}.") from error


def _session() -> Session:
    """Return a session of its own, with the process's one copy of AWS's descriptions."""
    made = get_session()
    made.register_component("data_loader", _descriptions())
    return made


@cache
def _descriptions() -> Loader:
    # Parsed once: a copy for each client takes 8 MB, and four processes have three clients.
    return create_loader(get_session().get_config_variable("data_path"))
