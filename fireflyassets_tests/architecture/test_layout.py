"""How the source is laid out: charters, sizes, stages, the error tree, data files, the schema.

Here: what can be read from files and classes. Not here: imports, which `lint-imports` holds, and
style, which ruff holds.
"""

import ast
import re
import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatch
from functools import cache
from inspect import cleandoc, getmembers, isclass
from pathlib import Path
from typing import Final

import pytest

from fireflyassets.adapters.aws.codec import job_item
from fireflyassets.core import errors
from fireflyassets.core.job import JobRow
from fireflyassets.core.stage import ASSET_OF_STAGE, Stage
from fireflyassets.core.status import Status
from fireflyassets_tests.architecture.documents import PACKAGE, ROOT, TESTS, files, modules

MODULE_LINES: Final = 300
TEST_LINES: Final = 500
"""A test module may be longer: its parts do not depend on each other."""

SOURCE_SCHEMA: Final = (
    "jobId",
    "customerId",
    "campaignId",
    "status",
    "runId",
    "inputManifest",
    "outputs",
    "costEstimate",
    "costActual",
    "createdAt",
    "updatedAt",
    "ttl",
)
"""The attributes by which other systems know a job."""

_NOT_HERE: Final = re.compile(r"Does not|Not here|Spends:")
_BRANCH: Final = re.compile(r"(?P<stem>[│ ]*)[├└]── (?P<name>\w+)")


def where(path: Path) -> str:
    """Return a module's path for people."""
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    """Return a module's syntax."""
    return ast.parse(path.read_text(encoding="utf-8"))


def charter(path: Path) -> str:
    """Return a module's docstring."""
    return (ast.get_docstring(tree(path)) or "").strip()


def holds_something(module: ast.Module) -> bool:
    """Say whether a module defines anything; a bare ``__init__`` or ``__main__`` does not."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign, ast.AnnAssign)
    return any(isinstance(node, kinds) for node in module.body)


def test_every_module_opens_with_its_charter() -> None:
    """A module says first what it is for, and what does not belong there."""
    wordless = [where(path) for path in modules(PACKAGE) if not charter(path)]
    open_ended = [
        where(path)
        for path in modules(PACKAGE)
        if holds_something(tree(path)) and not _NOT_HERE.search(charter(path))
    ]
    assert wordless == []
    assert open_ended == [], "These charters do not say what does not belong there."


def test_every_test_module_says_what_it_holds() -> None:
    """A test module opens with a docstring."""
    assert [where(path) for path in modules(TESTS) if not charter(path)] == []


def test_no_module_is_too_long() -> None:
    """A module that needs scrolling to be understood is split."""
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines())
        for path in (*modules(PACKAGE), *modules(TESTS))
    }
    too_long = {
        where(path): lines
        for path, lines in lengths.items()
        if lines > (MODULE_LINES if path.is_relative_to(PACKAGE) else TEST_LINES)
    }
    assert too_long == {}


def test_annotations_are_not_postponed() -> None:
    """No module postpones its annotations: Dagster and pydantic read them at run time."""
    postponed = [
        where(path)
        for path in files()
        if path.suffix == ".py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    assert postponed == []


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_has_a_module_and_a_test(stage: Stage) -> None:
    """A stage's word is the name of the module that does it, and of the module that tests it."""
    assert (PACKAGE / "stages" / f"{stage}.py").is_file()
    assert (TESTS / "stages" / f"test_{stage}.py").is_file()


def test_every_asset_is_made_by_one_stage() -> None:
    """The three assets are told apart by the stages that make them, in flow order."""
    order = list(Stage)

    assert len(set(ASSET_OF_STAGE.values())) == len(ASSET_OF_STAGE)
    assert list(ASSET_OF_STAGE) == sorted(ASSET_OF_STAGE, key=order.index)


def drawn() -> dict[str, str]:
    """Return class -> parent as the tree at the top of ``core/errors.py`` draws them."""
    lines = cleandoc(errors.__doc__ or "").splitlines()
    (root,) = [line for line in lines if line.strip() == "FactoryError"]
    margin = len(root) - len(root.lstrip())
    found: dict[str, str] = {}
    above = [root.strip()]
    for line in lines:
        branch = _BRANCH.match(line)
        if branch is not None:
            depth = 1 + (len(branch["stem"]) - margin) // 4
            above[depth:] = [branch["name"]]
            found[branch["name"]] = above[depth - 1]
    return found


def declared() -> dict[str, type[errors.FactoryError]]:
    """Return the errors of ``core/errors.py`` by name, without the root."""
    return {
        name: kind
        for name, kind in getmembers(errors, isclass)
        if issubclass(kind, errors.FactoryError) and kind is not errors.FactoryError
    }


def test_the_error_tree_is_drawn_as_it_is() -> None:
    """The drawn tree has exactly the errors there are, each under its parent."""
    assert drawn() == {name: kind.__bases__[0].__name__ for name, kind in declared().items()}


def test_every_leaf_of_the_error_tree_has_a_remedy() -> None:
    """A leaf of the tree, wherever in the package it is declared, says what to do about it."""
    found = errors_of_the_package()
    parents = {parent for parent, _ in found.values()}
    leaves = set(found) - parents

    assert leaves > set(drawn()) - parents, "Errors outside of core/errors.py are not seen."
    assert [leaf for leaf in sorted(leaves) if not has_remedy(leaf, found)] == []


def errors_of_the_package() -> dict[str, tuple[str, bool]]:
    """Return class -> its parent and whether it has words of its own for a remedy."""
    kinds = {
        node.name: (ast.unparse(node.bases[0]).rpartition(".")[2], any(map(_is_remedy, node.body)))
        for path in modules(PACKAGE)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef) and node.bases
    }

    def is_ours(name: str) -> bool:
        return name == "FactoryError" or (name in kinds and is_ours(kinds[name][0]))

    return {name: kind for name, kind in kinds.items() if is_ours(name)}


def _is_remedy(node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id="remedy")], value=ast.Constant(value=str(words))):
            return bool(words.strip())
        case _:
            return False


def has_remedy(name: str, found: dict[str, tuple[str, bool]]) -> bool:
    """Say whether an error has a remedy, of its own or from above."""
    if name not in found:
        return False
    parent, own = found[name]
    return own or has_remedy(parent, found)


def test_the_wheel_takes_every_data_file() -> None:
    """Templates, fonts and licences lie in packages, and a pattern of package-data names them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns: list[str] = project["tool"]["setuptools"]["package-data"]["*"]
    data = [
        path
        for path in files()
        if path.is_relative_to(PACKAGE) and path.suffix != ".py" and path.name != "py.typed"
    ]

    assert {path.suffix for path in data} >= {".ttf", ".html", ".txt"}
    missed = [
        where(path)
        for path in data
        if not any(fnmatch(path.name, pattern) for pattern in patterns)
        or not (path.parent / "__init__.py").is_file()
    ]
    assert missed == []


def test_every_folder_of_modules_is_a_package() -> None:
    """A folder with modules has an ``__init__``, or the wheel lacks it."""
    folders = {path.parent for path in modules(PACKAGE)}

    assert [where(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_a_stored_job_has_the_attributes_of_the_schema() -> None:
    """A job's item has every attribute of the schema under its own name, first and in order."""
    now = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)
    row = JobRow(
        job_id="job",
        customer_id="acme",
        campaign_id="spring-launch",
        status=Status.SUCCEEDED,
        run_id="run",
        input_manifest="manifests/acme",
        outputs=("acme/spring-launch",),
        cost_estimate=Decimal("3.5"),
        cost_actual=Decimal("3.5"),
        created_at=now,
        updated_at=now,
        ttl=now,
        body_hash="hash",
        idempotency_key="key",
        credential="acme-main",
        campaign_version="version",
        rate_card="card",
    )

    assert set(SOURCE_SCHEMA) <= set(job_item(row))
    assert "ttl" not in job_item(replace(row, ttl=None))
