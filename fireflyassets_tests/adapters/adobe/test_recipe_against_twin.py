"""A long recipe at the simulator: real clients, real pictures, and two books that agree.

Here: one wave over HTTP, our bucket played by a small server. Not here: each call's shape.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import cast
from urllib.parse import quote, unquote

import pytest

from fireflyassets.adapters import threads
from fireflyassets.adapters.adobe.workshop import AdobeWorkshop
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.core.status import Status
from fireflyassets.ports.catalogue import Catalogue, Credential
from fireflyassets.ports.secrets import ClientSecret, SecretStore
from fireflyassets.wave.reports import Report
from fireflyassets.wave.thread import WaveThread
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.conftest import billed, control
from fireflyassets_tests.adapters.adobe.raw_server import Connection, raw_server
from fireflyassets_tests.floor import Floor, floor
from fireflyassets_tests.front_door import FixedCatalogue, config
from fireflyassets_tests.paid_services import size
from fireflyassets_tests.stages.test_picture_calls import PRICES

pytestmark = pytest.mark.stack

SCOPES = ("openid", "AdobeID", "read_organizations", "firefly_api", "ff_apis")
SIDE = "1024x1024"
STEPS: list[dict[str, object]] = [
    {"name": "art", "kind": "generate", "size": SIDE},
    {"name": "wider", "kind": "expand", "picture": "art.picture", "size": "1536x1024"},
    {"name": "cut", "kind": "remove-background", "picture": "art.picture", "mode": "mask"},
    {
        "name": "filled",
        "kind": "fill",
        "picture": "art.picture",
        "mask": "cut.picture",
        "size": SIDE,
        "prompt": "job.prompt",
    },
    {"name": "like", "kind": "similar", "picture": "filled.picture", "size": SIDE},
    {"name": "lit", "kind": "edit", "picture": "like.picture", "auto_tone": True},
    {"name": "big", "kind": "upscale", "picture": "lit.picture", "factor": 2},
]


class ServedObjects(MemoryObjects):
    """Objects whose URLs a program on this machine can use."""

    base = ""

    def read_url(self, key: str, *, life: timedelta) -> str:
        """Return a URL that reads."""
        return f"{self.base}/{quote(key)}?life={life.total_seconds():.0f}"

    def write_url(self, key: str, *, media_type: str, life: timedelta) -> str:
        """Return a URL that writes."""
        return f"{self.base}/{quote(key)}?type={quote(media_type)}&life={life.total_seconds():.0f}"


class Entitled(FixedCatalogue):
    """A catalogue whose credential may make pictures."""

    def credential(self, name: str, *, customer: str) -> Credential:
        """Return it, with the scopes that calls need."""
        return replace(super().credential(name, customer=customer), scopes=SCOPES)


class OneSecret(SecretStore):
    """The simulator's only client."""

    def read(self, reference: str) -> ClientSecret:
        """Return it, whatever it is called."""
        return bench.SECRETS.read("env:ACME")


@contextmanager
def served() -> Iterator[ServedObjects]:
    """Serve an empty store."""
    objects = ServedObjects()

    def store(connection: Connection, request: bytes) -> None:
        head, _, body = request.partition(b"\r\n\r\n")
        method, target, _ = head.split(b" ", 2)
        key = unquote(target.decode().partition("?")[0].removeprefix("/"))
        if method == b"PUT":
            objects.put(key, body, media_type="image/jpeg")
            connection.answer("200 OK")
        else:
            connection.answer("200 OK", objects.get(key) or b"")

    with raw_server(store) as server:
        objects.base = server.url
        yield objects


@dataclass
class Factory:
    """A floor whose vendor is the simulator."""

    here: Floor
    tokens: MemoryTokens
    reports: list[Report]

    def work(self) -> str:
        """Order one job, run it, and return its id."""
        (campaign,) = self.here.shop.catalogue.campaigns().values()
        said = campaign.config
        (job,) = self.here.order(1, aspects=said.aspects, campaign=said.campaign)
        self.again(job)
        return job

    def again(self, job: str) -> None:
        """Run a job as a person does who asks for it."""
        (wave,) = self.here.begin([job]).waves
        self.reports.extend(WaveThread(self.here.shop, wave, wave.run_id or "").reports())


@contextmanager
def factory(twin: str, *steps: Mapping[str, object], aspect: str) -> Iterator[Factory]:
    """Set a floor up with one recipe that ends in a picture."""
    asked = config(aspects=(aspect,), templates={}, recipe={"steps": steps})
    with put_up(twin, Entitled(asked, cards=(PRICES,))) as made:
        yield made


@contextmanager
def put_up(twin: str, catalogue: Catalogue) -> Iterator[Factory]:
    """Set a floor up before the simulator, with a bucket that it can reach."""
    here = floor(catalogue=catalogue, clock=SystemClock())
    settings = bench.settings([twin.removeprefix("http://")], base=twin)
    tokens = MemoryTokens(here.clock)
    with served() as objects:
        here.use_objects(objects)
        adobe = AdobeWorkshop(settings, OneSecret(), tokens, here.clock)
        here.shop = replace(here.shop, adobe=adobe, lanes=threads.lanes())
        yield Factory(here, tokens, [])


def test_every_picture_step_runs_at_the_simulator(twin: str) -> None:
    """Seven calls of two services end in one file; each is billed and booked once."""
    before = len(billed(twin))
    with factory(twin, *STEPS, aspect="2048x2048") as made:
        job = made.work()

    row, history = made.here.row(job), made.here.ledger.history(job)
    assert row.status is Status.SUCCEEDED, [one.fault for one in history.attempts]
    assert row.cost_actual == Decimal("2.0")
    assert size(made.here.objects.get(row.outputs[0]) or b"") == (2048, 2048)
    calls = [cast("str", call["job_id"]) for call in billed(twin)[before:]]
    assert len(calls) == len(STEPS)
    assert sorted(one.vendor_id for one in history.operations) == sorted(calls)


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
def test_a_job_leaves_no_secret_behind(
    twin: str, caplog: pytest.LogCaptureFixture, level: int
) -> None:
    """No token, secret or signature in logs, ledger, reports or stored documents."""
    control(
        twin,
        "/_twin/faults",
        {"when": {"endpoint": "expand"}, "then": {"kind": "ends_as", "status": "failed"}},
        method="POST",
    )
    with caplog.at_level(level), factory(twin, *STEPS[:2], aspect="1536x1024") as made:
        job = made.work()
    control(twin, "/_twin/faults", method="DELETE")

    history = made.here.ledger.history(job)
    assert len(history.steps) == 1, "One picture is made, and one step fails."
    token = made.tokens.read("acme-client#" + ",".join(sorted(SCOPES)))
    assert token is not None
    left = [
        caplog.text,
        *(repr(vars(record)) for record in caplog.records),
        repr((made.here.row(job), history, made.reports)),
        *(repr(one.content) for one in made.here.objects.objects.values()),
    ]
    for secret in (token.token, "SECMARK", "X-Amz-Signature", "signature=", "?sig"):
        assert not [text for text in left if secret in text], secret
