"""Colours of a generated picture, derived from the prompt's hash.

Belongs here: choosing hues that go together and mixing them along a ramp. Does not belong here:
shapes (`scenes.py`).
"""

import colorsys

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.floating]  # One value per pixel, or three for colour; 0..1.

_HARMONIES = (0.0, 0.08, 0.33, 0.45, 0.5, 0.58)  # Hue distance of the accent, in turns.


def palette_from(dice: np.random.Generator) -> Field:
    """Return five colours, dark to light, with one accent; shape (5, 3)."""
    hue = float(dice.random())
    accent = hue + _HARMONIES[int(dice.integers(len(_HARMONIES)))]
    drift = float(dice.uniform(-0.1, 0.1))
    saturation = float(dice.uniform(0.45, 0.8))
    stops = [
        colorsys.hsv_to_rgb(hue % 1, min(1, saturation * 1.1), 0.20),
        colorsys.hsv_to_rgb((hue + drift) % 1, saturation, 0.45),
        colorsys.hsv_to_rgb(accent % 1, saturation, 0.86),
        colorsys.hsv_to_rgb((hue + 2 * drift) % 1, saturation * 0.55, 0.92),
        colorsys.hsv_to_rgb((accent + drift) % 1, saturation * 0.22, 0.99),
    ]
    return np.asarray(stops, dtype=np.float32)


def ramp(level: Field, colours: Field) -> Field:
    """Return *colours* mixed along *level* (0..1, any 2-D shape); one more axis of three."""
    table = np.empty((256, 3), dtype=np.float32)
    at = np.linspace(0, 1, 256)
    stops = np.linspace(0, 1, len(colours))
    for channel in range(3):
        table[:, channel] = np.interp(at, stops, colours[:, channel])
    index = np.clip(level * 255, 0, 255).astype(np.uint8)
    return table[index]


def blend(below: Field, above: Field, cover: Field) -> Field:
    """Return *above* laid over *below* where *cover* (0..1) says so."""
    return below + (above - below) * cover[..., None]
