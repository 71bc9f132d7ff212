"""How long signed URLs live. Here: what bounds them. Not here: what they allow."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.objects import S3ObjectStore

ASKED = timedelta(hours=2)


def session_ends(environment: pytest.MonkeyPatch, left: timedelta | None) -> None:
    """Set the session credentials of this process, which end after *left*."""
    environment.setenv("AWS_ACCESS_KEY_ID", "ASIAEXAMPLE")
    environment.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    environment.setenv("AWS_SESSION_TOKEN", "token")
    environment.setenv("AWS_REGION", "eu-west-1")
    environment.delenv("AWS_CREDENTIAL_EXPIRATION", raising=False)
    if left is not None:
        until = datetime.now(UTC) + left  # noqa: TID251 - botocore reads the real clock.
        environment.setenv("AWS_CREDENTIAL_EXPIRATION", until.isoformat())


def lives(store: S3ObjectStore, asked: timedelta) -> tuple[float, float]:
    """Return for how many seconds URLs to read and to write say that they live."""
    urls = (
        store.read_url("k", life=asked),
        store.write_url("k", media_type="image/jpeg", life=asked),
    )
    read, write = (float(parse_qs(urlsplit(url).query)["X-Amz-Expires"][0]) for url in urls)
    return read, write


def store() -> S3ObjectStore:
    """Return a store that signs with the credentials of this process."""
    client, credentials = clients.s3_and_credentials("eu-west-1")
    return S3ObjectStore(client, "bucket", credentials)


@pytest.mark.parametrize("left", [timedelta(minutes=40), timedelta(minutes=20)])
def test_a_url_does_not_outlive_its_credentials(
    monkeypatch: pytest.MonkeyPatch, left: timedelta
) -> None:
    """It would say that it lives, and be refused."""
    session_ends(monkeypatch, left)

    for seconds in lives(store(), ASKED):
        assert left.total_seconds() - 60 < seconds <= left.total_seconds()


def test_credentials_near_their_end_are_refreshed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """With ten minutes left, two hours are signed by the next credentials."""
    session_ends(monkeypatch, timedelta(minutes=10))
    signing = store()
    session_ends(monkeypatch, timedelta(hours=6))

    assert lives(signing, ASKED) == (7200, 7200)


@pytest.mark.parametrize("left", [None, timedelta(days=30)])
def test_no_url_lives_over_seven_days(
    monkeypatch: pytest.MonkeyPatch, left: timedelta | None
) -> None:
    """Version 4 allows 604,800 seconds; who asks for one more would get a dead URL."""
    session_ends(monkeypatch, left)

    assert lives(store(), timedelta(seconds=604_801)) == (604_800, 604_800)
