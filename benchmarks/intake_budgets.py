"""Two hundred reservations at once against a budget for thirty-seven, through conflicts.

Belongs here: the rivals, as threads of several processes over the ledger that production uses, and
what is injected into their client. Does not: starting the stack (``intake.py``). The embedded AWS
never tells of a conflict by itself, so each rival's client meets some in the service's place.
"""

import json
import multiprocessing
import os
import random
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.ledger import DynamoLedger
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.core.budget import CUSTOMER, Block, Cap
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.ports.budgets import Reserved
from fireflyassets.settings import Settings

RIVALS: Final = 200
ROOM: Final = 37
PROCESSES: Final = 4
SHARE: Final = 0.3
"""Of the writes that are refused before they reach the table, or whose answer is lost behind it."""
MONTH: Final = "2026-11"
CAP: Final = Cap(CUSTOMER, Decimal(ROOM), (50, 80, 100), "a benchmark")
_SEED: Final = 20261130


class _Raw:
    """A response's stream, as far as botocore reads it."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.headers: Mapping[str, str] = {}

    def stream(self, **_: object) -> list[bytes]:
        """Return the body."""
        return [self._body]


class Weather:
    """Refuses some of a client's transactions with what a busy table says."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - chance for a benchmark, repeatable.

    def send(self, request: AWSPreparedRequest, **_: object) -> Any:  # noqa: ANN401 - botocore's handlers answer by it.
        """Answer in the service's place, or let the request pass."""
        del request
        if self._chance.random() >= SHARE:
            return None
        kind = self._chance.choice(("conflict", "throttled-item", "throttled"))
        if kind == "throttled":
            return _answer("ThrottlingException", {})
        code = "TransactionConflict" if kind == "conflict" else "ThrottlingError"
        return _answer("TransactionCanceledException", {"CancellationReasons": [{"Code": code}]})

    def lose(self, **_: object) -> Any:  # noqa: ANN401 - as above.
        """Lose an answer now and then: the client sends the request again."""
        return 0.0 if self._chance.random() < SHARE / 10 else None


def _answer(error: str, more: Mapping[str, object]) -> AWSResponse:
    kind = f"com.amazonaws.dynamodb.v20120810#{error}"
    body = json.dumps({"__type": kind, "message": "injected", **more}).encode()
    return AWSResponse("", 400, HTTPHeaders(), _Raw(body))


def rows(variables: Mapping[str, str]) -> int:
    """Return how many jobs stand in the ledger, read consistently: sums of the API are kept."""
    os.environ.update(variables)  # noqa: TID251 - where the embedded AWS of this run is.
    pages = clients.dynamodb().get_paginator("scan")
    table = Tables(Settings().table_prefix).jobs
    return sum(
        page["Count"]
        for page in pages.paginate(TableName=table, Select="COUNT", ConsistentRead=True)
    )


def granted(variables: Mapping[str, str]) -> int:
    """Return how many of the rivals were granted one operation of the budget."""
    prefix = Settings().table_prefix
    spawn = multiprocessing.get_context("spawn")
    share = RIVALS // PROCESSES
    with ProcessPoolExecutor(PROCESSES, mp_context=spawn) as processes:
        works = [
            processes.submit(_rivals, dict(variables), prefix, range(n * share, (n + 1) * share))
            for n in range(PROCESSES)
        ]
        told = sum(work.result() for work in works)
    counted = sum(one.taken for one in _ledger(variables, prefix, 0).counters("bench", MONTH))
    if counted != told:
        print(f"{told} were told that they have it; the counter says {counted}.", file=sys.stderr)
        return -1
    return told


def _rivals(variables: Mapping[str, str], prefix: str, numbers: range) -> int:
    ledger = _ledger(variables, prefix, _SEED + numbers.start)
    with ThreadPoolExecutor(len(numbers)) as rivals:
        return sum(rivals.map(partial(_is_granted, ledger), numbers))


def _ledger(variables: Mapping[str, str], prefix: str, seed: int) -> DynamoLedger:
    """Return the production ledger; with a *seed* its client meets bad weather."""
    os.environ.update(variables)  # noqa: TID251 - a process of its own.
    client = clients.dynamodb()
    if seed:
        weather = Weather(seed)
        events = client.meta.events
        events.register_first("before-send.dynamodb.TransactWriteItems", weather.send)
        events.register_first("needs-retry.dynamodb.TransactWriteItems", weather.lose)
    return DynamoLedger(client, prefix=prefix)


def _is_granted(ledger: DynamoLedger, number: int) -> bool:
    """Ask until there is an answer: an outage is none, and asking again is safe."""
    now = datetime.now(UTC)  # noqa: TID251 - a benchmark's own clock.
    block = Block(f"rival-{number}", "bench", "bench", MONTH, (CUSTOMER,), Decimal(1), now)
    while True:
        try:
            return isinstance(ledger.reserve(block, [CAP], now=now), Reserved)
        except StoreUnavailable:
            continue
