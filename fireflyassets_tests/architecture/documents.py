"""The documentation and the source as data.

Here: pages with their code and links, and what the repository has that they may name. Not here:
what must hold of them, which the tests say.
"""

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = ROOT / "fireflyassets"
TESTS: Final = ROOT / "fireflyassets_tests"

_FENCE: Final = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<body>.*?)^ *```$", re.MULTILINE | re.DOTALL
)
_SPAN: Final = re.compile(r"`([^`\n]+)`")
_LINK: Final = re.compile(r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)")
_HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Link:
    """A link or a picture of a page; *words* are the picture's text alternative."""

    is_picture: bool
    words: str
    target: str


@dataclass(frozen=True)
class Page:
    """One page of Markdown."""

    path: Path

    def __str__(self) -> str:
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        """The whole page."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def fences(self) -> tuple[tuple[str, str], ...]:
        """Language and body of each fenced block."""
        return tuple((found["language"], found["body"]) for found in _FENCE.finditer(self.text))

    @cached_property
    def spans(self) -> tuple[str, ...]:
        """Everything in backticks outside of fenced blocks."""
        return tuple(_SPAN.findall(_FENCE.sub("", self.text)))

    @cached_property
    def code(self) -> tuple[str, ...]:
        """Backticked words, and the lines of fenced blocks."""
        return (*self.spans, *(line for _, body in self.fences for line in body.splitlines()))

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Links and pictures outside of fenced blocks."""
        return tuple(
            Link(bool(found["picture"]), found["words"], found["target"])
            for found in _LINK.finditer(_FENCE.sub("", self.text))
        )

    @cached_property
    def anchors(self) -> frozenset[str]:
        """The fragments that its headings answer to."""
        plain = (re.sub(r"[^\w\- ]", "", title).lower() for title in _HEADING.findall(self.text))
        return frozenset(title.replace(" ", "-") for title in plain)


PAGES: Final = tuple(
    Page(path)
    for path in (
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    )
)


@lru_cache(maxsize=1)
def generated() -> tuple[str, ...]:
    """Return the folders that are made here and not committed, each with a slash at its end."""
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    return tuple(line for line in lines if line.endswith("/"))


@lru_cache(maxsize=1)
def files() -> tuple[Path, ...]:
    """Return all files of the repository, without what is generated."""
    left_out = (".git", *(folder.rstrip("/") for folder in generated()))
    found: list[Path] = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not any(fnmatch(name, out) for out in left_out)]
        found += [Path(folder, name) for name in names]
    return tuple(sorted(found))


def modules(folder: Path) -> list[Path]:
    """Return the Python modules under *folder*."""
    return [path for path in files() if path.suffix == ".py" and path.is_relative_to(folder)]


@lru_cache(maxsize=1)
def words_of_the_code() -> frozenset[str]:
    """Return every identifier and every whole string of the package's source."""
    return frozenset(word for path in modules(PACKAGE) for word in _words(path))


def _words(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
            case ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.Constant(value=str(text)):
                yield text
            case _:
                continue
