"""The renderer: the PSD decides where, how large and in which colour; the edits, what."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from psd_tools.api.layers import Layer
from psd_tools.composite import composite_pil
from psd_tools.constants import BlendMode

from fireflyassets.twin.composite import (
    LayerEdit,
    UnknownLayer,
    WrongLayerKind,
    manifest,
    render,
)
from fireflyassets_tests.twin import retouch
from fireflyassets_tests.twin.sketches import RED, at, differing, fill, flat, picture, pixels, say


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
