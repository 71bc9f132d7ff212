"""How a text layer is set.

Belongs here: a style as a value, and its JSON. Does not: reading documents (``adapters/psd.py``),
the vendor's names for it (``adapters/adobe/photoshop_text.py``).
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Final, cast

_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How a text layer is set, whole: what an edit leaves out goes back to the vendor's default."""

    font: str
    """PostScript name."""
    size: Decimal
    """Pixels."""
    leading: Decimal | None = None
    """Pixels between lines; None for automatic leading."""
    tracking: Decimal = Decimal(0)
    capitals: str = "normal_caps"
    colour: tuple[int, int, int] | None = None
    """Red, green, blue from 0 to 32,768."""
    alignment: str | None = None
    right_to_left: bool = False
    synthetic_bold: bool = False
    synthetic_italic: bool = False
    underline: bool = False

    def of(self, words: str) -> "TextStyle":
        """Return the style with the direction in which *words* are written."""
        strong = (unicodedata.bidirectional(letter) for letter in words)
        first = next((kind for kind in strong if kind in {"L", *_RIGHT_TO_LEFT}), "L")
        return replace(self, right_to_left=first in _RIGHT_TO_LEFT)

    def at(self, percent: int) -> "TextStyle":
        """Return the style with its size and leading at *percent*."""
        if percent == 100:  # noqa: PLR2004 - as it is.
            return self
        leading = None if self.leading is None else self.leading * percent / 100
        return replace(self, size=self.size * percent / 100, leading=leading)

    def to_json(self) -> dict[str, object]:
        """Return the style as JSON; `from_json` reads it back."""
        said = asdict(self)
        for name in ("size", "leading", "tracking"):
            said[name] = None if said[name] is None else str(said[name])
        return said


def from_json(said: Mapping[str, object]) -> TextStyle:
    """Return a style that `TextStyle.to_json` wrote."""
    fields = dict(said)
    for name in ("size", "leading", "tracking"):
        fields[name] = None if fields[name] is None else Decimal(str(fields[name]))
    if fields["colour"] is not None:
        fields["colour"] = tuple(cast("list[int]", fields["colour"]))
    return TextStyle(**fields)  # pyright: ignore[reportArgumentType] - the fields are its own.
