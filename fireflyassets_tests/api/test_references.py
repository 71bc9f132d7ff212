"""Pictures that come with jobs. Here: what is kept, what is refused, and which job may name it."""

import io
import zlib
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from threading import Event

import httpx
import pytest
from PIL import Image

from fireflyassets.adapters.pillow import PillowPictures
from fireflyassets.adapters.provider import OidcProvider
from fireflyassets.api.app import create_app
from fireflyassets.api.bodies import REFERENCE_LIMIT
from fireflyassets.core import ids, manifest
from fireflyassets.core.recipe import Recipe
from fireflyassets.ports.pictures import Normal, Unreadable
from fireflyassets.settings import Settings
from fireflyassets_tests.api.desk_clerk import (
    ISSUER,
    OTHER,
    PUBLIC,
    Clerk,
    clerk,
    picture,
    ports_of,
)
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    FixedCatalogue,
    config,
    front_door,
    stored_manifest,
)
from fireflyassets_tests.front_door import card as rate_card

SIMILAR = {"name": "art", "kind": "similar", "picture": "reference.picture", "size": "1024x1024"}
PICTURE = "1024x1024"


def desk_of(*steps: dict[str, object]) -> Clerk:
    """Return a door of two customers whose recipe has these steps and no template."""
    recipe = Recipe.model_validate({"steps": list(steps)})
    configs = [
        config(customer=customer, recipe=recipe, aspects=(PICTURE,), templates={})
        for customer in (CUSTOMER, "bolt")
    ]
    return clerk(FixedCatalogue(*configs, cards=(rate_card(edits={"similar": "1"}),)))


def upload(desk: Clerk, content: bytes, kind: str = "image/jpeg") -> httpx.Response:
    return desk.ask("POST", "/v1/references", content=content, headers={"Content-Type": kind})


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def test_a_picture_comes_with_a_job() -> None:
    """It is kept once, and the job's manifest holds all that is known of it."""
    desk = desk_of(SIMILAR)
    told, again = upload(desk, picture()).json(), upload(desk, picture()).json()

    answer = desk.post(aspects=[PICTURE], reference=told["reference"])

    assert told == again
    assert (told["mediaType"], told["width"], told["height"]) == ("image/jpeg", 640, 360)
    assert told["bytes"] == len(picture())
    assert answer.status_code == 202
    row = desk.door.ledger.job(answer.json()["jobId"])
    assert row is not None
    request = manifest.load(stored_manifest(desk.door, row) or b"")
    assert request.reference is not None
    assert desk.door.objects.get(request.reference.key) == picture()
    assert (request.reference.width, request.reference.media_type) == (640, "image/jpeg")
    assert request.digest() == row.body_hash


def test_another_picture_is_another_request() -> None:
    """The key stands for the picture too."""
    desk = desk_of(SIMILAR)
    first, second = (upload(desk, picture(width)).json()["reference"] for width in (640, 641))

    answers = [desk.post(aspects=[PICTURE], reference=one) for one in (first, first, second)]

    assert [answer.status_code for answer in answers] == [202, 202, 409]


@pytest.mark.parametrize(
    "reference",
    [
        "https://169.254.169.254/latest/meta-data",
        "http://localhost/x.png",
        "s3://other/x.png",
        "../bolt/x.png",
        "file:///etc/passwd",
        "0" * 64,
        f"{'0' * 64}-0x5-7.png",
    ],
)
def test_addresses_are_never_fetched(reference: str) -> None:
    """A reference is a name that we gave; anything else is refused with how to get one."""
    answer = desk_of(SIMILAR).post(aspects=[PICTURE], reference=reference)

    assert answer.status_code == 422
    (problem,) = answer.json()["problems"]
    assert (problem["field"], problem["rule"]) == ("reference", "reference")
    assert "/v1/references" in problem["fix"]


def test_a_picture_must_be_there_and_the_tenants_own() -> None:
    """Another tenant's is as absent as none; one look serves a whole brief."""
    desk = desk_of(SIMILAR)
    mine = upload(desk, picture()).json()["reference"]
    absent = f"{'0' * 64}-640x360-{len(picture())}.jpg"

    theirs = desk.ask(
        "POST",
        "/v1/jobs",
        token=OTHER,
        json={
            "campaign": CAMPAIGN,
            "idempotencyKey": "k",
            "prompt": "A glass",
            "locale": "en-GB",
            "headline": "Spring",
            "aspects": [PICTURE],
            "reference": mine,
        },
    )
    nobodys = desk.post(aspects=[PICTURE], reference=absent)

    assert [theirs.status_code, nobodys.status_code] == [422, 422]
    assert [one.json()["problems"][0]["rule"] for one in (theirs, nobodys)] == ["unknown"] * 2


def test_a_recipe_says_whether_it_takes_a_picture() -> None:
    """One that starts from a picture needs it, one that can do without takes it or not."""
    art = {"name": "art", "kind": "generate", "size": PICTURE}
    either = {**SIMILAR, "name": "more", "picture": "reference.picture or art.picture"}
    none, needs, may = desk_of(art), desk_of(SIMILAR), desk_of(art, either)
    references = [upload(desk, picture()).json()["reference"] for desk in (none, needs, may)]

    assert none.post(aspects=[PICTURE], reference=references[0]).status_code == 422
    missing = needs.post(aspects=[PICTURE])
    assert missing.json()["problems"][0]["rule"] == "missing-reference"
    assert may.post(aspects=[PICTURE]).status_code == 202
    with_one = may.post(aspects=[PICTURE], reference=references[2], idempotencyKey="k2")
    assert with_one.status_code == 202


def test_a_briefs_rows_bring_their_pictures() -> None:
    """In CSV as in JSON lines: a column that may be empty."""
    art = {"name": "art", "kind": "generate", "size": PICTURE}
    desk = desk_of(art, {**SIMILAR, "name": "more", "picture": "reference.picture or art.picture"})
    name = upload(desk, picture()).json()["reference"]
    rows = [
        f"k1,A,en-GB,B,{PICTURE},{name}",
        f"k2,A,en-GB,B,{PICTURE},",
        f"k3,A,en-GB,B,{PICTURE},x",
    ]
    content = "\n".join(["key,prompt,locale,headline,aspects,reference", *rows]).encode()

    answer = desk.ask(
        "POST",
        f"/v1/jobs:batch?campaign={CAMPAIGN}&partial=true",
        content=content,
        headers={"Content-Type": "text/csv"},
    )

    assert answer.status_code == 202
    problem = answer.json()["problems"][0]
    assert (problem["row"], problem["field"], problem["rule"]) == (4, "reference", "reference")
    row = desk.door.ledger.job(ids.job_id(CUSTOMER, "k1"))
    assert row is not None
    request = manifest.load(stored_manifest(desk.door, row) or b"")
    assert request.reference is not None
    assert request.reference.key == ids.reference_key(CUSTOMER, name)


def test_pictures_that_vendors_misread_are_made_plain() -> None:
    """A deep grey ramp keeps its greys; what was done is told."""
    ramp = Image.new("I;16", (256, 1))
    ramp.putdata([value * 257 for value in range(256)])
    desk = desk_of(SIMILAR)

    told = upload(desk, saved(ramp, "PNG"), "image/png").json()

    assert told["changes"] == ["16 bits scaled to 8"]
    kept = desk.door.objects.get(ids.reference_key(CUSTOMER, told["reference"]))
    with Image.open(io.BytesIO(kept or b"")) as plain:
        assert list(plain.get_flattened_data()) == list(range(256))


class SlowPictures(PillowPictures):
    """Looks at no picture before it is told to."""

    def __init__(self) -> None:
        self.told = Event()

    def normal(self, content: bytes) -> Normal | Unreadable:
        self.told.wait(60)
        return super().normal(content)


def test_few_pictures_are_in_hand_and_the_others_are_asked_to_come_again() -> None:
    """Small files can hold very large pictures: they may not take all threads of the server."""
    door, pictures = front_door(), SlowPictures()
    settings = Settings(api_url=PUBLIC, oidc_issuer=ISSUER)
    ports = replace(ports_of(door), pictures=pictures)
    desk = Clerk(door, create_app(ports, settings, OidcProvider(settings)))

    with ThreadPoolExecutor(20) as pool:
        sent = [pool.submit(upload, desk, picture()) for _ in range(20)]
        done = as_completed(sent, timeout=60)
        early = [next(done).result() for _ in range(12)]
        pictures.told.set()

    assert {answer.status_code for answer in early} == {503}
    assert {answer.headers["Retry-After"] for answer in early} == {"5"}
    assert [one.result().status_code for one in sent].count(201) == 8
    assert upload(desk, picture()).status_code == 201


def bomb(width: int = 20_000, height: int = 20_000) -> bytes:
    """Return a small file whose header claims hundreds of millions of pixels."""
    content = bytearray(saved(Image.new("L", (1, 1)), "PNG"))
    content[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    return bytes(content)


ANIMATED = saved(
    Image.new("RGB", (9, 9)), "WEBP", save_all=True, append_images=[Image.new("RGB", (9, 9), "red")]
)


@pytest.mark.parametrize(
    ("content", "kind", "told"),
    [
        (b"", "image/png", "no JPEG"),
        (b"GIF89a" + bytes(99), "image/png", "no JPEG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png", "no JPEG"),
        (picture()[:-500], "image/jpeg", "does not decode"),
        (bomb(), "image/png", "pixels"),
        (bomb(8_001, 5_000), "image/png", "8001x5000 pixels, more than 40 million; scale it down"),
        (ANIMATED, "image/webp", "2 pictures"),
        (saved(Image.new("CMYK", (9, 9)), "JPEG"), "image/jpeg", "CMYK"),
    ],
    ids=[
        "empty",
        "GIF",
        "SVG",
        "truncated",
        "a size bomb",
        "too large",
        "animated",
        "CMYK without a profile",
    ],
)
def test_what_can_not_be_paid_for_is_refused_and_not_kept(
    content: bytes, kind: str, told: str
) -> None:
    """With the reason, before any job names it."""
    desk = desk_of(SIMILAR)

    answer = upload(desk, content, kind)

    assert answer.status_code == 422
    assert told in answer.json()["detail"]
    assert answer.json()["problems"][0]["rule"] == "picture"
    assert desk.door.objects.objects == {}


def test_too_many_bytes_and_other_kinds_are_refused_unread() -> None:
    desk = desk_of(SIMILAR)

    large = upload(desk, b"x" * (REFERENCE_LIMIT + 1))
    other = upload(desk, b"x", "image/gif")

    assert [large.status_code, other.status_code] == [413, 415]
