"""What every source of an issuer's keys promises. Not here: bounds (`adapters/test_key_sets`)."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from fireflyassets.adapters.key_sets import FetchedKeys
from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.keys import MemoryKeys
from fireflyassets.ports.keys import SigningKeys
from fireflyassets_tests.front_door import NOON

OLD = {"keys": [{"kty": "EC", "kid": "old"}]}
NEW = {"keys": [{"kty": "EC", "kid": "old"}, {"kty": "EC", "kid": "new"}]}

Rotate = Callable[[], None]


@pytest.fixture(params=["memory", "file"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[SigningKeys, Rotate]:
    """Return keys that begin as `OLD`, and what makes the issuer go on to `NEW`."""
    if request.param == "memory":
        memory = MemoryKeys(OLD)
        return memory, lambda: setattr(memory, "known", NEW)
    clock, path = FakeClock(NOON), tmp_path / "keys.json"
    path.write_text(json.dumps(OLD))

    def rotate() -> None:
        path.write_text(json.dumps(NEW))
        clock.jump(timedelta(minutes=1))

    return FetchedKeys(clock, issuer="urn:i", url=path.as_uri()), rotate


def test_the_issuers_keys_are_told(world: tuple[SigningKeys, Rotate]) -> None:
    """Whole, whatever key a token names, none included."""
    keys, _ = world

    assert [keys.key_set(having=name) for name in ("old", "never", None)] == [OLD] * 3


def test_a_new_key_is_found_by_the_first_token_that_names_it(
    world: tuple[SigningKeys, Rotate],
) -> None:
    """An issuer that rotates its keys shuts nobody out."""
    keys, rotate = world
    keys.key_set(having="old")
    rotate()

    assert keys.key_set(having="new") == NEW
