"""Reference pictures: uploaded once, used for six days, and only what Firefly takes."""

import asyncio
import io
from datetime import timedelta

import httpx
import pytest
from PIL import Image

from fireflyassets.adapters.adobe.factory import AdobeClients
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.uploads import MemoryUploads
from fireflyassets.adapters.stored_uploads import StoredUploads
from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.ports.images import Linked, Uploaded
from fireflyassets.ports.references import UploadCache, UploadFailed
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import FakeClock, ScriptedAdobe, answering, error


def picture(form: str = "PNG", colour: str = "red") -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(target, form)
    return target.getvalue()


class Storage:
    """Firefly's storage, which counts."""

    def __init__(self) -> None:
        self.adobe = ScriptedAdobe(self.respond)

    def respond(self, _: bench.Seen) -> httpx.Response:
        return httpx.Response(200, json={"images": [{"id": f"up-{len(self.adobe.seen)}"}]})


@pytest.fixture(params=["memory", "stored"])
def caches(request: pytest.FixtureRequest) -> tuple[FakeClock, UploadCache]:
    """Return a clock and an empty memory of uploads, of each kind."""
    clock = FakeClock()
    if request.param == "memory":
        return clock, MemoryUploads(clock)
    return clock, StoredUploads(MemoryObjects(), clock)


def test_upload_sends_the_raw_bytes() -> None:
    """The body is the picture, and its first bytes name its type."""
    storage = Storage()

    found = bench.run(lambda clients: clients.references.upload(picture("JPEG")), storage.adobe)

    assert found == Uploaded("up-1")
    (seen,) = storage.adobe.seen
    assert (seen.method, seen.target) == ("POST", "/v2/storage/image")
    assert seen.headers["content-type"] == "image/jpeg"
    assert seen.body == picture("JPEG")


def test_equal_bytes_are_uploaded_once_in_six_days(caches: tuple[FakeClock, UploadCache]) -> None:
    """The memory of uploads ends a day before the vendor's own."""
    clock, cache = caches
    storage = Storage()

    async def over_days(clients: AdobeClients) -> list[Uploaded | UploadFailed]:
        clients.references._cache = cache
        found = [await clients.references.upload(picture()) for _ in range(2)]
        clock.pass_time(timedelta(days=6) - timedelta(seconds=1))
        found.append(await clients.references.upload(picture()))
        clock.pass_time(timedelta(seconds=1))
        return [*found, await clients.references.upload(picture())]

    found = bench.run(over_days, storage.adobe, clock=clock)

    assert found == [Uploaded("up-1")] * 3 + [Uploaded("up-2")]


def test_organisations_do_not_share_uploads(caches: tuple[FakeClock, UploadCache]) -> None:
    """An id of one organisation is nobody else's."""
    clock, cache = caches
    cache.write("A@AdobeOrg", "digest", "up-1", until=clock.now() + timedelta(days=1))

    assert cache.read("A@AdobeOrg", "digest") == "up-1"
    assert cache.read("B@AdobeOrg", "digest") is None
    assert cache.read("A@AdobeOrg", "other") is None


def test_stale_upload_is_forgotten(caches: tuple[FakeClock, UploadCache]) -> None:
    """After the service refused an id, the same bytes are uploaded anew."""
    clock, cache = caches
    storage = Storage()

    async def again(clients: AdobeClients) -> list[Uploaded | UploadFailed]:
        clients.references._cache = cache
        first = await clients.references.upload(picture())
        await clients.references.forget(picture())
        return [first, await clients.references.upload(picture())]

    assert bench.run(again, storage.adobe, clock=clock) == [Uploaded("up-1"), Uploaded("up-2")]


def test_jobs_at_once_share_an_upload() -> None:
    """A wave whose jobs all need one reference uploads it once."""
    storage = Storage()

    async def many(clients: AdobeClients) -> list[Uploaded | UploadFailed]:
        return await asyncio.gather(*(clients.references.upload(picture()) for _ in range(20)))

    assert set(bench.run(many, storage.adobe)) == {Uploaded("up-1")}
    assert len(storage.adobe.seen) == 1


@pytest.mark.parametrize(
    "content", [b"", b"<html>", picture("TIFF"), picture() + b"\0" * 15_000_001]
)
def test_what_firefly_does_not_take_is_not_sent(content: bytes) -> None:
    storage = Storage()

    found = bench.run(lambda clients: clients.references.upload(content), storage.adobe)

    assert isinstance(found, UploadFailed)
    assert classify(found.fault) is FailureClass.INVALID_REQUEST
    assert storage.adobe.seen == []


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (error(451, {"error_code": "image_unsafe"}), FailureClass.UNSAFE_CONTENT),
        (error(429, {"error_code": "rate_limited"}), FailureClass.THROTTLED),
        (bench.page(413), FailureClass.INVALID_REQUEST),
        (httpx.Response(200, json={"images": []}), FailureClass.TRANSIENT),
        (httpx.Response(200, json=[]), FailureClass.TRANSIENT),
    ],
)
def test_refused_upload_is_a_fault(answer: httpx.Response, failure: FailureClass) -> None:
    adobe = ScriptedAdobe(answering(answer))

    found = bench.run(lambda clients: clients.references.upload(picture()), adobe)

    assert isinstance(found, UploadFailed)
    assert classify(found.fault) is failure


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://b.s3.amazonaws.com/k?".ljust(2083, "x"), True),
        ("https://b.s3.amazonaws.com/k?".ljust(2084, "x"), False),
        ("https://a.blob.core.windows.net/k?sig=a%2Fb", True),
        ("https://storage.googleapis.com/b/k", False),
        ("https://b.s3.amazonaws.com.evil.com/k", False),
        ("http://b.s3.amazonaws.com/k", False),
    ],
)
def test_long_or_strange_url_falls_back_to_an_upload(url: str, *, linked: bool) -> None:
    """A URL goes as it is where Firefly takes it; else the bytes go."""
    storage = Storage()

    async def content() -> bytes:
        return picture()

    found = bench.run(lambda clients: clients.references.offer(url, content), storage.adobe)

    assert found == (Linked(url) if linked else Uploaded("up-1"))
