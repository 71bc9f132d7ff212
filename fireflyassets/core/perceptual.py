"""The perceptual hash of a picture: near pictures have near hashes.

Belongs here: the difference hash (dHash) of grey pixels, and how far two are apart. Does not:
decoding and scaling a picture (``adapters/pillow.py``), what is taken for the same.
Source: N. Krawetz, "Kind of Like That", 2013.
"""

from collections.abc import Sequence
from typing import Final

COLUMNS: Final = 9
"""Grey pixels in a row: eight differences need nine."""
ROWS: Final = 8
BITS: Final = ROWS * (COLUMNS - 1)


def difference_hash(grey: Sequence[int]) -> int:
    """Return the 64-bit dHash of `ROWS` x `COLUMNS` grey pixels, row by row, each 0 to 255.

    A bit says that a pixel is darker than the one to its right; the first pixel has the highest.

    Raises:
        ValueError: There are more pixels or fewer.
    """
    if len(grey) != ROWS * COLUMNS:
        raise ValueError(f"A hash is of {ROWS * COLUMNS} pixels, not of {len(grey)}.")
    value = 0
    for row in range(ROWS):
        for column in range(COLUMNS - 1):
            at = row * COLUMNS + column
            value = value << 1 | (grey[at] < grey[at + 1])
    return value


def distance(one: int, other: int) -> int:
    """Return in how many of their bits two hashes differ (Hamming): 0 to `BITS`."""
    return (one ^ other).bit_count()
