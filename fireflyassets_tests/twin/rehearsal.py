"""What the twin's tests share: a clock that jumps, a twin in memory, a storage on loopback.

Here: doubles and the steps every test takes (token, submit, poll to the end). Not here: promises.
"""

import asyncio
import io
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import httpx
import pytest
from PIL import Image

from fireflyassets.twin.app import create_app
from fireflyassets.twin.clock import WallClock
from fireflyassets.twin.refusals import MissingFont, UnknownLayer
from fireflyassets.twin.rendering import SlotEdit
from fireflyassets.twin.settings import (
    ClientSetting,
    LatencySetting,
    LimitSetting,
    Settings,
)
from fireflyassets.twin.simulator import Simulator

BASE = "http://twin.test"
SCOPES = "openid,AdobeID,session,additional_info,read_organizations,firefly_api,ff_apis"
ADA = ClientSetting(id="ada", secret="ada-secret", organisation="acme@AdobeOrg")
BOB = ClientSetting(id="bob", secret="bob-secret", organisation="acme@AdobeOrg")
EVE = ClientSetting(id="eve", secret="eve-secret", organisation="other@AdobeOrg")
SMALL = {"width": 896, "height": 1152}
GENERATE = "/v3/images/generate-async"
QUICK = LatencySetting(
    firefly_median=timedelta(milliseconds=20),
    photoshop_median=timedelta(milliseconds=20),
    sigma=0,
)
POLLS = 3_000  # Half a minute: a job that takes longer is stuck.
UNLIMITED = LimitSetting(
    firefly_per_minute=10_000, photoshop_per_minute=10_000, photoshop_per_3_seconds=10_000
)


class ShiftedClock(WallClock):
    """Wall time plus a shift that tests make larger: hours pass without waiting."""

    def __init__(self) -> None:
        self.shift = timedelta(0)

    def now(self) -> datetime:
        """Return the shifted instant."""
        return super().now() + self.shift


class StillClock:
    """Stands still; a sleep moves it on."""

    def __init__(self, now: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC)) -> None:
        self.instant = now

    def now(self) -> datetime:
        """Return the instant."""
        return self.instant

    async def sleep(self, duration: timedelta) -> None:
        """Move on."""
        self.instant += duration


class PlainRenderer:
    """Draws the document's colour and its edits as numbered stripes, without reading a PSD.

    A document is `8BPS` and a colour word. The layer `Hero` takes pictures, `Headline` texts.
    """

    def render(
        self, document: bytes, edits: Sequence[SlotEdit], *, missing_font: str
    ) -> Image.Image:
        """Return a canvas of 200 x 100 pixels; a picture fills the left half."""
        canvas = Image.new("RGB", (200, 100), document[4:].decode())
        for edit in edits:
            if edit.name not in {"Hero", "Headline"}:
                raise UnknownLayer(f"No layer {edit.name!r}.")
            if edit.text == "unfont" and missing_font == "fail":
                raise MissingFont("No font.")
            if edit.picture is not None:
                picture = Image.open(io.BytesIO(edit.picture)).resize((100, 100))
                canvas.paste(picture, (0, 0))
        return canvas

    def manifest(self, document: bytes) -> dict[str, object]:
        """Return a tree of one layer."""
        return {"layers": [{"id": 1, "name": document[4:].decode(), "type": "layer"}]}


@dataclass
class Rehearsal:
    """A twin in memory with a client."""

    http: httpx.AsyncClient
    clock: ShiftedClock
    simulator: Simulator
    tokens: dict[str, str] = field(default_factory=dict[str, str])

    async def token(self, client: ClientSetting = ADA, scope: str = SCOPES) -> str:
        """Return a new token."""
        form = {
            "grant_type": "client_credentials",
            "client_id": client.id,
            "client_secret": client.secret,
            "scope": scope,
        }
        answer = await self.http.post("/ims/token/v3", data=form)
        return str(answer.json()["access_token"])

    async def headers(self, client: ClientSetting = ADA) -> dict[str, str]:
        """Return the headers of a call by *client*."""
        if client.id not in self.tokens:
            self.tokens[client.id] = await self.token(client)
        return {"Authorization": f"Bearer {self.tokens[client.id]}", "x-api-key": client.id}

    async def post(
        self, path: str, body: object, *, client: ClientSetting = ADA, model: str | None = None
    ) -> httpx.Response:
        """Submit a JSON body."""
        headers = await self.headers(client)
        if model is not None:
            headers["x-model-version"] = model
        return await self.http.post(path, json=body, headers=headers)

    async def generate(self, prompt: str = "a pear", **body: object) -> httpx.Response:
        """Submit a small v3 generate."""
        return await self.post(GENERATE, {"prompt": prompt, "size": SMALL, **body}, model="image3")

    async def get(self, path: str, *, client: ClientSetting = ADA) -> httpx.Response:
        """Get with a bearer."""
        return await self.http.get(path, headers=await self.headers(client))

    async def ended(self, accepted: httpx.Response) -> dict[str, Any]:
        """Poll an accepted job to its end."""
        said = accepted.json()
        url = said.get("statusUrl") or said["links"]["result"]["href"]
        for _ in range(POLLS):
            body: dict[str, Any] = (await self.get(url)).json()
            if body.get("status") not in {"pending", "running", "cancel_pending"}:
                return body
            await asyncio.sleep(0.01)
        pytest.fail(f"The job is still {body.get('status')!r}.")

    async def fault(self, then: dict[str, object], **when: object) -> None:
        """Put a fault in force."""
        answer = await self.http.post("/_twin/faults", json={"when": when, "then": then})
        assert answer.status_code == 201, answer.text

    async def calls(self) -> list[dict[str, Any]]:
        """Return the list of calls."""
        listed: list[dict[str, Any]] = (await self.http.get("/_twin/calls")).json()["calls"]
        return listed

    async def summary(self) -> dict[str, Any]:
        """Return the totals."""
        totals: dict[str, Any] = (await self.http.get("/_twin/summary")).json()
        return totals


def settings(**changes: object) -> Settings:
    """Return quick settings for three clients of two organisations."""
    quick = Settings(clients=(ADA, BOB, EVE), latency=QUICK, limits=UNLIMITED, render_in="thread")
    return replace(quick, **cast("dict[str, Any]", changes))


@asynccontextmanager
async def rehearsing(
    transport: httpx.AsyncBaseTransport | None = None, **changes: object
) -> AsyncGenerator[Rehearsal]:
    """Run a twin in memory."""
    clock = ShiftedClock()
    app = create_app(
        settings(**changes), clock=clock, renderer=PlainRenderer(), transport=transport
    )
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE) as client,
    ):
        yield Rehearsal(client, clock, app.state.simulator)


def rehearse(steps: Callable[[Rehearsal], Awaitable[None]], **changes: object) -> None:
    """Run *steps* against a new twin in memory."""

    async def run() -> None:
        async with rehearsing(**changes) as rehearsal:
            await steps(rehearsal)

    asyncio.run(run())


@dataclass
class Storage:
    """A bucket on loopback that remembers what it was sent, byte for byte."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    written: dict[str, bytes] = field(default_factory=dict[str, bytes])
    headers: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    answer: int = 200


@contextmanager
def storing(**files: bytes) -> Generator[Storage]:
    """Serve *files* under their names, and take PUTs."""
    storage = Storage(files={f"/{name}": content for name, content in files.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = storage.files.get(self.path.partition("?")[0])
            storage.headers[self.path] = {key.lower(): each for key, each in self.headers.items()}
            self._say(404 if content is None else 200, content or b"")

        def do_PUT(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            storage.headers[self.path] = {key.lower(): each for key, each in self.headers.items()}
            if storage.answer == 200:
                storage.written[self.path] = content
            self._say(storage.answer, b"")

        def _say(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    storage.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield storage
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def picture(colour: str = "red", size: tuple[int, int] = (40, 30), form: str = "PNG") -> bytes:
    """Return a plain picture."""
    target = io.BytesIO()
    Image.new("RGB", size, colour).save(target, form)
    return target.getvalue()
