"""The twin's books held against a ledger that may be gone. Real services, no stack."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import httpx
import pytest
from botocore.session import get_session

from fireflyassets.adapters.aws.provision import provision_tables
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.local.access import Access
from fireflyassets.local.books import require_ledger
from fireflyassets.local.environment import DUMMY, REGION
from fireflyassets.local.keeping import StateLost
from fireflyassets.twin.app import create_app
from fireflyassets.twin.server import serving
from fireflyassets_tests.contracts.stores import unique
from fireflyassets_tests.twin.rehearsal import GENERATE, SMALL, PlainRenderer, settings
from fireflyassets_tests.twin.test_server import bearer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.stack


@pytest.fixture
def twin() -> Iterator[str]:
    """Yield the URL of a twin that has billed nothing."""
    with serving(create_app(settings(), renderer=PlainRenderer())) as url:
        yield url


@pytest.fixture
def dynamodb(ministack: str) -> "Iterator[DynamoDBClient]":
    """Yield a client with the region and keys of a local stack."""
    keys = {"aws_access_key_id": DUMMY, "aws_secret_access_key": DUMMY}
    client = get_session().create_client(
        "dynamodb", endpoint_url=ministack, region_name=REGION, **keys
    )
    yield cast("DynamoDBClient", client)
    client.close()


@pytest.fixture
def access(twin: str, ministack: str) -> Access:
    """Return the addresses of the twin and of the embedded AWS."""
    ports = {"twin": urlsplit(twin).port or 0, "aws": urlsplit(ministack).port or 0}
    return Access(ports, {})


def bill(twin: str) -> None:
    """Make one paid call, as if by a factory of whose memory nothing is left."""
    body = {"prompt": "a pear", "size": SMALL}
    httpx.post(twin + GENERATE, json=body, headers=bearer(twin)).raise_for_status()


def test_bills_without_a_single_row_are_said(
    access: Access, twin: str, dynamodb: "DynamoDBClient"
) -> None:
    """Nothing billed, nothing to say; billed and no row: the same jobs would be paid again."""
    prefix = unique("books")
    provision_tables(dynamodb, Tables(prefix))
    require_ledger(access, table_prefix=prefix)
    bill(twin)

    with pytest.raises(
        StateLost, match=r"^The twin has billed \S+ operations and the ledger knows"
    ):
        require_ledger(access, table_prefix=prefix)


def test_bills_of_a_ledger_with_rows_are_its_own_affair(
    access: Access, twin: str, dynamodb: "DynamoDBClient"
) -> None:
    prefix = unique("books")
    provision_tables(dynamodb, Tables(prefix))
    row = {"jobId": {"S": "j"}, "customerId": {"S": "acme"}}
    dynamodb.put_item(TableName=Tables(prefix).jobs, Item=row)
    bill(twin)

    require_ledger(access, table_prefix=prefix)
