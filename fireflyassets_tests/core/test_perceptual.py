"""Near pictures have near hashes, whatever was done to their light."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.perceptual import BITS, COLUMNS, ROWS, difference_hash, distance

GREYS = st.lists(st.integers(0, 200), min_size=ROWS * COLUMNS, max_size=ROWS * COLUMNS)
HASHES = st.integers(0, 2**BITS - 1)


def test_rising_rows_set_every_bit_and_falling_ones_none() -> None:
    """A bit stands for a pixel that is darker than its right neighbour."""
    rising = list(range(COLUMNS)) * ROWS

    assert difference_hash(rising) == 2**BITS - 1
    assert difference_hash(rising[::-1]) == 0


def test_the_first_pixel_has_the_highest_bit() -> None:
    """Hashes of all processes are the same numbers."""
    assert difference_hash([0, *[1] * (ROWS * COLUMNS - 1)]) == 2 ** (BITS - 1)


@given(GREYS, st.integers(0, 55))
def test_more_light_changes_nothing(grey: list[int], light: int) -> None:
    """A picture and the same one brightened are one picture."""
    assert difference_hash([one + light for one in grey]) == difference_hash(grey)


@given(GREYS, st.integers(0, ROWS * COLUMNS - 1))
def test_one_pixel_changes_two_bits_at_most(grey: list[int], at: int) -> None:
    """A small change of the picture is a small distance."""
    changed = [*grey[:at], 255, *grey[at + 1 :]]

    assert distance(difference_hash(grey), difference_hash(changed)) <= 2


@given(HASHES, HASHES)
def test_a_distance_is_the_same_both_ways_and_nothing_to_itself(one: int, other: int) -> None:
    """Distances order pictures by likeness."""
    assert distance(one, other) == distance(other, one) <= BITS
    assert distance(one, one) == 0


@pytest.mark.parametrize("count", [0, ROWS * COLUMNS - 1, ROWS * COLUMNS + 1])
def test_another_number_of_pixels_is_refused(count: int) -> None:
    """A hash of fewer pixels would be near to all."""
    with pytest.raises(ValueError, match="72 pixels"):
        difference_hash([0] * count)
