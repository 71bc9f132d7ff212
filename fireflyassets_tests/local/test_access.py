"""Ports and tokens: kept over restarts, given up only when somebody else has them."""

import socket
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fireflyassets.adapters.key_sets import FetchedKeys
from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.api.tokens import Bearers, Caller
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local.access import HOST, LISTENERS, Access, recall
from fireflyassets.local.folder import StateFolder
from fireflyassets.local.issuer import ISSUER
from fireflyassets.settings import Settings
from fireflyassets_tests.api.desk_clerk import bearers
from fireflyassets_tests.front_door import NOON


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    made = StateFolder(tmp_path)
    made.prepare(needed_bytes=0)
    return made


def recalled(folder: StateFolder, *, asked: Mapping[str, int], customers: list[str]) -> Access:
    return recall(folder, asked=asked, customers=customers, clock=FakeClock(NOON))


def reader(folder: StateFolder) -> Bearers:
    """Return what the API of the stack reads tokens with."""
    clock = FakeClock(NOON)
    keys = FetchedKeys(clock, issuer=ISSUER, url=folder.key_set.as_uri())
    return bearers(keys, clock, Settings(oidc_issuer=ISSUER))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket() as made:
        made.bind((HOST, 0))
        made.listen()
        yield made


def test_urls_and_tokens_survive_a_restart(folder: StateFolder) -> None:
    first = recalled(folder, asked={}, customers=["acme"])
    second = recalled(folder, asked={}, customers=["acme", "globex"])

    assert second.ports == first.ports
    assert len(set(first.ports.values())) == len(LISTENERS)
    told = [reader(folder).read(token) for token in (first.tokens["acme"], *second.tokens.values())]
    assert [one.tenant for one in told if isinstance(one, Caller)] == ["acme", "acme", "globex"]
    assert second.moved == ()


def test_remembered_port_gives_way_and_says_so(
    folder: StateFolder, listener: socket.socket
) -> None:
    taken = listener.getsockname()[1]
    folder.access.write_text(f'{{"ports": {{"api": {taken}}}, "key": {{}}}}')

    told = recalled(folder, asked={}, customers=[])

    assert told.ports["api"] != taken
    assert told.moved == (f"Port {taken} of api is taken now; using {told.ports['api']}.",)


def test_asked_port_that_is_taken_is_refused(folder: StateFolder, listener: socket.socket) -> None:
    """A person who names a port has a reason: no other one is chosen silently."""
    taken = listener.getsockname()[1]

    with pytest.raises(UnusableConfiguration, match=f"Port {taken}, asked for dagster, is taken"):
        recalled(folder, asked={"dagster": taken}, customers=[])


def test_tokens_are_for_their_owner_alone(folder: StateFolder) -> None:
    told = recalled(folder, asked={}, customers=["acme"])

    for path in (folder.access, folder.key_set, folder.tokens / "acme"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (folder.tokens / "acme").read_text() == told.tokens["acme"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"ports": {"api": "x"}}', "{}", '{"ports": {}, "key": {"kty": "EC"}}'],
)
def test_damaged_memory_is_replaced(folder: StateFolder, text: str) -> None:
    folder.access.write_text(text)

    told = recalled(folder, asked={}, customers=["acme"])

    assert recalled(folder, asked={}, customers=["acme"]).ports == told.ports
    assert isinstance(reader(folder).read(told.tokens["acme"]), Caller)
