"""What rules mean, and schemas. Here: links resolve, and what is kept in docs is current."""

import ast
import json
import re
from collections.abc import Iterator

import pytest

from fireflyassets.api.rules import OTHER, RULES, link, page
from fireflyassets.core.schemas import SCHEMAS, document
from fireflyassets.stages.admission import BACKLOG, DEADLINE
from fireflyassets_tests.api.desk_clerk import PUBLIC, clerk
from fireflyassets_tests.architecture.documents import PACKAGE, ROOT, modules

PLACE_OF_RULE = {"Problem": 1, "Misfit": 0, "Refused": 0}
ELSEWHERE = {"bytes", "v4-off", "ServiceDown"}
"""Said to our own logs alone, and the name of an error, which is no rule."""


def named_rules() -> Iterator[str]:
    """Yield every rule that the package writes down as a word."""
    for path in modules(PACKAGE):
        if "twin" in path.parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        words = {
            node.target.id: node.value
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                place = PLACE_OF_RULE.get(node.func.id)
                said = node.args[place] if place is not None and len(node.args) > place else None
                said = words.get(said.id) if isinstance(said, ast.Name) else said
                if isinstance(said, ast.Constant):
                    yield str(said.value)


def test_every_rule_is_explained() -> None:
    """And nothing that is explained is no rule any more."""
    # Admission hands its two on by name, so that no call writes them down as words.
    assert (set(named_rules()) | {BACKLOG, DEADLINE}) - ELSEWHERE == set(RULES) - {OTHER}


def test_a_problem_links_to_what_its_rule_asks() -> None:
    """The link opens without a token, and the anchor is there."""
    desk = clerk()
    (problem,) = desk.post(prompt="=cmd").json()["problems"]

    assert problem["doc"] == f"{PUBLIC}/problems#formula"
    answer = desk.ask("GET", problem["doc"].removeprefix(PUBLIC), token=None)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert 'id="formula"' in answer.text


def test_links_of_other_rules_resolve_as_well() -> None:
    """Lists of words name rules that no page of ours can know."""
    assert link("brands", api_url="") == "/problems#other"
    assert set(re.findall(r'id="([^"]+)"', page())) == set(RULES)


@pytest.mark.parametrize("name", SCHEMAS)
def test_kept_schemas_are_current(name: str) -> None:
    """Editors read them from the repository; `fireflyassets campaign schema NAME` prints them."""
    kept = (ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8")

    assert json.loads(kept) == document(name), (
        f"Run: fireflyassets campaign schema {name} > docs/schemas/{name}.json"
    )


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_served(name: str) -> None:
    assert clerk().ask("GET", f"/schemas/{name}", token=None).json() == document(name)


def test_no_other_schema_is_served() -> None:
    assert clerk().ask("GET", "/schemas/secret", token=None).status_code == 404
