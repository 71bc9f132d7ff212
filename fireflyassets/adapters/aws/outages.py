"""Which failures of AWS are outages: the request was right, and may be sent again.

Belongs here: that one decision, for tables and bucket. Does not: retries, which whoever asked
decides on; secrets and limiter, which have errors of their own.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from botocore.exceptions import (
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's own root of failed connections.
    CredentialRetrievalError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
)

from fireflyassets.core.errors import StoreUnavailable

_UNREACHED: Final = (
    HTTPClientError,
    ConnectionError,
    IncompleteReadError,
    NoCredentialsError,
    CredentialRetrievalError,
)
_CODES: Final = frozenset(
    {
        # Too much at once; some of these come with the status 400.
        "LimitExceededException",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestTimeout",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TransactionConflictException",
        "TransactionInProgressException",
        # Our rights or credentials: no job's fault, and mended outside of it. S3's own word for
        # the former is not here: without the right to list it answers so for what is absent.
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "NoSuchBucket",
        "RequestExpired",
        "UnrecognizedClientException",
    }
)


@contextmanager
def told(store: str) -> Generator[None]:
    """Tell an outage of *store* as what it is; any other error passes.

    Raises:
        StoreUnavailable: It does not answer, or not now. A write may have happened all the same.
    """
    try:
        yield
    except _UNREACHED as error:
        raise StoreUnavailable(store, type(error).__name__) from error
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in _CODES or status >= 500:  # noqa: PLR2004 - the HTTP range.
            raise StoreUnavailable(store, code) from error
        raise
