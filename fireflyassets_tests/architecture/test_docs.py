"""What README, CONTRIBUTING, CHANGELOG and docs name is there.

Here: paths, links, pictures, commands, addresses, settings and names of the code. Not here: whether
what is said of them is true.
"""

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.api import (
    campaign_routes,
    intake_routes,
    open_routes,
    plan_routes,
    reference_routes,
    result_routes,
    review_routes,
    why_routes,
)
from fireflyassets.api.pages.app import ROUTERS as PAGE_ROUTERS
from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.cli.main import main
from fireflyassets.core import ids
from fireflyassets.core.failure import Family
from fireflyassets.local.environment import CODE_SERVER_PORT
from fireflyassets.settings import Settings
from fireflyassets_tests.architecture.documents import (
    PACKAGE,
    PAGES,
    ROOT,
    TESTS,
    Page,
    files,
    generated,
    modules,
    words_of_the_code,
)

README: Final = PAGES[0]
PICTURE_BYTES: Final = 400_000

_SUFFIXES: Final = frozenset(path.suffix for path in files() if path.suffix)
_PATH: Final = re.compile(r"(?:[\w.-]|<\w+>)+(?:/(?:[\w.-]|<\w+>)+)*/?")
_MEDIA_TYPE: Final = re.compile(r"(?:text|application|image)/")
_COMMAND: Final = re.compile(
    r"(?<![\w/.-])(?:\.venv/bin/)?fireflyassets((?: [a-z]+)+)((?: --\w+)*)"
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|[a-z]+(?:-[a-z]+)+")

by_page = pytest.mark.parametrize("page", PAGES, ids=str)


def paths(page: Page) -> list[str]:
    """Return what a page names that looks like a path of ours."""
    words = {word.strip("\"'@,;:") for line in page.code for word in line.split()}
    return sorted(word for word in words if _PATH.fullmatch(word) and _is_path(word))


def _is_path(word: str) -> bool:
    if _MEDIA_TYPE.match(word) or word.startswith("s3:"):
        return False
    return "/" in word or (Path(word).suffix in _SUFFIXES and word.count(".") == 1)


def is_there(path: str) -> bool:
    """Say whether a path is in the repository, in a shorter form too, or is made by a command."""
    if path.startswith(".venv/bin/"):
        return Path(sys.executable).with_name(path.rpartition("/")[2]).exists()
    if path.startswith(generated()):
        return True
    if f'f"{path}' in Path(ids.__file__).read_text(encoding="utf-8"):
        return True  # The beginning of an object's key.
    pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
    if "/" not in pattern and not path.endswith("/"):
        return any(file.match(pattern) for file in files())
    return any(next(base.glob(pattern), None) for base in (ROOT, PACKAGE, TESTS))


@by_page
def test_every_path_is_there(page: Page) -> None:
    """A file or folder that a page names exists."""
    assert [path for path in paths(page) if not is_there(path)] == []


def test_paths_are_found_in_pages() -> None:
    """The search for paths sees those that the README is known to name, and not what is none."""
    found = paths(README)

    assert {"campaigns/acme/spring-launch/brief.csv", "limits/default.yaml", "dagster.yaml"} <= {
        *found
    }
    assert not is_there("fireflyassets/utils.py")
    assert not is_there("nowhere/<name>.yaml")
    assert "text/csv" not in found


@by_page
def test_every_link_leads_somewhere(page: Page) -> None:
    """A link within the repository leads to a file, and its fragment to a heading."""
    broken: list[str] = []
    for link in page.links:
        if link.target.startswith("https://"):
            continue
        name, _, fragment = link.target.partition("#")
        target = (page.path.parent / name).resolve() if name else page.path
        if not target.exists() or (fragment and fragment not in Page(target).anchors):
            broken.append(link.target)
    assert broken == []


@by_page
def test_every_picture_has_words_and_a_decent_size(page: Page) -> None:
    """A picture has a text alternative that says what it shows, and loads quickly."""
    for link in page.links:
        if link.is_picture:
            assert len(link.words) > len("a picture of the flow"), link.target
            assert (page.path.parent / link.target).stat().st_size <= PICTURE_BYTES


def test_the_flow_is_readable_on_any_ground_and_without_eyes() -> None:
    """The drawing of the flow has a title, a description and dark colours, and loads nothing."""
    text = (ROOT / "docs" / "flow.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314 - our own file.
    space = "{http://www.w3.org/2000/svg}"

    named = [root.find(f"{space}{part}") for part in ("title", "desc")]
    assert all(part is not None and part.text for part in named)
    assert root.get("aria-labelledby") == " ".join(
        part.get("id", "") for part in named if part is not None
    )
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"href=|url\(h|@import|<script|<image", text)


@by_page
def test_every_make_target_is_there(page: Page) -> None:
    """A target that a page tells people to make is in the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = {name for line in page.code for name in re.findall(r"^make ([a-z][a-z-]*)", line)}

    assert named - targets == set()


def test_every_command_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """A command of ours that a page names exists, with the options it is named with."""
    found = {
        (tuple(words.split()), tuple(options.split()))
        for page in PAGES
        for line in page.code
        for words, options in _COMMAND.findall(line)
    }

    assert (("campaign", "check"), ()) in found
    for words, options in found:
        with pytest.raises(SystemExit) as left:
            main([*words, "--help"])
        assert left.value.code == 0, words
        helped = capsys.readouterr().out
        assert [option for option in options if option not in helped] == []


@by_page
def test_every_module_that_is_run_is_there(page: Page) -> None:
    """What a page runs or loads by ``-m`` can be imported."""
    named = {name for line in page.code for name in re.findall(r" -m ([\w.]+)", line)}

    assert [name for name in named if find_spec(name) is None] == []


@by_page
def test_every_setting_is_there(page: Page) -> None:
    """A variable that a page names is read."""
    known = {f"FIREFLYASSETS_{name.upper()}" for name in Settings.model_fields}
    named = set(re.findall(r"FIREFLYASSETS_[A-Z0-9_]+", page.text)) - {"FIREFLYASSETS_"}

    assert named - known - {CODE_SERVER_PORT} == set()


@by_page
def test_every_address_is_there(page: Page) -> None:
    """A route of the API or of the twin that a page names is answered."""
    parts = (intake_routes, reference_routes, result_routes, why_routes, plan_routes)
    parts = (*parts, open_routes, campaign_routes, review_routes)
    routes = [route for part in parts for route in part.router.routes]
    templates = {getattr(route, "path", "") for route in routes}
    of_pages = [route for router in PAGE_ROUTERS for route in router.routes]
    templates |= {f"{PREFIX}{getattr(route, 'path', '')}" for route in of_pages}
    patterns = [re.compile(re.sub(r"\{\w+\}", "[^/]+", template)) for template in templates]
    twin = "".join(path.read_text(encoding="utf-8") for path in modules(PACKAGE / "twin"))

    called = {path for line in page.code for path in re.findall(r"\$API(/[^\"?\s]*)", line)}
    named = {span for span in page.spans if re.fullmatch(r"/[\w/{}:.-]+", span)}
    unknown = [
        path
        for path in called | (named - templates)
        if not any(pattern.fullmatch(path) for pattern in patterns) and path not in twin
    ]
    assert [path for path in unknown if path != "/openapi.json"] == []


@pytest.mark.parametrize("page", [page for page in PAGES if "docs" in page.path.parts], ids=str)
def test_every_name_is_in_the_code(page: Page) -> None:
    """A class, function, state, table or attribute that the docs name is in the package."""
    known = words_of_the_code() | {path.stem for path in files()}
    packages = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    packages += "".join(path.read_text(encoding="utf-8") for path in modules(PACKAGE / "twin"))
    named = {span for span in page.spans if _NAME.fullmatch(span) and not _is_path(span)}

    assert [
        name for name in sorted(named) if name.split(".")[-1] not in known and name not in packages
    ] == []


def test_the_examples_of_files_are_read(tmp_path: Path) -> None:
    """The credential and the limits that the README shows are files that the catalogue takes."""
    examples = [body for language, body in README.fences if language == "yaml"]
    for folder, mark in (("credentials", "secret:"), ("limits", "families:")):
        (tmp_path / folder).mkdir()
        (body,) = [body for body in examples if mark in body]
        lines = [line.removeprefix("   ") for line in body.splitlines()]
        (tmp_path / folder / "main.yaml").write_text("\n".join(lines), encoding="utf-8")

    catalogue = FileCatalogue(tmp_path)

    assert catalogue.quarantined() == ()
    organisation = catalogue.credential("main", customer="acme").organisation
    assert catalogue.limits_for(organisation, Family.FIREFLY).per_minute == 60
