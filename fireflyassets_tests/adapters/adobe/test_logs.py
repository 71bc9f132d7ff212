"""No signature, token, secret or prompt in any log record, at any level, whatever goes wrong."""

import asyncio
import json
import logging
import traceback
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from fireflyassets.adapters.adobe.call_log import CallRecord, endpoint_of
from fireflyassets.adapters.adobe.hosts import parse_address
from fireflyassets.adapters.adobe.transport import open_client, open_transport
from fireflyassets.adapters.json_log import JsonLines
from fireflyassets.core.tally import Tally
from fireflyassets.ports.trace import traced
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.loopback import by_path, granting, saying, settings_for
from fireflyassets_tests.adapters.adobe.raw_server import Connection, raw_server

MARKERS = ("SIGMARK", "TOKMARK", "SECMARK", "PROMPTMARK")
SIGNED = "?X-Amz-Signature=SIGMARK"


class Records(logging.Handler):
    """Keeps every record of every logger."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.kept: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one record."""
        self.kept.append(record)

    def text(self) -> str:
        """Return everything that any formatter could write."""
        lines = []
        for record in self.kept:
            lines += [record.getMessage(), repr(vars(record)), JsonLines("1").format(record)]
            if record.exc_info:
                lines += traceback.format_exception(*record.exc_info)
        return "\n".join(lines)

    def calls(self) -> list[CallRecord]:
        """Return the facts of our own lines."""
        return [vars(record)["adobe_call"] for record in self.kept if "adobe_call" in vars(record)]


class Written(logging.Handler):
    """Keeps lines as they are written to a file of JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line."""
        self.lines.append(json.loads(JsonLines("1.2.3").format(record)))


@pytest.fixture
def records() -> Iterator[Records]:
    """Collect at DEBUG, from the root and from loggers that somebody turned up."""
    handler = Records()
    loggers = [logging.getLogger(name) for name in ("", "httpx", "httpcore", "httpcore.http11")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    logging.getLogger().addHandler(handler)
    try:
        yield handler
    finally:
        logging.getLogger().removeHandler(handler)
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def reset(connection: Connection, _: bytes) -> None:
    connection.reset()


LEAKY = saying(
    "422 Unprocessable",
    {
        "error_code": "x",
        "message": f"{bench.GENERATE.prompt} https://a.b/{SIGNED} Bearer TOKMARK-1",
    },
    f"Location: https://a.b/{SIGNED}",
    "Set-Cookie: session=TOKMARK",
    "x-request-id: theirs-1",
    "Retry-After: 7",
    "X-RateLimit-Remaining: 3",
    "X-Access-Rate-Limit-Level: org",
)


async def use(clients: bench.AdobeClients, base: str) -> None:
    for document in (bench.COMPOSITE,):
        await clients.documents.compose(document)
    await clients.images.generate(bench.GENERATE)
    await clients.images.poll(f"{base}/v3/status/urn:ff:1{SIGNED}")
    await clients.images.poll(f"https://evil.com/{SIGNED}")
    await clients.images.poll(f"{base}/reset{SIGNED}")
    await clients.results.fetch(f"{base}/out/1.png{SIGNED}")
    await clients.results.fetch(f"{base}/reset{SIGNED}")


def test_no_marker_in_any_record(records: Records) -> None:
    """Submits, polls and downloads that are refused or reset leave no secret in the logs."""
    behave = granting(by_path({"/reset": reset, "/": LEAKY}))
    with raw_server(behave) as server:
        configured = settings_for(server)
        bench.run(lambda clients: use(clients, server.url), configured=configured, debug=True)

    text = records.text()
    assert records.calls()
    assert not [marker for marker in MARKERS if marker in text]


def test_others_may_still_log(records: Records) -> None:
    """Only our calls are silent: another user of the library keeps its log lines."""
    with raw_server(saying("200 OK", {})) as server:

        async def other() -> None:
            context = httpx.create_ssl_context(trust_env=False)
            async with open_client(open_transport(context)) as client:
                await client.get(f"{server.url}/mine")

        bench.run(
            lambda clients: clients.images.poll(f"{server.url}/x"), configured=settings_for(server)
        )
        asyncio.run(other())

    lines = [record.getMessage() for record in records.kept if record.name == "httpx"]
    assert len(lines) == 1
    assert "/mine" in lines[0]


def test_each_call_has_one_line_with_its_facts(records: Records) -> None:
    """Client, method, path, both ids, status, tries, wait and limits stand in one line."""
    with raw_server(granting(LEAKY)) as server:
        url = f"{server.url}/v3/status/urn:ff:1{SIGNED}"
        bench.run(lambda clients: clients.images.poll(url), configured=settings_for(server))

    token, poll = records.calls()
    assert token.target == f"{server.host}/ims/token/v3"
    assert poll.client == "acme-client"
    assert (poll.method, poll.target) == ("GET", f"{server.host}/v3/status/urn:ff:1")
    assert (poll.status, poll.sent, poll.tried) == ("422", True, 1)
    assert len(poll.request_id) == 36
    assert poll.answered_id == "theirs-1"
    assert poll.retry_after == "7"
    assert poll.limits == "x-ratelimit-remaining=3,x-access-rate-limit-level=org"
    assert poll.milliseconds >= 0
    assert (token.token, poll.token) == ("-", "miss")


@pytest.mark.usefixtures("records")
def test_a_line_of_json_has_every_fact_of_a_call() -> None:
    """What people search by stands in fields of its own, the run's and job's ids with it."""
    with raw_server(granting(LEAKY)) as server:

        async def twice(clients: bench.AdobeClients) -> None:
            with traced(run="run-1", job="job-1", customer="acme", campaign="spring"):
                for _ in range(2):
                    await clients.images.poll(f"{server.url}/v3/status/urn:ff:1{SIGNED}")

        written = Written()
        logging.getLogger("fireflyassets.adobe").addHandler(written)
        try:
            bench.run(twice, configured=settings_for(server))
        finally:
            logging.getLogger("fireflyassets.adobe").removeHandler(written)

    line = [one for one in written.lines if one.get("endpoint") == "/v3/status/{id}"][-1]
    assert len(line.pop("request_id")) == 36
    assert line.pop("milliseconds") >= 0
    assert line.pop("at")
    assert line == {
        "message": "call",
        "level": "INFO",
        "logger": "fireflyassets.adobe",
        "run": "run-1",
        "job": "job-1",
        "customer": "acme",
        "campaign": "spring",
        "release": "1.2.3",
        "client": "acme-client",
        "method": "GET",
        "target": f"{server.host}/v3/status/urn:ff:1",
        "endpoint": "/v3/status/{id}",
        "answered_id": "theirs-1",
        "status": "422",
        "sent": True,
        "tried": 1,
        "token": "hit",
        "retry_after": "7",
        "limits": "x-ratelimit-remaining=3,x-access-rate-limit-level=org",
    }


def test_cancelled_call_leaves_its_line(records: Records) -> None:
    """A submit whose caller gives up is in the log, as cancelled."""

    def hang(connection: Connection, _: bytes) -> None:
        connection.hang()

    with raw_server(granting(hang)) as server:

        async def cancel(clients: bench.AdobeClients) -> None:
            task = asyncio.ensure_future(clients.images.generate(bench.GENERATE))
            await server.arrivals(2)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        bench.run(cancel, configured=settings_for(server))

    assert records.calls()[-1].status == "cancelled"


def counted(tally: Tally, name: str) -> dict[tuple[str, ...], float]:
    """Return labels -> count of one metric."""
    return {
        tuple(one.labels.values()): next(iter(one.values))
        for one in tally.totals()
        if one.metric.name == name
    }


def test_each_call_is_counted_by_what_it_called_for_whom_and_how_it_ended() -> None:
    """Endpoints hold no ids; a 429 is counted as a refusal; the latency is by endpoint."""
    answers = bench.answering(httpx.Response(429), httpx.Response(200, json={}))

    async def use_it(clients: bench.AdobeClients) -> Tally:
        with traced(customer="acme"):
            await clients.images.poll(bench.STATUS_URL)
            await clients.images.poll(bench.STATUS_URL.replace("one", "two"))
        return clients.meter.tally

    tally = bench.run(use_it, bench.ScriptedAdobe(answers))

    status, mint = "/v3/status/{id}", "/ims/token/v3"
    assert counted(tally, "adobe_calls") == {
        (mint, "acme-main", "acme", "200"): 1,
        (status, "acme-main", "acme", "429"): 1,
        (status, "acme-main", "acme", "200"): 1,
    }
    assert counted(tally, "adobe_calls_refused") == {(status, "acme-main", "acme"): 1}
    assert set(counted(tally, "adobe_latency")) == {(mint,), (status,)}


@pytest.mark.parametrize(
    ("path", "endpoint"),
    [
        ("/v3/images/generate-async", "/v3/images/generate-async"),
        ("/v2/create-composite", "/v2/create-composite"),
        ("/v3/status/urn:ff:jobs:epo854211:0d1e-4f", "/v3/status/{id}"),
        ("/v2/status/0d1e2f3a-4b5c-6d7e-8f90-a1b2c3d4e5f6?x=1", "/v2/status/{id}"),
        ("/v3/cancel/urn%3Aff%3Aone", "/v3/cancel/{id}"),
    ],
)
def test_an_endpoint_names_no_single_job(path: str, endpoint: str) -> None:
    """Ids of any form become one word, or each job would be a metric of its own."""
    address = parse_address(f"https://a.adobe.io{path}")
    assert address is not None
    assert endpoint_of(address) == endpoint
