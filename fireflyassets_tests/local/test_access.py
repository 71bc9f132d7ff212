"""Ports and tokens: kept over restarts, given up only when somebody else has them."""

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local.access import HOST, LISTENERS, recall
from fireflyassets.local.folder import StateFolder


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    made = StateFolder(tmp_path)
    made.prepare(needed_bytes=0)
    return made


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket() as made:
        made.bind((HOST, 0))
        made.listen()
        yield made


def test_urls_and_tokens_survive_a_restart(folder: StateFolder) -> None:
    first = recall(folder, asked={}, customers=["acme"])
    second = recall(folder, asked={}, customers=["acme", "globex"])

    assert second.ports == first.ports
    assert len(set(first.ports.values())) == len(LISTENERS)
    assert second.tokens["acme"] == first.tokens["acme"]
    assert second.tokens["globex"] != second.tokens["acme"]
    assert second.moved == ()


def test_remembered_port_gives_way_and_says_so(
    folder: StateFolder, listener: socket.socket
) -> None:
    taken = listener.getsockname()[1]
    folder.access.write_text(f'{{"ports": {{"api": {taken}}}, "tokens": {{}}}}')

    told = recall(folder, asked={}, customers=[])

    assert told.ports["api"] != taken
    assert told.moved == (f"Port {taken} of api is taken now; using {told.ports['api']}.",)


def test_asked_port_that_is_taken_is_refused(folder: StateFolder, listener: socket.socket) -> None:
    """A person who names a port has a reason: no other one is chosen silently."""
    taken = listener.getsockname()[1]

    with pytest.raises(UnusableConfiguration, match=f"Port {taken}, asked for dagster, is taken"):
        recall(folder, asked={"dagster": taken}, customers=[])


def test_tokens_are_for_their_owner_alone(folder: StateFolder) -> None:
    told = recall(folder, asked={}, customers=["acme"])

    for path in (folder.access, folder.tokens / "acme"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (folder.tokens / "acme").read_text() == told.tokens["acme"]


@pytest.mark.parametrize("text", ["", "[]", '{"ports": {"api": "x"}, "tokens": {}}', "{}"])
def test_damaged_memory_is_replaced(folder: StateFolder, text: str) -> None:
    folder.access.write_text(text)

    told = recall(folder, asked={}, customers=["acme"])

    assert recall(folder, asked={}, customers=["acme"]) == told
