"""Slots that were not filled: found by their pixels, and no filled one taken for such."""

import io
from functools import cache
from pathlib import Path

import pytest
from PIL import Image

from fireflyassets.adapters.pillow import PillowPictures
from fireflyassets.ports.pictures import SlotView
from fireflyassets.twin.composite import LayerEdit, render

FOLDER = Path(__file__).parents[2] / "campaigns" / "acme" / "spring-launch"
DOCUMENTS = ("1080x1080", "1080x1920", "1920x1080")
PICTURES = PillowPictures()


@cache
def template(aspect: str) -> bytes:
    """Return a document of the sample campaign."""
    return (FOLDER / f"{aspect}.psd").read_bytes()


@cache
def views(aspect: str) -> tuple[SlotView, ...]:
    """Return its slot as the factory knows it."""
    return tuple(PICTURES.slots(template(aspect), pictures={"Hero"}, texts={"Headline"}))


def picture(colour: str) -> bytes:
    """Return a picture of one colour."""
    target = io.BytesIO()
    Image.new("RGB", (600, 600), colour).save(target, "PNG")
    return target.getvalue()


def composite(aspect: str, hero: bytes | None, *, quality: int = 90) -> bytes:
    """Return what the service makes of a headline and, unless it keeps the old one, a picture."""
    edits = [LayerEdit("Headline", None, None, "A longer headline than was")]
    if hero is not None:
        edits.append(LayerEdit("Hero", None, hero, None))
    target = io.BytesIO()
    render(template(aspect), edits).convert("RGB").save(target, "JPEG", quality=quality)
    return target.getvalue()


@pytest.mark.parametrize("quality", [60, 95])
@pytest.mark.parametrize("aspect", DOCUMENTS)
def test_a_kept_picture_is_found(aspect: str, quality: int) -> None:
    """Another headline and a JPEG's noise do not hide that the slot is as it was."""
    assert PICTURES.unfilled(composite(aspect, None, quality=quality), views(aspect)) == ["Hero"]


@pytest.mark.parametrize("colour", ["white", "black", "#888888", "#e8dcc8"])
@pytest.mark.parametrize("aspect", DOCUMENTS)
def test_a_filled_slot_passes(aspect: str, colour: str) -> None:
    """Even a picture of one pale colour is told from the template's own."""
    assert PICTURES.unfilled(composite(aspect, picture(colour)), views(aspect)) == []


def test_what_can_t_be_compared_passes() -> None:
    """Without a preview that can be read, or with no such layer, nothing is said of a slot."""
    made = composite("1080x1080", None)

    for document in (b"", b"8BPSnavy", template("1080x1080")[:5000]):
        assert PICTURES.slots(document, pictures={"Hero"}, texts=()) == []
    absent = PICTURES.slots(template("1080x1080"), pictures={"Logo bar"}, texts=())
    assert PICTURES.unfilled(made, absent) == []


def test_what_other_layers_change_is_left_out() -> None:
    """A picture and a headline above a slot say nothing of it; what is left is compared."""
    made = composite("1920x1080", picture("black"))

    blind = PICTURES.slots(template("1920x1080"), pictures={"Paper"}, texts={"Headline", "Hero"})
    naive = PICTURES.slots(template("1920x1080"), pictures={"Paper"}, texts=())

    assert PICTURES.unfilled(made, blind) == ["Paper"]
    assert PICTURES.unfilled(made, naive) == []
