"""Downloads: bytes decide what they are, and our credentials stay at home."""

import httpx
import pytest

from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.ports.paid import Fetched, FetchFailed
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import ScriptedAdobe, answering, failing

URL = "https://out.s3-accelerate.amazonaws.com/k.jpg?X-Amz-Signature=z%2Fz"
PICTURES = {
    "image/png": b"\x89PNG\r\n\x1a\nrest",
    "image/jpeg": b"\xff\xd8\xff\xe0rest",
    "image/webp": b"RIFF\x10\x00\x00\x00WEBPVP8 ",
    "image/tiff": b"II*\x00rest",
}
EXPIRED = "<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>m</Message></Error>"


def fetch(adobe: ScriptedAdobe, url: str = URL) -> Fetched | FetchFailed:
    return bench.run(lambda clients: clients.images.fetch(url), adobe)


@pytest.mark.parametrize("kind", sorted(PICTURES))
def test_first_bytes_decide_the_media_type(kind: str) -> None:
    """A PNG under `.jpg` and a wrong header is a PNG."""
    answer = httpx.Response(200, content=PICTURES[kind], headers={"Content-Type": "image/gif"})

    assert fetch(ScriptedAdobe(answering(answer))) == Fetched(PICTURES[kind], kind)


def test_big_endian_tiff_is_a_tiff() -> None:
    """Both byte orders of TIFF are known."""
    answer = httpx.Response(200, content=b"MM\x00*rest")

    assert fetch(ScriptedAdobe(answering(answer))) == Fetched(b"MM\x00*rest", "image/tiff")


@pytest.mark.parametrize(
    "content", [b"", b"GIF89a", b"<html>", b"RIFF\x10\x00\x00\x00WAVE", b"\xff"]
)
def test_other_bytes_are_no_result(content: bytes) -> None:
    """What is no picture that we know is a failed download, not a result."""
    failed = fetch(ScriptedAdobe(answering(httpx.Response(200, content=content))))

    assert isinstance(failed, FetchFailed)
    assert failed.fault.code == "not_a_picture"


@pytest.mark.parametrize("status", [400, 403, 404, 410])
def test_expired_url_is_a_stale_reference(status: int) -> None:
    """A signed URL that its store refuses has expired; its store's word is kept."""
    failed = fetch(ScriptedAdobe(answering(httpx.Response(status, text=EXPIRED))))

    assert isinstance(failed, FetchFailed)
    assert classify(failed.fault) is FailureClass.STALE_REFERENCE
    assert failed.fault.message == "AccessDenied"


@pytest.mark.parametrize("status", [206, 302, 304, 500, 503])
def test_any_other_answer_is_trouble_of_the_store(status: int) -> None:
    """Redirects are not followed, and a part is not the whole."""
    answer = httpx.Response(status, content=PICTURES["image/png"], headers={"Location": URL})
    adobe = ScriptedAdobe(answering(answer))

    failed = fetch(adobe)

    assert isinstance(failed, FetchFailed)
    assert classify(failed.fault) is FailureClass.STORAGE
    assert len(adobe.seen) == 1


def test_silence_is_a_failed_download() -> None:
    """A store that does not answer raises nothing."""
    failed = fetch(ScriptedAdobe(failing(httpx.ReadError)))

    assert isinstance(failed, FetchFailed)
    assert "SIGMARK" not in repr(failed)


def test_no_credential_travels() -> None:
    """The store sees the URL and nothing of ours, not even a request for a token."""
    adobe = ScriptedAdobe(answering(httpx.Response(200, content=PICTURES["image/png"])))

    fetch(adobe)

    (seen,) = adobe.seen
    assert seen.target == "/k.jpg?X-Amz-Signature=z%2Fz"
    assert not {"authorization", "x-api-key", "x-request-id", "cookie"} & set(seen.headers)
    assert adobe.mints == 0


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "http://127.0.0.1:80/x", "file:///etc/passwd", "", "x"]
)
def test_plain_http_is_not_fetched(url: str) -> None:
    """A result URL of another scheme, or on this machine without being listed, is refused."""
    adobe = ScriptedAdobe(answering(httpx.Response(200)))

    failed = fetch(adobe, url)

    assert isinstance(failed, FetchFailed)
    assert failed.fault.code == "untrusted_url"
    assert adobe.seen == []
