"""Words with the whole style of their layer, as Photoshop takes them.

Belongs here: the bodies of texts, and one run over all letters. Does not: where styles come from
(``adapters/psd_text.py``), layers.
An edit that names only the words puts kerning, leading and capitals back to defaults.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from fireflyassets.adapters.adobe.bodies import Body
from fireflyassets.core.text_style import TextStyle

TEXT_LONGEST: Final = 51_200
COLOUR_HIGHEST: Final = 32_768

Colour = Annotated[int, Field(ge=0, le=COLOUR_HIGHEST)]
Name = Annotated[str, Field(min_length=1)]


class ApplyBody(Body):
    """A run of letters, both ends included."""

    first: Annotated[int, Field(ge=0, serialization_alias="from")]
    last: Annotated[int, Field(ge=0, serialization_alias="to")]


class FontBody(Body):
    """A font by its PostScript name."""

    post_script_name: Name


class RgbBody(Body):
    """A colour."""

    red: Colour
    green: Colour
    blue: Colour


class CharacterStyleBody(Body):
    """The whole style of letters: what is left out falls back to the service's default."""

    font: FontBody
    font_size: Annotated[float, Field(gt=0)]
    auto_leading: bool
    line_height: Annotated[float, Field(gt=0)] | None = None
    letter_spacing: float
    caps_option: Literal["normal_caps", "small_caps", "all_caps", "all_small_caps"]
    font_color: RgbBody | None = None
    synthetic_bold: bool
    synthetic_italic: bool
    underline: bool


class CharacterRun(Body):
    """A style for a run of letters."""

    apply: ApplyBody
    character_style: CharacterStyleBody


class ParagraphStyleBody(Body):
    """How a paragraph stands."""

    alignment: (
        Literal[
            "left", "center", "right", "justify", "justify_left", "justify_right", "justify_center"
        ]
        | None
    ) = None
    writing_direction: Literal["left_to_right", "right_to_left"]


class ParagraphRun(Body):
    """A style for a run of paragraphs."""

    apply: ApplyBody
    paragraph_style: ParagraphStyleBody


class TextBody(Body):
    """Words with their styles."""

    content: Annotated[str, Field(max_length=TEXT_LONGEST)]
    character_styles: tuple[CharacterRun, ...] | None = None
    paragraph_styles: tuple[ParagraphRun, ...] | None = None


def text_fields(words: str, style: TextStyle | None) -> dict[str, object]:
    """Return a text's fields; without a *style*, the words alone."""
    if style is None:
        return {"content": words}
    apply = {"first": 0, "last": max(0, _units(words) - 1)}
    return {
        "content": words,
        "character_styles": ({"apply": apply, "character_style": _letters(style)},),
        "paragraph_styles": ({"apply": apply, "paragraph_style": _paragraph(style)},),
    }


def _letters(style: TextStyle) -> dict[str, object]:
    colour = None
    if style.colour is not None:
        colour = dict(zip(("red", "green", "blue"), style.colour, strict=True))
    return {
        "font": {"post_script_name": style.font},
        "font_size": float(style.size),
        "auto_leading": style.leading is None,
        "line_height": None if style.leading is None else float(style.leading),
        "letter_spacing": float(style.tracking),
        "caps_option": style.capitals,
        "font_color": colour,
        "synthetic_bold": style.synthetic_bold,
        "synthetic_italic": style.synthetic_italic,
        "underline": style.underline,
    }


def _paragraph(style: TextStyle) -> dict[str, object]:
    direction = "right_to_left" if style.right_to_left else "left_to_right"
    return {"alignment": style.alignment, "writing_direction": direction}


def _units(words: str) -> int:
    """Return the length in UTF-16 units, which is how Photoshop counts letters."""
    return len(words.encode("utf-16-le", "surrogatepass")) // 2
