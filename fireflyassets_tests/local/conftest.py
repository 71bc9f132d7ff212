"""What tests of the benches share.

Belongs here: importing them, as they are no part of the package. Does not: what they promise.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import pytest


@pytest.fixture
def bench_module(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Callable[[str], ModuleType]:
    """Return what imports a module of the benches, as they import each other."""
    monkeypatch.syspath_prepend(str(request.config.rootpath / "benchmarks"))
    return import_module
