"""Generated pictures: repeatable, distinct, and cheap enough to make thousands."""

import hashlib
import time
from itertools import combinations

import imagehash
from PIL import ImageStat

from fireflyassets.twin.art import draw
from fireflyassets.twin.firefly_pictures import generated
from fireflyassets.twin.recipes import Recipe

CPU_SECONDS = 0.4  # What one 4-megapixel picture may cost.
DISTINCT = 10  # Bits of 64: duplicates searches commonly call 8 or fewer the same picture.


def recipe(prompt: str, seed: int = 1, side: int = 128) -> Recipe:
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    return Recipe(prompt_sha256=digest, seed=seed, width=side, height=side)


def test_same_prompt_and_seed_give_the_same_bytes() -> None:
    """A picture can be drawn again at any time."""
    assert generated(recipe("a pear")) == generated(recipe("a pear"))


def test_prompts_and_seeds_give_distinct_pictures() -> None:
    """Perceptual hashes of any two prompts or seeds are clearly apart."""
    recipes = [recipe(f"fruit {index}", seed) for index in range(20) for seed in (1, 2)]
    hashes = [imagehash.phash(draw(each)) for each in recipes]
    nearest = min(int(one - other) for one, other in combinations(hashes, 2))
    assert nearest > DISTINCT


def test_pictures_have_contrast_and_colour() -> None:
    """No picture is flat, black or white."""
    for index in range(20):
        statistics = ImageStat.Stat(draw(recipe(f"fruit {index}")).convert("L"))
        assert statistics.stddev[0] > 12
        assert 20 < statistics.mean[0] < 240


def test_size_is_exact() -> None:
    """The picture has the asked size, whatever its proportions."""
    wide = Recipe(prompt_sha256="0", seed=1, width=1440, height=256)
    assert draw(wide).size == (1440, 256)


def test_four_megapixels_are_cheap() -> None:
    """A 2048 x 2048 JPEG costs less than its allowance of CPU time, every motif included."""
    costs: list[float] = []
    for index in range(8):
        before = time.thread_time()
        generated(recipe(f"fruit {index}", side=2048))
        costs.append(time.thread_time() - before)
    assert sorted(costs)[len(costs) // 2] < CPU_SECONDS
