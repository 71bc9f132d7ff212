"""The renderer: the PSD decides where, how large and in which colour; the edits, what."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw
from psd_tools.api.layers import Layer
from psd_tools.composite import composite_pil
from psd_tools.constants import BlendMode

from fireflyassets.twin.composite import (
    LayerEdit,
    UnknownLayer,
    UnreadablePicture,
    WrongLayerKind,
    manifest,
    render,
)
from fireflyassets_tests.twin import retouch

RED, BLUE = (200, 30, 30), (30, 60, 200)


def picture(size: tuple[int, int] = (1200, 900), kind: str = "PNG", mode: str = "RGB") -> bytes:
    """Return a picture that resembles no part of a template, and no two parts of it each other."""
    width, height = size
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    bands = (across * 7 // 8 + down * 5 // 8) % 256, (across // 3) % 256, (down // 3) % 256
    image = Image.fromarray(np.dstack(bands).astype(np.uint8)).convert(mode)
    content = BytesIO()
    image.save(content, kind)
    return content.getvalue()


def flat(colour: tuple[int, ...], mode: str = "RGB", kind: str = "PNG") -> bytes:
    """Return a small picture of one colour."""
    content = BytesIO()
    Image.new(mode, (64, 64), colour).save(content, kind)
    return content.getvalue()


def fill(content: bytes, layer: str = "Hero") -> LayerEdit:
    return LayerEdit(layer, None, content, None)


def say(words: str, layer: str = "Headline") -> LayerEdit:
    return LayerEdit(layer, None, None, words)


def pixels(image: Image.Image) -> npt.NDArray[np.int16]:
    return np.asarray(image.convert("RGB"), dtype=np.int16)


def at(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    """Return one pixel."""
    return tuple(int(value) for value in pixels(image)[y, x])


def differing(one: Image.Image, other: Image.Image) -> tuple[int, int, int, int] | None:
    """Return the box of all pixels that differ by more than rounding."""
    rows, columns = np.nonzero((np.abs(pixels(one) - pixels(other)) > 2).any(axis=2))
    if not rows.size:
        return None
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


@pytest.mark.parametrize("aspect", retouch.ASPECTS)
def test_picture_fills_the_slot_and_nothing_else(aspect: str) -> None:
    """Inside its quad the picture shows; outside, the picture as stored in the PSD stays."""
    document = retouch.template(aspect)
    without, filled = render(document, []), render(document, [fill(picture())])
    slot = retouch.named(retouch.opened(document), "Hero")

    box = differing(without, filled)

    assert f"{filled.width}x{filled.height}" == aspect
    assert box is not None
    assert slot.left <= box[0] < box[2] <= slot.right
    assert slot.top <= box[1] < box[3] <= slot.bottom
    assert (box[2] - box[0]) * (box[3] - box[1]) > 0.8 * slot.width * slot.height * 0.9


def test_picture_covers_the_slot_and_is_cut_on_both_sides_alike() -> None:
    """A wide picture in the square's slot (1080x720) loses the same at its left and right."""
    image = Image.new("RGB", (3000, 1000), RED)
    ImageDraw.Draw(image).rectangle((1450, 0, 1550, 1000), fill=BLUE)
    content = BytesIO()
    image.save(content, "PNG")

    row = pixels(render(retouch.template(), [fill(content.getvalue())]))[300]

    blue = np.flatnonzero((np.abs(row - BLUE) < 8).all(axis=1))
    assert (blue.min(), blue.max()) == pytest.approx((540 - 36, 540 + 36), abs=2)
    assert (np.abs(row[60] - RED) < 8).all()


def test_slot_moved_in_the_psd_moves_the_picture() -> None:
    """40 pixels in the document are 40 pixels in the output."""
    document = retouch.template()
    before = pixels(render(document, [fill(picture())]))
    after = pixels(render(retouch.moved_slot(document, "Hero", right=40), [fill(picture())]))

    assert (after[160:400, 440:880] == before[160:400, 400:840]).all()
    assert (after[160:400, 440:880] != before[160:400, 440:880]).any()
    assert (after[830:] == before[830:]).all()


def test_frame_moved_in_the_psd_moves_the_text() -> None:
    """The text stands where the document's frame stands."""
    document = retouch.template()
    moved = retouch.moved_text(document, "Headline", right=24, down=16)
    ground = pixels(render(document, [say(" ")]))
    before, after = (pixels(render(each, [say("Ahoy")])) for each in (document, moved))

    ink = (before != ground).any(axis=2)
    shifted = (after != ground).any(axis=2)

    assert ink.sum() > 1000
    overlap = np.roll(ink, (16, 24), axis=(0, 1)) & shifted
    assert overlap.sum() > 0.98 * ink.sum()


def test_text_colour_comes_from_the_psd() -> None:
    """A designer's new colour is the headline's new colour, and nothing else changes."""
    document = retouch.template()
    red = retouch.recoloured_text(document, "0.0902 .24706 .2", "0.8000 .10000 .1")
    assert red != document

    before, after = (render(each, [say("Ahoy")]) for each in (document, red))

    box = differing(before, after)
    assert box is not None
    assert box[0] >= 72
    assert 764 <= box[1] < box[3] <= 972
    darkest = pixels(after)[box[1] : box[3], box[0] : box[2]].reshape(-1, 3)
    assert (np.abs(darkest - (204, 25, 25)) <= 1).all(axis=1).any()


def test_recoloured_layer_changes_exactly_there() -> None:
    """A layer painted anew changes its own pixels, to that colour, and no others."""
    document = retouch.template()
    edits = [fill(picture()), say("Ahoy")]

    before = render(document, edits)
    after = render(retouch.recoloured(document, "Hairline", RED), edits)

    assert differing(before, after) == (72, 984, 552, 987)
    assert (pixels(after)[984:987, 72:552] == RED).all()


def test_layers_above_a_slot_stay_above_it() -> None:
    """The frame and the logo cover the picture."""
    image = render(retouch.template(), [fill(flat(RED))])

    assert at(image, 5, 300) == (23, 63, 51)
    assert at(image, 540, 300) == RED


def test_hidden_layer_stays_hidden() -> None:
    """New content does not show a layer that the designer hid."""
    hidden = retouch.changed(
        retouch.template(), "Hero", lambda slot: setattr(slot, "visible", False)
    )

    assert differing(render(hidden, []), render(hidden, [fill(flat(RED))])) is None


def test_opacity_and_mask_of_a_slot_hold_for_its_new_picture() -> None:
    """Half of the picture's colour, and only inside the mask."""

    def veil(slot: Layer) -> None:
        mask = Image.new("L", (1080, 1080), 0)
        mask.paste(255, (400, 200, 800, 400))
        slot.create_mask(mask)
        slot.opacity = 128

    document = retouch.changed(retouch.template(), "Hero", veil)
    paper = at(render(document, [fill(flat(RED))]), 300, 300)
    inside = at(render(document, [fill(flat(RED))]), 600, 300)

    assert paper == (250, 223, 203)
    assert inside == tuple(
        pytest.approx((new * 128 + old * 127) / 255, abs=2)
        for new, old in zip(RED, paper, strict=True)
    )


def test_turned_slot_takes_a_turned_picture() -> None:
    """A quad on its corner shows the picture's corners up, right, down and left."""
    image = Image.new("RGB", (400, 400), RED)
    ImageDraw.Draw(image).rectangle((200, 0, 400, 400), fill=BLUE)
    content = BytesIO()
    image.save(content, "PNG")
    quad = (540.0, 160.0, 740.0, 360.0, 540.0, 560.0, 340.0, 360.0)
    document = retouch.turned_slot(retouch.template(), "Hero", quad)

    shown = render(document, [fill(content.getvalue())])

    assert at(shown, 450, 310) == RED
    assert at(shown, 640, 410) == BLUE
    assert at(shown, 360, 250) == (250, 223, 203)


def _multiplied(layer: Layer) -> None:
    layer.blend_mode = BlendMode.MULTIPLY


def _veiled(layer: Layer) -> None:
    layer.opacity = 100


@pytest.mark.parametrize(
    ("change", "layer"),
    [(_veiled, "Hero"), (_veiled, "Brand"), (_multiplied, "Hero"), (_multiplied, "Sprig")],
)
def test_what_lies_round_a_slot_is_flattened_as_psd_tools_would(
    change: Callable[[Layer], None], layer: str
) -> None:
    """With the stored pixels put back as the edit, the output is what psd-tools flattens."""
    document = retouch.changed(retouch.template(), layer, change)
    psd = retouch.opened(document)
    slot = retouch.named(psd, "Hero")
    stored = slot.topil()
    assert stored is not None
    content = BytesIO()
    stored.save(content, "PNG")

    shown = render(document, [fill(content.getvalue())])

    wanted = composite_pil(psd, 1.0, 0.0, None, None, force=False)
    assert wanted is not None
    assert np.abs(pixels(shown) - pixels(wanted)).max() <= 2


def test_layer_is_meant_by_id_before_name() -> None:
    """An id decides alone; of two layers of one name only the id can tell."""
    document = retouch.changed(
        retouch.template(), "Legal", lambda layer: setattr(layer, "name", "Headline")
    )

    with pytest.raises(UnknownLayer, match=r"2 layers have the name 'Headline' \(ids 14, 15\)"):
        render(document, [say("Ahoy")])
    box = differing(render(document, []), render(document, [LayerEdit(None, 15, None, "Ahoy")]))
    assert box is not None
    assert box[1] >= 1000


@pytest.mark.parametrize(("name", "number"), [("Hero ", None), ("hero", None), (None, 99)])
def test_unknown_layer_is_named(name: str | None, number: int | None) -> None:
    with pytest.raises(
        UnknownLayer, match=r"No layer has the (name|id) .*; the document has .*Hero"
    ):
        render(retouch.template(), [LayerEdit(name, number, flat(RED), None)])


@pytest.mark.parametrize(
    "edit", [fill(flat(RED), "Headline"), fill(flat(RED), "Brand"), say("Ahoy", "Hero")]
)
def test_wrong_kind_of_layer_is_refused(edit: LayerEdit) -> None:
    with pytest.raises(WrongLayerKind, match="cannot take"):
        render(retouch.template(), [edit])


def test_transparent_picture_shows_what_lies_below() -> None:
    """A picture's own alpha is kept."""
    image = render(retouch.template(), [fill(flat((*RED, 128), "RGBA"))])

    assert at(image, 540, 300) == tuple(
        pytest.approx((new + old) / 2, abs=2) for new, old in zip(RED, (250, 223, 203), strict=True)
    )


def test_photo_lying_on_its_side_is_set_upright() -> None:
    """A camera's orientation mark (EXIF 6) turns the picture: its left side comes to the top."""
    image = Image.new("RGB", (720, 1080), BLUE)
    ImageDraw.Draw(image).rectangle((0, 0, 359, 1080), fill=RED)
    exif = Image.Exif()
    exif[0x0112] = 6
    content = BytesIO()
    image.save(content, "JPEG", exif=exif, quality=95)

    shown = pixels(render(retouch.template(), [fill(content.getvalue())]))

    assert (np.abs(shown[200, 540] - RED) < 12).all()
    assert (np.abs(shown[500, 540] - BLUE) < 12).all()


def test_sixteen_bit_grey_keeps_its_greys() -> None:
    """A ramp stays a ramp; a plain conversion would clip all but the darkest to white."""
    ramp = np.tile(np.linspace(0, 65535, 512).astype(np.uint16), (400, 1))
    content = BytesIO()
    Image.fromarray(ramp).save(content, "PNG")

    row = pixels(render(retouch.template(), [fill(content.getvalue())]))[300, 60:1000:60, 0]

    assert (np.diff(row) > 5).all()


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk_picture_is_placed(kind: str) -> None:
    image = render(retouch.template(), [fill(flat((0, 255, 255, 0), "CMYK", kind))])

    red, green, blue = at(image, 540, 300)
    assert red > 230
    assert max(green, blue) < 40


@pytest.mark.parametrize("content", [b"", b"nonsense", picture()[:2000], b"\x89PNG\r\n\x1a\n"])
def test_broken_picture_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadablePicture):
        render(retouch.template(), [fill(content)])


def test_threads_share_a_document() -> None:
    """Many renders at once give what each gives alone."""
    document = retouch.template()
    words = [f"Ahoy {number}" for number in range(8)]
    alone = [pixels(render(document, [fill(picture()), say(each)])) for each in words]
    fresh = retouch.changed(document, "Legal", lambda layer: setattr(layer, "name", "Small"))

    def drawn(each: str) -> npt.NDArray[np.int16]:
        return pixels(render(fresh, [fill(picture()), say(each)]))

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(drawn, words))

    assert all((one == other).all() for one, other in zip(alone, together, strict=True))
    assert not (alone[0] == alone[1]).all()


def test_manifest_lists_the_tree_from_the_top() -> None:
    """Ids, kinds, boxes and nesting, the topmost layer first, as Photoshop lists them."""
    described = manifest(retouch.template())

    layers = cast("list[dict[str, Any]]", described["layers"])
    assert [(each["id"], each["name"], each["type"]) for each in layers] == [
        (15, "Legal", "text_layer"),
        (14, "Headline", "text_layer"),
        (8, "Brand", "group_layer"),
        (4, "Pour", "group_layer"),
        (3, "Hero", "smart_object_layer"),
        (2, "Paper", "layer"),
    ]
    assert layers[4]["bounds"] == {"left": 0, "top": 0, "right": 1080, "bottom": 720}
    assert layers[4]["isVisible"] is True
    assert [each["name"] for each in layers[2]["children"]] == [
        "Logo",
        "Frame",
        "Hairline",
        "Sprig",
    ]
