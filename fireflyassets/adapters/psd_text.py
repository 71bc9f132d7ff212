"""The style of a text layer, out of a PSD's engine data.

Belongs here: Photoshop's own names and numbers for a style. Does not: other layers
(``adapters/psd.py``). Sizes stand before the layer's transform, and are scaled here.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, cast

from psd_tools.api.layers import TypeLayer

from fireflyassets.core.text_style import TextStyle

_CAPITALS: Final = {0: "normal_caps", 1: "small_caps", 2: "all_caps"}
_ALIGNMENTS: Final = {
    0: "left",
    1: "right",
    2: "center",
    3: "justify_left",
    4: "justify_right",
    5: "justify_center",
    6: "justify",
}
_RGB: Final = 1
_FULL: Final = 32_768
_INVISIBLE: Final = "AdobeInvisFont"


def style(layer: TypeLayer) -> TextStyle | None:
    """Return the style of the layer's first letters; None where the document has none."""
    runs = _runs(layer)
    if not runs:
        return None
    sheet = {**_defaults(layer), **runs[0]}
    scale = Decimal(str(round(abs(layer.transform[3]) or 1.0, 4)))
    leading = None if sheet.get("AutoLeading") else _number(sheet.get("Leading"))
    return TextStyle(
        font=_font_names(layer)[int(sheet.get("Font", 0))],
        size=_number(sheet.get("FontSize", 12)) * scale,
        leading=None if leading is None else leading * scale,
        tracking=_number(sheet.get("Tracking", 0)),
        capitals=_CAPITALS.get(int(sheet.get("FontCaps", 0)), "normal_caps"),
        colour=_colour(sheet.get("FillColor")),
        alignment=_alignment(layer),
        synthetic_bold=bool(sheet.get("FauxBold", False)),
        synthetic_italic=bool(sheet.get("FauxItalic", False)),
        underline=bool(sheet.get("Underline", False)),
    )


def fonts(layer: TypeLayer) -> tuple[str, ...]:
    """Return the fonts that letters of the layer use, by name."""
    names = _font_names(layer)
    default = int(_defaults(layer).get("Font", 0))
    used = {names[int(run.get("Font", default))] for run in _runs(layer)}
    return tuple(sorted(used - {_INVISIBLE}))


def _runs(layer: TypeLayer) -> list[Mapping[str, Any]]:
    runs = layer.engine_dict["StyleRun"]["RunArray"]
    return [cast("Mapping[str, Any]", run["StyleSheet"]["StyleSheetData"]) for run in runs]


def _defaults(layer: TypeLayer) -> Mapping[str, Any]:
    sheets = layer.resource_dict.get("StyleSheetSet") or ()
    return cast("Mapping[str, Any]", sheets[0]["StyleSheetData"]) if sheets else {}


def _font_names(layer: TypeLayer) -> list[str]:
    return [str(font["Name"]).strip("'\0") for font in layer.resource_dict["FontSet"]]


def _alignment(layer: TypeLayer) -> str | None:
    runs = layer.engine_dict["ParagraphRun"]["RunArray"]
    properties = cast("Mapping[str, Any]", runs[0]["ParagraphSheet"]["Properties"] if runs else {})
    return _ALIGNMENTS.get(int(properties.get("Justification", 0)))


def _colour(fill: Any) -> tuple[int, int, int] | None:  # noqa: ANN401 - engine data has no types.
    if not fill or int(fill["Type"]) != _RGB:
        return None
    _, red, green, blue = (round(float(value) * _FULL) for value in fill["Values"])
    return red, green, blue


def _number(value: Any) -> Decimal:  # noqa: ANN401 - engine data has no types.
    return Decimal(str(round(float(value), 4)))
