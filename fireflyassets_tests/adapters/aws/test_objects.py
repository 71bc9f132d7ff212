"""How the S3 store signs and what it sends.

Here: signed URLs, one request per write, errors that are not absence. Not here: what a store
promises (`fireflyassets_tests/contracts/test_objects`).
"""

from collections.abc import Iterator
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from botocore.exceptions import ClientError

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.objects import S3ObjectStore
from fireflyassets.adapters.aws.provision import provision_bucket
from fireflyassets_tests.aws_clients import Wire, aws_environment
from fireflyassets_tests.contracts.stores import unique

pytestmark = pytest.mark.stack

LIFE = timedelta(minutes=5)
KEY = "acme/spring/job/1080x1080/hero.jpg"


@pytest.fixture
def wired_store(ministack: str) -> Iterator[tuple[S3ObjectStore, Wire, str]]:
    """Yield a store with its wire and its bucket's name."""
    bucket = unique("signed")
    with aws_environment(ministack):
        client = clients.s3()
    provision_bucket(client, bucket)
    yield S3ObjectStore(client, bucket), Wire(client), bucket
    client.close()


def test_urls_are_signed_in_version_4(wired_store: tuple[S3ObjectStore, Wire, str]) -> None:
    """Only the new form of signature has a region and can be limited to a media type."""
    store, _, bucket = wired_store

    read = urlsplit(store.read_url(KEY, life=LIFE))
    write = urlsplit(store.write_url(KEY, media_type="image/jpeg", life=LIFE))

    for url, signed in ((read, "host"), (write, "content-type;host")):
        said = parse_qs(url.query)
        assert said["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
        assert said["X-Amz-Expires"] == ["300"]
        assert said["X-Amz-SignedHeaders"] == [signed]
        assert url.path == f"/{bucket}/{KEY}"


def test_url_asks_nothing_of_the_vendor_but_the_bytes(
    wired_store: tuple[S3ObjectStore, Wire, str],
) -> None:
    """No checksum is signed in: whoever PUTs knows the bytes, and we do not yet."""
    store, _, _ = wired_store

    said = parse_qs(urlsplit(store.write_url(KEY, media_type="image/jpeg", life=LIFE)).query)

    assert set(said) == {
        "X-Amz-Algorithm",
        "X-Amz-Credential",
        "X-Amz-Date",
        "X-Amz-Expires",
        "X-Amz-SignedHeaders",
        "X-Amz-Signature",
    }


def test_tampered_url_is_refused(wired_store: tuple[S3ObjectStore, Wire, str]) -> None:
    """A URL for one key opens no other."""
    store, _, _ = wired_store
    store.put(KEY, b"x", media_type="image/jpeg")
    store.put("other", b"secret", media_type="image/jpeg")
    url = store.read_url(KEY, life=LIFE)

    assert httpx.get(url).content == b"x"
    assert httpx.get(url.replace(KEY, "other")).status_code == HTTPStatus.FORBIDDEN


def test_signing_sends_nothing_and_writing_is_one_request(
    wired_store: tuple[S3ObjectStore, Wire, str],
) -> None:
    """Tags travel with the bytes: there is no moment without them."""
    store, wire, _ = wired_store

    assert wire.count(lambda: store.read_url(KEY, life=LIFE)) == 0
    assert wire.count(lambda: store.put(KEY, b"x", media_type="image/jpeg", tags={"a": "b"})) == 1


def test_media_type_is_kept(wired_store: tuple[S3ObjectStore, Wire, str]) -> None:
    store, _, _ = wired_store
    store.put(KEY, b"x", media_type="image/jpeg")

    answer = httpx.get(store.read_url(KEY, life=LIFE))

    assert answer.headers["Content-Type"] == "image/jpeg"


def test_trouble_is_not_taken_for_absence(wired_store: tuple[S3ObjectStore, Wire, str]) -> None:
    """A store that can't be read says so: an absent object would be made, and paid, again."""
    store, wire, _ = wired_store
    denied = b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"

    for operation, body in (
        ("GetObject", denied),
        ("GetObjectTagging", denied),
        ("HeadObject", b""),
    ):
        wire.answer(operation, body, times=1, status=HTTPStatus.FORBIDDEN)

    with pytest.raises(ClientError, match="AccessDenied"):
        store.get(KEY)
    with pytest.raises(ClientError, match="AccessDenied"):
        store.tags(KEY)
    with pytest.raises(ClientError, match="403"):
        store.exists(KEY)
