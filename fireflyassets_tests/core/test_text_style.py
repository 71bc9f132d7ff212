"""Styles of texts: their JSON, and the direction of words."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.text_style import TextStyle, from_json

STYLE = TextStyle(font="Brand", size=Decimal("64.5"))
NUMBERS = st.decimals(min_value=0, max_value=1000, places=2)


@given(
    st.builds(
        TextStyle,
        font=st.text(min_size=1),
        size=NUMBERS,
        leading=st.none() | NUMBERS,
        tracking=NUMBERS,
        colour=st.none() | st.tuples(*[st.integers(0, 32_768)] * 3),
        alignment=st.none() | st.just("center"),
    )
)
def test_style_reads_back(style: TextStyle) -> None:
    assert from_json(style.to_json()) == style


@pytest.mark.parametrize(
    ("words", "right_to_left"),
    [
        ("Sale", False),
        ("\u05e9\u05dc\u05d5\u05dd 7UP", True),
        ("7UP \u0645", False),
        ("50 %", False),
    ],
)
def test_direction_follows_the_first_strong_letter(words: str, *, right_to_left: bool) -> None:
    """Hebrew and Arabic run from the right; numbers and signs alone do not."""
    assert STYLE.of(words).right_to_left is right_to_left
