"""The simulator as a program of its own, for the tests of this folder.

Here: starting it and its own routes. Not here: what the clients make of it.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from fireflyassets_tests.services import HOST, answers, free_port, start, stop, wait_until_up

PROJECT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def twin() -> Iterator[str]:
    """Yield the base URL of a simulator with fast jobs and wide limits."""
    port = free_port()
    url = f"http://{HOST}:{port}"
    command = [sys.executable, "-m", "fireflyassets.twin", "--port", str(port), "--rpm", "1000"]
    command += ["--latency", "0.2", "--photoshop-latency", "0.2", "--render-in", "thread"]
    command += ["--client", "acme-client:SECMARK-0123456789:ACME@AdobeOrg"]
    environment = {"PATH": os.defpath, "PYTHONPATH": str(PROJECT)}
    with tempfile.TemporaryDirectory(prefix="tw") as folder:
        process = start(command, environment=environment, folder=folder)
        try:
            wait_until_up(process, lambda: answers(f"{url}/_twin/health"))
            yield url
        finally:
            stop(process)


def control(twin: str, path: str, body: object = None, *, method: str = "GET") -> object:
    """Call one of the simulator's own routes."""
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{twin}{path}", content, method=method)) as response:  # noqa: S310 - loopback.
        text = response.read()
        return json.loads(text) if text else None


def billed(twin: str) -> list[Mapping[str, object]]:
    """Return the simulator's list of calls on paid endpoints."""
    listed = control(twin, "/_twin/calls")
    assert isinstance(listed, dict)
    return [call for call in listed["calls"] if call.get("job_id")]
