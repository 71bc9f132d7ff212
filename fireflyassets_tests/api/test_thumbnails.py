"""Thumbnails over HTTP. Here: what is shown, and where without a token."""

import io
from dataclasses import replace

from PIL import Image

from fireflyassets.core import ids
from fireflyassets_tests.api.desk_clerk import (
    OTHER,
    PUBLIC,
    TOKEN,
    clerk,
    finished,
    picture,
)
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER

LOOPBACK = "http://127.0.0.1:8000"


def test_a_thumbnail_is_a_small_webp() -> None:
    """At most 320 pixels wide, from the delivered file."""
    desk = clerk()
    job_id = finished(desk)

    answer = desk.ask("GET", f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1920")

    assert answer.headers["Content-Type"] == "image/webp"
    small = Image.open(io.BytesIO(answer.content))
    assert (small.format, small.size) == ("WEBP", (320, 180))


def test_pages_of_the_local_stack_show_pictures_without_a_token() -> None:
    """Only where the public address and the one who asks are this machine."""
    for api_url, peer, status in [
        (LOOPBACK, "127.0.0.1", 200),
        (LOOPBACK, "203.0.113.9", 401),
        (PUBLIC, "127.0.0.1", 401),
        (PUBLIC, "203.0.113.9", 401),
    ]:
        desk = clerk(api_url=api_url, peer=peer)
        job_id = finished(desk)

        answer = desk.ask("GET", f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1920", token=None)

        assert answer.status_code == status


def test_a_strange_name_of_this_machine_shows_no_pictures() -> None:
    """Somebody else's name that resolves here makes their page no reader of our pictures."""
    desk = clerk(api_url=LOOPBACK, peer="127.0.0.1")
    address = f"/assets/{CUSTOMER}/{CAMPAIGN}/{finished(desk)}/1080x1920"

    for host in ("rebound.example:8000", "localhost:8000", "127.0.0.1:8001"):
        answer = desk.ask("GET", address, token=None, headers={"Host": host})
        assert answer.status_code == 401


def test_a_token_counts_on_the_local_stack_too() -> None:
    """Another tenant's token never opens ours, wherever it is shown."""
    desk = clerk(api_url=LOOPBACK, peer="127.0.0.1")
    job_id = finished(desk)

    address = f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1920"

    assert desk.ask("GET", address, token=TOKEN).status_code == 200
    assert desk.ask("GET", address, token=OTHER).status_code == 404
    assert desk.ask("GET", address, token="wrong").status_code == 401


def test_pictures_that_are_not_there_are_not_found() -> None:
    """Wrong names anywhere in the address, and files that are no picture."""
    desk = clerk()
    job_id = finished(desk)
    key = ids.delivery_key(CUSTOMER, CAMPAIGN, job_id, "1080x1080", "picture.jpg")
    desk.door.objects.put(key, picture()[:200], media_type="image/jpeg")

    for address in (
        f"/assets/{CUSTOMER}/other/{job_id}/1080x1920",
        f"/assets/bolt/{CAMPAIGN}/{job_id}/1080x1920",
        f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1x1",
        f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1080",
    ):
        assert desk.ask("GET", address).status_code == 404


def test_a_thumbnail_is_made_once() -> None:
    """The second time it comes from memory, and a new generation is made anew."""
    desk = clerk()
    job_id = finished(desk)
    address = f"/assets/{CUSTOMER}/{CAMPAIGN}/{job_id}/1080x1920"
    first = desk.ask("GET", address).content
    key = ids.delivery_key(CUSTOMER, CAMPAIGN, job_id, "1080x1920", "picture.jpg")
    desk.door.objects.put(key, picture(100, 100), media_type="image/jpeg")

    again = desk.ask("GET", address).content
    row = desk.door.ledger.job(job_id)
    assert row is not None
    desk.door.ledger._write(replace(row, generation=2))
    anew = desk.ask("GET", address).content

    assert again == first
    assert Image.open(io.BytesIO(anew)).size == (100, 100)
