"""The look: templates and the one style sheet, as answers.

Belongs here: turning a template and its values into HTML, fingerprints. Does not: what a page
shows. Every value is escaped; no template holds a script or a style of its own.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from http import HTTPStatus
from importlib.resources import files
from typing import Final

from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from fireflyassets.core.ids import parse_aspect

_TEMPLATES: Final = "fireflyassets.api.pages.templates"
_KEPT: Final = "public, max-age=31536000, immutable"
_ASKED: Final = "no-cache"
_PICTURE: Final = 288
"""Pixels of a shown rendition's longer side."""


class Look:
    """Templates and style of pages under *root*."""

    def __init__(self, root: str) -> None:
        self._style = files(_TEMPLATES).joinpath("pages.css").read_bytes()
        self._mark = hashlib.sha256(self._style).hexdigest()[:16]
        self._templates = Environment(
            loader=PackageLoader(_TEMPLATES, ""), autoescape=True, undefined=StrictUndefined
        )
        self._always = {"root": root, "style": f"{root}/style/{self._mark}.css"}
        self._templates.filters["instant"] = instant
        self._templates.filters["operations"] = operations
        self._templates.filters["box"] = box

    def page(
        self,
        template: str,
        values: Mapping[str, object],
        *,
        status: HTTPStatus = HTTPStatus.OK,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Return a page."""
        text = self._templates.get_template(template).render({**self._always, **values})
        return HTMLResponse(text, status, headers=dict(headers or {}))

    def style(self, mark: str) -> Response:
        """Return the style sheet: kept for good under its own mark, else asked for each time.

        While a release goes out, a page of the one may ask a process of the other.
        """
        keep = _KEPT if mark == self._mark else _ASKED
        return Response(self._style, media_type="text/css", headers={"Cache-Control": keep})


def instant(at: datetime) -> str:
    """Return an instant for people: UTC, to the minute."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")


def operations(amount: Decimal) -> str:
    """Return an amount without the zeros that say nothing."""
    return f"{amount.normalize():f}"


def box(aspect: str) -> str:
    """Return the attributes that keep a rendition's place on a page until it is there."""
    width, height = parse_aspect(aspect)
    scale = min(_PICTURE / width, _PICTURE / height)
    return Markup('width="{}" height="{}"').format(round(width * scale), round(height * scale))
