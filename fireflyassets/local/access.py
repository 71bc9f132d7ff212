"""What a stack remembers from one start to the next: its ports and the key of its issuer.

Belongs here: choosing ports, and the private file that holds both, so that URLs, tokens and
sessions survive a restart. Does not: what listens on a port, what a token says (``issuer.py``).
"""

import json
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local.folder import StateFolder, write_private
from fireflyassets.local.issuer import Issuer
from fireflyassets.ports.clock import Clock

HOST: Final = "127.0.0.1"
LISTENERS: Final = ("aws", "twin", "api", "sign-in", "code", "dagster", "postgres")
"""The services that listen; the name is also the one of `--port NAME=NUMBER`."""


@dataclass(frozen=True, slots=True)
class Access:
    """Ports by listener, bearer tokens by customer, and who issues them."""

    ports: Mapping[str, int]
    tokens: Mapping[str, str]
    moved: tuple[str, ...] = ()
    """A sentence for each port that had to change since the last start."""
    issuer: Issuer = field(default_factory=Issuer.new)

    def url(self, listener: str) -> str:
        """Return the base URL of a listener, without a slash at its end."""
        return f"http://{HOST}:{self.ports[listener]}"


def recall(
    folder: StateFolder, *, asked: Mapping[str, int], customers: Iterable[str], clock: Clock
) -> Access:
    """Return the ports and fresh tokens of this start, and keep ports and key for the next.

    A port of the last start that is taken now gives way to a free one; a port in *asked* does not.
    Tokens of earlier starts stay good until they expire.

    Raises:
        UnusableConfiguration: A port in *asked* is taken.
    """
    ports, key = _read(folder.access)
    issuer = Issuer.remembered(key)
    chosen: dict[str, int] = {}
    moved: list[str] = []
    for name in LISTENERS:
        old = ports.get(name)
        chosen[name] = _port(name, asked.get(name), old, set(chosen.values()))
        if old is not None and chosen[name] != old and name not in asked:
            moved.append(f"Port {old} of {name} is taken now; using {chosen[name]}.")
    write_private(folder.access, json.dumps({"ports": chosen, "key": issuer.secret()}, indent=2))
    write_private(folder.key_set, json.dumps(issuer.key_set()))
    tokens = {name: issuer.token(name, now=clock.now()) for name in sorted(customers)}
    for customer, token in tokens.items():
        write_private(folder.tokens / customer, token)
    return Access(chosen, tokens, tuple(moved), issuer)


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


def _read(path: Path) -> tuple[dict[str, int], Mapping[str, object]]:
    try:
        said = cast("dict[str, dict[str, object]]", json.loads(path.read_bytes()))
        ports = {name: int(str(port)) for name, port in said["ports"].items()}
        return ports, said.get("key", {})
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return {}, {}  # Never written, or damaged: new ones do no harm.
