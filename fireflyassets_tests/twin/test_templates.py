"""The shipped templates: what every campaign template must be."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from psd_tools.api.layers import SmartObjectLayer

from fireflyassets.twin.composite import render
from fireflyassets_tests.twin import retouch

each_aspect = pytest.mark.parametrize("aspect", retouch.ASPECTS)


@each_aspect
def test_template_shows_its_layers_in_any_viewer(aspect: str) -> None:
    """The stored preview is what the layers give."""
    document = retouch.template(aspect)
    preview = retouch.opened(document).topil()
    assert preview is not None

    drawn = render(document, [])

    difference = np.asarray(drawn, np.int16) - np.asarray(preview.convert("RGB"), np.int16)
    assert np.abs(difference).max() <= 2
    assert len(set(preview.convert("RGB").resize((64, 64)).get_flattened_data())) > 100


@each_aspect
def test_template_has_stable_ids_and_stays_small(aspect: str) -> None:
    """The same layer has the same id in each aspect; a file has less than 1.5 MB."""
    document = retouch.template(aspect)
    layers = {layer.name: layer.layer_id for layer in retouch.opened(document).descendants()}

    assert len(document) < 1_500_000
    assert layers["Hero"] == 3
    assert layers["Headline"] == 14
    assert layers["Legal"] == 15
    assert len(set(layers.values())) == len(layers) == 14


@each_aspect
def test_template_carries_a_placeholder_in_its_slot(aspect: str) -> None:
    """The smart object holds a picture of its own, so that the slot is never empty."""
    document = retouch.template(aspect)
    slot = retouch.named(retouch.opened(document), "Hero")
    assert isinstance(slot, SmartObjectLayer)

    with Image.open(BytesIO(slot.smart_object.data)) as image:
        assert image.size == (1200, 1200)


@each_aspect
def test_headline_stands_out_from_its_ground(aspect: str) -> None:
    """At least 7:1 (WCAG AAA) between the headline's colour and all that lies in its frame."""
    document = retouch.template(aspect)
    quiet = retouch.changed(document, "Headline", lambda layer: setattr(layer, "visible", False))
    frames = {"1920x1080": (104, 410, 980, 720), "1080x1920": (84, 1336, 996, 1660)}
    frame = frames.get(aspect, (72, 764, 1008, 972))

    ground = np.asarray(render(quiet, []).crop(frame), np.float64) / 255

    linear = np.where(ground <= 0.04045, ground / 12.92, ((ground + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    ink = 0.2126 * 0.0085 + 0.7152 * 0.0497 + 0.0722 * 0.0331
    assert (luminance.min() + 0.05) / (ink + 0.05) > 7
