"""How one sees that a service is up: questions that answer yes or no and never raise.

Belongs here: the questions. Does not: how long to go on asking (``service.py``).
"""

import socket
from collections.abc import Callable
from typing import Final, TypeVar

import httpx
from pydantic import BaseModel

from fireflyassets.local.access import HOST

ANSWER_SECONDS: Final = 5.0

_LOCATIONS: Final = """{
    workspace: workspaceOrError {
        ... on Workspace {
            entries: locationEntries { told: locationOrLoadError { kind: __typename } }
        }
    }
}"""
_DAEMONS: Final = """{
    instance { health: daemonHealth { daemons: allDaemonStatuses { required healthy } } }
}"""


class _Told(BaseModel):
    kind: str


class _Entry(BaseModel):
    told: _Told | None


class _Workspace(BaseModel):
    entries: list[_Entry] = []


class _Loaded(BaseModel):
    workspace: _Workspace


class _Daemon(BaseModel):
    required: bool
    healthy: bool | None


class _Health(BaseModel):
    daemons: list[_Daemon]


class _Instance(BaseModel):
    health: _Health


class _Beating(BaseModel):
    instance: _Instance


_Answer = TypeVar("_Answer", bound=BaseModel)


def accepts(port: int) -> Callable[[], bool]:
    """Return the question whether something listens on the loopback *port*."""

    def ask() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, port)) == 0

    return ask


def answers(url: str) -> Callable[[], bool]:
    """Return the question whether *url* answers with success."""

    def ask() -> bool:
        try:
            return httpx.get(url, timeout=ANSWER_SECONDS, trust_env=False).is_success
        except httpx.HTTPError:
            return False

    return ask


def has_loaded(webserver: str) -> Callable[[], bool]:
    """Return the question whether the webserver shows the code location without an error."""

    def ask() -> bool:
        told = _query(webserver, _LOCATIONS, _Loaded)
        entries = told.workspace.entries if told else []
        return bool(entries) and all(
            entry.told is not None and entry.told.kind == "RepositoryLocation" for entry in entries
        )

    return ask


def daemons_beat(webserver: str) -> Callable[[], bool]:
    """Return the question whether each daemon that the instance needs has a fresh heartbeat."""

    def ask() -> bool:
        told = _query(webserver, _DAEMONS, _Beating)
        needed = (
            [daemon for daemon in told.instance.health.daemons if daemon.required] if told else []
        )
        return bool(needed) and all(daemon.healthy for daemon in needed)

    return ask


def _query(webserver: str, query: str, shape: type[_Answer]) -> _Answer | None:
    try:
        answer = httpx.post(
            f"{webserver}/graphql", json={"query": query}, timeout=ANSWER_SECONDS, trust_env=False
        )
        return shape.model_validate(answer.json()["data"])
    except (httpx.HTTPError, ValueError, KeyError):  # A validation error is a ValueError.
        return None
