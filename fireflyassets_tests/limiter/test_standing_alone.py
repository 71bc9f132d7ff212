"""The limiter can be taken out and used elsewhere.

Here: what its modules import. Not here: the layers of the whole package.
"""

import ast
from pathlib import Path

import pytest

import fireflyassets.limiter

FOLDER = Path(fireflyassets.limiter.__file__).parent
MODULES = sorted(FOLDER.glob("*.py"))
BARRED = {"boto3", "dagster", "os", "redis", "threading.Timer", "time"}


def imported(module: Path) -> set[str]:
    """Return the names of the modules that *module* imports."""
    nodes = list(ast.walk(ast.parse(module.read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_the_package_itself_imports_nothing() -> None:
    """Importing one module never loads a store that is not wanted."""
    assert imported(FOLDER / "__init__.py") == set()


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_modules_import_only_the_limiter(module: Path) -> None:
    """Nothing of the asset factory, no client, no clock and no environment."""
    names = imported(module)

    ours = {name for name in names if name.startswith("fireflyassets")}
    assert {name for name in ours if not name.startswith("fireflyassets.limiter")} == set()
    assert names & BARRED == set()


def test_all_modules_are_looked_at() -> None:
    """The list above is the package's, not an empty one."""
    assert {"arithmetic", "dynamodb", "memory", "pacer", "port", "redis"} <= {
        module.stem for module in MODULES
    }
