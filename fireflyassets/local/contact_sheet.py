"""The contact sheet: one static page that shows every rendition of a campaign.

Belongs here: the page as text. Does not: files other than the page (``pictures.py``), the figures.
Nothing is loaded from elsewhere, so the folder can be mailed or published as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Final

from fireflyassets.core.ids import parse_aspect
from fireflyassets.local.pictures import THUMBNAIL_PIXELS, Rendition

_PAGE: Final = Path(__file__).with_name("contact_sheet.html")
_RIGHT_TO_LEFT: Final = frozenset({"ar", "fa", "he", "ur"})


@dataclass(frozen=True, slots=True)
class Card:
    """One job on the page."""

    key: str
    locale: str
    headline: str
    prompt: str
    renditions: tuple[Rendition, ...]


def write(
    path: Path, *, title: str, figures: Sequence[tuple[str, str]], cards: Sequence[Card]
) -> None:
    """Write the page to *path*; pictures are linked relative to its folder."""
    locales = list(dict.fromkeys(card.locale for card in cards))
    page = Template(_PAGE.read_text(encoding="utf-8")).substitute(
        title=escape(title),
        figures="\n".join(map(_figure, figures)),
        links="\n".join(_link(locale) for locale in locales),
        sections="\n".join(
            _section(locale, [card for card in cards if card.locale == locale], path.parent)
            for locale in locales
        ),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def direction(locale: str) -> str:
    """Return the direction in which the language of *locale* is written."""
    return "rtl" if locale.split("-", maxsplit=1)[0] in _RIGHT_TO_LEFT else "ltr"


def _figure(figure: tuple[str, str]) -> str:
    name, value = figure
    return f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"


def _link(locale: str) -> str:
    return f'<li><a href="#{escape(locale)}">{escape(locale)}</a></li>'


def _section(locale: str, cards: Sequence[Card], folder: Path) -> str:
    jobs = "\n".join(_card(card, folder) for card in cards)
    name = escape(locale)
    return (
        f'<section id="{name}" aria-labelledby="h-{name}">\n'
        f'<h2 id="h-{name}">{name}</h2>\n{jobs}\n</section>'
    )


def _card(card: Card, folder: Path) -> str:
    language = f'lang="{escape(card.locale)}" dir="{direction(card.locale)}"'
    pictures = "\n".join(_picture(card, each, folder) for each in card.renditions)
    return (
        f"<article>\n<h3 {language}>{escape(card.headline)}</h3>\n"
        f"<p><code>{escape(card.key)}</code> {escape(card.prompt)}</p>\n"
        f'<ul class="pictures">\n{pictures}\n</ul>\n</article>'
    )


def _picture(card: Card, rendition: Rendition, folder: Path) -> str:
    width, height = parse_aspect(rendition.aspect)
    share = THUMBNAIL_PIXELS / max(width, height)
    says = f"{card.prompt} With the headline: {card.headline} ({rendition.aspect})"
    return (
        f'<li style="--aspect: {width} / {height}">'
        f'<a href="{escape(rendition.file.relative_to(folder).as_posix())}">'
        f'<img src="{escape(rendition.thumbnail.relative_to(folder).as_posix())}" '
        f'alt="{escape(says)}" width="{round(width * share)}" height="{round(height * share)}" '
        f'loading="lazy"></a><span>{escape(rendition.aspect)}</span></li>'
    )
