"""The pages on a real port, with the embedded issuer, and a real browser in front of them.

Here: what the tests in chromium share. Not here: which pages there are (``walk.py``).
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from playwright.sync_api import Browser as Chromium
from playwright.sync_api import ConsoleMessage, Page, Response, sync_playwright
from pydantic import SecretStr

from fireflyassets.adapters.memory.keys import MemoryKeys
from fireflyassets.adapters.memory.metrics import MemoryMetrics
from fireflyassets.adapters.provider import OidcProvider
from fireflyassets.api.app import create_app
from fireflyassets.api.pages.shell import PREFIX
from fireflyassets.api.pages.sign_in import BACK
from fireflyassets.core import metric
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.endpoint import (
    Attempt,
    Endpoint,
    Health,
    Kind,
    Outcome,
    State,
    delivery_of,
    tried,
)
from fireflyassets.core.event import Event, EventType
from fireflyassets.core.job import CAMPAIGN as BY_CAMPAIGN
from fireflyassets.core.job import FACTORY, Hold
from fireflyassets.core.review import Code, Move
from fireflyassets.core.status import Status
from fireflyassets.core.tally import Tally
from fireflyassets.local.access import HOST
from fireflyassets.local.issuer import CLIENT, ISSUER, Issuer
from fireflyassets.local.sign_in import AUTHORIZE, TOKEN, Doorway, served
from fireflyassets.local.sign_in import create_app as sign_in_app
from fireflyassets.ports.catalogue import Quarantined
from fireflyassets.ports.entries import Recorded, Release, Wave, WaveState
from fireflyassets.ports.metrics import MetricHistory
from fireflyassets.ports.webhooks import WebhookStore
from fireflyassets.settings import Settings
from fireflyassets.stages.queue import drain
from fireflyassets.stages.review import Pick, Reviews, Ruling
from fireflyassets_tests.api.desk_clerk import finish, ports_of
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    NOON,
    FixedCatalogue,
    FrontDoor,
    asked,
    config,
    front_door,
)
from fireflyassets_tests.stages.test_letters import letters
from fireflyassets_tests.stages.test_queue import body

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HELD = "held-" + "x" * 59
"""As long as a key may be, and without a place to break."""
MARKUP = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"


class Shelf(FixedCatalogue):
    """A catalogue with one campaign whose files can't be used."""

    def quarantined(self) -> tuple[Quarantined, ...]:
        slug = frozenset({f"{CUSTOMER}/broken"})
        return (Quarantined("campaigns/acme/broken", "It names no template.", slug),)


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Site:
    """Where the pages are, and what is behind them."""

    url: str
    issuer: str
    door: FrontDoor
    jobs: dict[str, str] = field(default_factory=dict)
    """What a job is like -> its id."""

    def open(self, page: Page, where: str) -> Response | None:
        """Open an address of the pages."""
        return page.goto(f"{self.url}{PREFIX}{where}")

    def sign_in(self, page: Page, customer: str = CUSTOMER, role: str = "Operator") -> None:
        """Click through the embedded issuer."""
        self.open(page, "/campaigns")
        page.get_by_role("link", name=f"{role} of {customer}").click()

    def ask(self, name: str, *, campaign: str = CAMPAIGN, **changes: object) -> str:
        """Let a job come in, and return its id."""
        row = asked(key=name, **changes)
        (answer,) = self.door.intake.accept([row], customer=CUSTOMER, campaign=campaign)
        assert isinstance(answer, Recorded), answer
        self.jobs[name] = answer.row.job_id
        self.door.clock.jump(timedelta(seconds=1))
        return answer.row.job_id


@contextmanager
def site() -> Iterator[Site]:
    """Yield the pages of a tenant with jobs of every kind, and of one with nothing."""
    urls = {name: f"http://{HOST}:{free_port()}" for name in ("api", "sign-in")}
    issuer = Issuer.new()
    settings = Settings(
        api_url=urls["api"],
        oidc_issuer=ISSUER,
        oidc_client_id=CLIENT,
        oidc_authorize_url=f"{urls['sign-in']}{AUTHORIZE}",
        oidc_token_url=f"{urls['sign-in']}{TOKEN}",
        session_keys=(SecretStr(issuer.session_key()),),
    )
    shelf = Shelf(
        config(headline_limit=200),
        config(campaign="summer-garden", title="Summer garden"),
        config(campaign="reviewed", title="Reviewed", review=ReviewMode.REQUIRED),
    )
    door = front_door(shelf)
    ports = replace(ports_of(door), keys=MemoryKeys(issuer.key_set()))
    app = create_app(ports, settings, OidcProvider(settings))
    doorway = Doorway(issuer, door.clock, back_to=f"{urls['api']}{PREFIX}{BACK}")
    chooser = sign_in_app(doorway, [CUSTOMER, "none"], origin=urls["sign-in"])
    with (
        served(app, host=HOST, port=int(urls["api"].rpartition(":")[2])),
        served(chooser, host=HOST, port=int(urls["sign-in"].rpartition(":")[2])),
    ):
        made = Site(urls["api"], urls["sign-in"], door)
        fill(made)
        count(ports.metrics, door.clock.now())
        tell(ports.webhooks, made.jobs["done"])
        yield made


def fill(made: Site) -> None:
    """Let jobs of every kind come in, and more than fit a page."""
    finish(made.door, made.ask("done"))
    finish(made.door, made.ask("refused", prompt=MARKUP, headline=MARKUP), status=Status.REVIEW)
    finish(made.door, made.ask("again"), status=Status.DLQ)
    made.door.queue.send([body("refused-by-queue", locale="fr-FR")])
    drain(made.door.queue, made.door.intake, most=1)
    letters(made.door).sort(most=1)
    made.ask("arabic", locale="ar-AE", headline="الربيع، طازج في كأس")
    held = made.ask(HELD)
    wave = Wave("w-h", CUSTOMER, CAMPAIGN, "v", "c", WaveState.FORMING, (held,), NOON)
    made.door.ledger.form(wave)
    claim = made.door.ledger.claim(held, CUSTOMER, "w-h", now=NOON)
    assert claim is not None
    unknown = Hold("Step art: nobody knows whether Adobe took it", NOON, FACTORY)
    made.door.ledger.release(claim, Release("unknown", hold=unknown), now=NOON)
    for number in range(55):
        made.ask(f"waiting-{number:02}")
    wait_for_review(made, jobs=7)
    hold = Hold(f"The campaign is on hold: {MARKUP}", NOON, BY_CAMPAIGN)
    made.door.ledger.hold_campaign(CUSTOMER, "summer-garden", hold)


def wait_for_review(made: Site, *, jobs: int) -> None:
    """Let jobs of three looks wait for a review, one of them with markup, one decided."""
    door = made.door
    for number in range(jobs):
        job_id = made.ask(
            f"candidate-{number}", campaign="reviewed", prompt=MARKUP if number == 0 else "A meadow"
        )
        finish(door, job_id, look=number % 3)
    reviews = Reviews(door.ledger, door.clock, lambda _: timedelta(days=90), lambda: "act-0")
    second = made.jobs["candidate-1"]
    row = door.ledger.job(second)
    assert row is not None
    ruling = Ruling(Move.REJECT, "ann@acme.example", Code.QUALITY, note=MARKUP)
    reviews.judge(CUSTOMER, "reviewed", [Pick(second, row.epoch)], ruling)


def tell(store: WebhookStore, job_id: str) -> None:
    """Let one endpoint be well and another down, with deliveries of every outcome."""
    well = Endpoint(
        CUSTOMER, "ep_1", Kind.WEBHOOK, "https://hooks.example.com/in", frozenset(), NOON
    )
    down = Health(State.POLLING, 23, NOON, NOON, MARKUP)
    ill = replace(
        well, endpoint_id="ep_2", url=f"https://hooks.example.com/{'x' * 400}", health=down
    )
    for one in (well, ill):
        store.add_endpoint(one)
    for number, status in enumerate((204, 500, None)):
        at = NOON + timedelta(minutes=number)
        event = Event(f"e{number}", EventType.JOB_SUCCEEDED, CUSTOMER, at, job_id, CAMPAIGN)
        made = delivery_of(event, well, "{}", due_at=NOON, asked_at=NOON)
        answer = Attempt(NOON, status, timedelta(seconds=1), MARKUP)
        done = tried(made, answer, down if number == 2 else Health(), jitter=0)
        store.add_delivery(replace(done, outcome=Outcome.FAILED) if number == 1 else done)


def count(metrics: MetricHistory, now: datetime) -> None:
    """Let the last hour have been busy: with gaps, lone numbers, and more lines than are drawn."""
    assert isinstance(metrics, MemoryMetrics)
    for minute in range(60):
        tally = Tally()
        for n in range(10 if minute % 7 else 1):
            said = {"customer": CUSTOMER if n else "bolt", "credential": f"credential-{n}"}
            tally.add(metric.CALLS, 3 + n, endpoint=f"/v3/images/{n}", status="200", **said)
            tally.observe(metric.LATENCY, 0.2 * (n + 1) + minute / 60, endpoint=f"/v3/images/{n}")
            tally.add(metric.ENDED, minute % 5, customer=CUSTOMER, status="succeeded")
        if minute == 30:
            tally.add(metric.ENDED, 2, customer="bolt", status="dlq")
        tally.set(metric.QUEUE_DEPTH, 2000 - 30 * minute)
        metrics.send(tally.taken(), at=now - timedelta(minutes=59 - minute))


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Yield Debian's chromium, without a screen."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page, and what its browser complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        # Each answer that is no success is one, as the tests of errors ask for.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)


@contextmanager
def looking(
    browser: Chromium, *, width: int = 1280, dark: bool = False, script: bool = True
) -> Iterator[Watched]:
    """Yield a window of a person's own."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        java_script_enabled=script,
    )
    context.set_default_timeout(20_000)
    try:
        yield Watched(context.new_page())
    finally:
        context.close()
