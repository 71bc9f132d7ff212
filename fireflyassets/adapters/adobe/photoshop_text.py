"""Words with the whole style of their layer, as Photoshop takes them.

Belongs here: one run over all letters. Does not: where styles come from (``adapters/psd.py``).
An edit that names only the words puts kerning, leading and capitals back to defaults.
"""

from fireflyassets.ports.documents import TextStyle


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
