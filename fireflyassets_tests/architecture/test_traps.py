"""The table of traps: each has a test that is there, and what only the source can show.

Here: docs/adobe-traps.md, and calls that must not exist. Not here: the traps themselves.
"""

import ast
import re
from typing import Final

from fireflyassets_tests.architecture.documents import PACKAGE, ROOT, TESTS, modules

PAGE: Final = ROOT / "docs" / "adobe-traps.md"
TRAPS: Final = 45
_ROW: Final = re.compile(r"^\| (\d+) \|.*\| ([^|]+) \|$", re.MULTILINE)
_TEST: Final = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
_ENDED: Final = ("/pie/psdService", "/lrService", "/sensei/", "/v2/images/generate")


def strings_of_the_clients() -> set[str]:
    """Return every string in the adapters, docstrings included."""
    return {
        node.value
        for path in modules(PACKAGE / "adapters")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_trap_has_a_test_that_is_there() -> None:
    """All rows are in order, and each names tests that exist."""
    rows = _ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert [int(number) for number, _ in rows] == list(range(1, TRAPS + 1))

    for number, shown in rows:
        named = _TEST.findall(shown)
        assert named, f"Trap {number} names no test."
        for module, test in named:
            source = (TESTS / module).read_text(encoding="utf-8")
            assert f"def {test}(" in source, f"Trap {number}: {module} has no {test}."


def test_no_call_of_an_ended_version() -> None:
    """Photoshop V1, the old services beside it and Firefly's synchronous calls are not here."""
    said = strings_of_the_clients()

    assert [text for text in said if any(path in text for path in _ENDED)] == []
    assert not {"/v3/images/generate", "/v3/images/expand", "/v3/images/fill"} & said


def test_no_signed_url_is_asked_by_head() -> None:
    """A URL that is signed for GET answers HEAD with 403: the clients have three methods."""
    methods = {text for text in strings_of_the_clients() if re.fullmatch("[A-Z]{3,7}", text)}
    known = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

    assert methods & known == {"GET", "POST", "PUT"}
