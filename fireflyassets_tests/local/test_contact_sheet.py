"""The contact sheet: a page that stands alone and that everybody can read."""

from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from fireflyassets.local import contact_sheet
from fireflyassets.local.contact_sheet import Card
from fireflyassets.local.pictures import Rendition

VOID = frozenset({"meta", "img", "link", "br", "hr", "input"})
ARABIC = "ربيع منعش"


class Page(HTMLParser):
    """What a page holds; a tag that is closed out of order is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self._open[-1], data.strip()))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of each *tag*."""
        return [attributes for name, attributes in self.tags if name == tag]


def rendition(folder: Path, name: str, aspect: str) -> Rendition:
    width, height = (int(side) for side in aspect.split("x"))
    return Rendition(
        job_id=name,
        aspect=aspect,
        file=folder / "renditions" / f"{name}-{aspect}.jpg",
        thumbnail=folder / "thumbnails" / f"{name}-{aspect}.jpg",
        width=width,
        height=height,
        looks="",
    )


def card(folder: Path, key: str, locale: str, headline: str) -> Card:
    aspects = ("1920x1080", "1080x1920")
    return Card(
        key=key,
        locale=locale,
        headline=headline,
        prompt='Lemons & "limes" <on> a table.',
        renditions=tuple(rendition(folder, key, aspect) for aspect in aspects),
    )


@pytest.fixture
def page(tmp_path: Path) -> Page:
    path = tmp_path / "out" / "index.html"
    cards = [
        card(path.parent, "en-1", "en-GB", "Spring & <joy>"),
        card(path.parent, "ar-1", "ar-AE", ARABIC),
    ]
    contact_sheet.write(path, title="Spring <launch>", figures=[("Jobs", "2 of 2")], cards=cards)
    return Page(path.read_text(encoding="utf-8"))


def test_every_picture_says_what_it_shows(page: Page) -> None:
    said = [attributes["alt"] for attributes in page.all("img")]

    assert len(said) == 4
    assert len(set(said)) == 4
    assert said[0] == (
        'Lemons & "limes" <on> a table. With the headline: Spring & <joy> (1920x1080)'
    )


def test_every_picture_is_reached_by_keyboard(page: Page) -> None:
    """Each thumbnail stands in a link to its file, relative to the page."""
    links = [attributes["href"] or "" for attributes in page.all("a")]

    assert [link for link in links if not link.startswith("#")] == [
        f"renditions/{name}"
        for name in (
            "en-1-1920x1080.jpg",
            "en-1-1080x1920.jpg",
            "ar-1-1920x1080.jpg",
            "ar-1-1080x1920.jpg",
        )
    ]
    assert "#en-GB" in links


def test_right_to_left_copy_is_marked(page: Page) -> None:
    headlines = {attributes["lang"]: attributes["dir"] for attributes in page.all("h3")}

    assert headlines == {"en-GB": "ltr", "ar-AE": "rtl"}
    assert ("h3", ARABIC) in page.texts


def test_headings_have_no_gap_and_every_anchor_a_target(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.tags if tag in {"h1", "h2", "h3"}]
    targets = {attributes.get("id") for _, attributes in page.tags}

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert {"en-GB", "ar-AE"} <= targets


def test_nothing_is_loaded_from_elsewhere(page: Page) -> None:
    sources = [
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in {"src", "href"} and value
    ]

    assert sources
    assert not [source for source in sources if ":" in source or source.startswith("/")]
    assert page.all("script") == []
    assert page.all("link") == []


def test_page_names_its_language_and_fits_phones(page: Page) -> None:
    assert page.all("html")[0]["lang"] == "en"
    assert any(attributes.get("name") == "viewport" for attributes in page.all("meta"))


@pytest.mark.parametrize(
    ("locale", "direction"), [("ar-AE", "rtl"), ("he", "rtl"), ("de-DE", "ltr"), ("en-GB", "ltr")]
)
def test_direction_follows_the_language(locale: str, direction: str) -> None:
    assert contact_sheet.direction(locale) == direction
