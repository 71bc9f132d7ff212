"""What a stack remembers from one start to the next: its ports and its API tokens.

Belongs here: choosing ports, making tokens, and the private file that holds both, so that URLs and
tokens survive a restart. Does not: what listens on a port.
"""

import json
import secrets
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local.folder import StateFolder, write_private

HOST: Final = "127.0.0.1"
LISTENERS: Final = ("aws", "twin", "api", "code", "dagster")
"""The services that listen; the name is also the one of `--port NAME=NUMBER`."""


@dataclass(frozen=True, slots=True)
class Access:
    """Ports by listener and API tokens by customer."""

    ports: Mapping[str, int]
    tokens: Mapping[str, str]
    moved: tuple[str, ...] = ()
    """A sentence for each port that had to change since the last start."""

    def url(self, listener: str) -> str:
        """Return the base URL of a listener, without a slash at its end."""
        return f"http://{HOST}:{self.ports[listener]}"


def recall(folder: StateFolder, *, asked: Mapping[str, int], customers: Iterable[str]) -> Access:
    """Return the ports and tokens of this start, and keep them for the next.

    A port of the last start that is taken now gives way to a free one; a port in *asked* does not.

    Raises:
        UnusableConfiguration: A port in *asked* is taken.
    """
    ports, tokens = _read(folder.access)
    chosen: dict[str, int] = {}
    moved: list[str] = []
    for name in LISTENERS:
        old = ports.get(name)
        chosen[name] = _port(name, asked.get(name), old, set(chosen.values()))
        if old is not None and chosen[name] != old and name not in asked:
            moved.append(f"Port {old} of {name} is taken now; using {chosen[name]}.")
    kept = {name: tokens.get(name) or secrets.token_urlsafe(32) for name in sorted(customers)}
    write_private(folder.access, json.dumps({"ports": chosen, "tokens": kept}, indent=2))
    for customer, token in kept.items():
        write_private(folder.tokens / customer, token)
    return Access(chosen, kept, tuple(moved))


def is_free(port: int) -> bool:
    """Say whether nothing listens on the loopback *port*."""
    with socket.socket() as probe:
        # As servers do it, so that connections that are just ending do not count as a listener.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _port(name: str, asked: int | None, old: int | None, used: set[int]) -> int:
    if asked is not None:
        if asked in used or not is_free(asked):
            raise UnusableConfiguration(
                f"Port {asked}, asked for {name}, is taken; free it or ask for another one."
            )
        return asked
    if old is not None and old not in used and is_free(old):
        return old
    while (port := _free_port()) in used:
        pass
    return port


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _read(path: Path) -> tuple[dict[str, int], dict[str, str]]:
    try:
        said = cast("dict[str, dict[str, object]]", json.loads(path.read_bytes()))
        ports = {name: int(str(port)) for name, port in said["ports"].items()}
        return ports, {name: str(token) for name, token in said["tokens"].items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return {}, {}  # Never written, or damaged: new ones do no harm.
