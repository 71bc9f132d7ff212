"""Generated pictures: the same prompt and seed give the same pixels, others a different picture.

Belongs here: turning a recipe into a Pillow image. It is drawn small and enlarged smoothly, so
that a 4-megapixel picture costs a fraction of a CPU second. Does not belong here: motifs
(`scenes.py`), colours (`palette.py`), encoding (`encoding.py`).
"""

import hashlib

import numpy as np
from PIL import Image

from fireflyassets.twin.palette import palette_from
from fireflyassets.twin.recipes import Recipe
from fireflyassets.twin.scenes import SCENES, grid_of

_DRAWN_LONG_SIDE = 768  # Pixels; enlarged from here.


def _dice(*parts: object) -> np.random.Generator:
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def draw(recipe: Recipe) -> Image.Image:
    """Return the picture of *recipe*, RGB, at its size.

    The prompt decides motif and colours, prompt and seed together the arrangement.
    """
    of_prompt = _dice("prompt", recipe.prompt_sha256, recipe.content_class)
    scene = SCENES[int(of_prompt.integers(len(SCENES)))]
    colours = palette_from(of_prompt)
    scale = min(1.0, _DRAWN_LONG_SIDE / max(recipe.width, recipe.height))
    grid = grid_of(max(1, round(recipe.width * scale)), max(1, round(recipe.height * scale)))
    field = scene(_dice("seed", recipe.prompt_sha256, recipe.seed), grid, colours)
    pixels = (np.clip(field, 0, 1) * 255).astype(np.uint8)
    small = Image.fromarray(pixels, "RGB")
    return small.resize((recipe.width, recipe.height), Image.Resampling.BICUBIC)
