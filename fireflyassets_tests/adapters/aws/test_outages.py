"""Which errors of AWS are outages, one by one, and through the ledger's own calls."""

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)

from fireflyassets.adapters.aws.outages import told
from fireflyassets.core.errors import StoreUnavailable


def refusal(code: str, status: int = 400) -> ClientError:
    """Return an answer of AWS as the client raises it."""
    said = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(said, "UpdateItem")  # pyright: ignore[reportArgumentType] - the rest of it.


@pytest.mark.parametrize(
    "error",
    [
        refusal("ThrottlingException"),
        refusal("ProvisionedThroughputExceededException"),
        refusal("InternalServerError", 500),
        refusal("SlowDown", 503),
        refusal("ExpiredTokenException"),
        refusal("AccessDeniedException"),
        EndpointConnectionError(endpoint_url="http://x"),
        ConnectTimeoutError(endpoint_url="http://x"),
        ReadTimeoutError(endpoint_url="http://x"),
        NoCredentialsError(),
    ],
)
def test_an_outage_is_told_as_one(error: Exception) -> None:
    """Too much at once, a broken connection, our own rights: no job's fault."""
    with pytest.raises(StoreUnavailable, match="the ledger"), told("the ledger"):
        raise error


@pytest.mark.parametrize(
    "error", [refusal("ValidationException"), refusal("AccessDenied", 403), KeyError("a bug")]
)
def test_what_asking_again_does_not_mend_passes(error: Exception) -> None:
    """A wrong request stays an error that somebody must look at."""
    with pytest.raises(type(error)) as raised, told("the ledger"):
        raise error
    assert raised.value is error
