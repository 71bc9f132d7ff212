"""A customer's client in the same process. Here: the app over memory ports, asked as HTTP asks."""

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from secrets import token_hex

import httpx
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import ECKey, Key, KeySet
from PIL import Image, ImageOps
from pydantic import SecretStr

from fireflyassets.adapters.guarded_http import Guard
from fireflyassets.adapters.limit_files import DOCUMENTED
from fireflyassets.adapters.memory.api_keys import MemoryApiKeys
from fireflyassets.adapters.memory.backlog import MemoryBacklog
from fireflyassets.adapters.memory.campaigns import MemoryCampaigns
from fireflyassets.adapters.memory.keys import MemoryKeys
from fireflyassets.adapters.memory.metrics import MemoryMetrics
from fireflyassets.adapters.pillow import PillowPictures
from fireflyassets.adapters.provider import OidcProvider
from fireflyassets.adapters.secrets import EnvironmentSecrets
from fireflyassets.adapters.webhook_secrets import WebhookSecrets
from fireflyassets.api.app import create_app
from fireflyassets.api.desk import Ports
from fireflyassets.api.tokens import Bearers
from fireflyassets.core import ids
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import Ending, Wave, WaveState
from fireflyassets.ports.keys import SigningKeys
from fireflyassets.settings import Settings
from fireflyassets.stages.api_keys import ApiKeys
from fireflyassets_tests.contracts import webhooks
from fireflyassets_tests.front_door import (
    ASPECTS,
    CAMPAIGN,
    CUSTOMER,
    GOOD,
    NOON,
    FrontDoor,
    front_door,
)

PUBLIC = "https://assets.example"
ISSUER = "https://issuer.example"
KEY = ECKey.generate_key("P-256", auto_kid=True)
CLIENT = "pages"
HOOKS = {"HOOKS_ID": "root", "HOOKS_SECRET": "r" * 32}
SESSION_KEY = SecretStr("0" * 32)


def token(
    tenant: str = CUSTOMER, *, key: Key = KEY, algorithm: str = "ES256", **claims: object
) -> str:
    """Return a token of our issuer, good for an hour; a claim that is None is left out."""
    now = int(NOON.timestamp())
    said: dict[str, object] = {
        "iss": ISSUER,
        "aud": "fireflyassets",
        "sub": f"system-of-{tenant}",
        "tenant": tenant,
        "scope": "jobs:write jobs:read review ops",
        "iat": now,
        "exp": now + 3600,
    }
    kept = {name: value for name, value in (said | claims).items() if value is not None}
    return jwt.encode({"alg": algorithm, "kid": key.kid}, kept, key)


TOKEN = token()
OTHER = token("bolt")

JOB: dict[str, object] = {
    "campaign": CAMPAIGN,
    "idempotencyKey": GOOD.key,
    "prompt": GOOD.prompt,
    "locale": GOOD.locale,
    "headline": GOOD.headline,
    "aspects": list(ASPECTS),
}


@dataclass(frozen=True)
class Clerk:
    """An app and the ports behind it."""

    door: FrontDoor
    app: FastAPI
    peer: str = "203.0.113.9"
    url: str = PUBLIC
    metrics: MemoryMetrics = field(default_factory=MemoryMetrics)

    def ask(
        self,
        method: str,
        path: str,
        *,
        token: str | None = TOKEN,
        headers: Mapping[str, str] | None = None,
        json: object = None,
        content: bytes | AsyncIterator[bytes] | None = None,
    ) -> httpx.Response:
        """Send one request and return the answer; redirects are not followed."""
        said = {name: value.encode() for name, value in (headers or {}).items()}
        if token is not None:
            said["Authorization"] = f"Bearer {token}".encode()

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(
                self.app, raise_app_exceptions=False, client=(self.peer, 1234)
            )
            async with httpx.AsyncClient(transport=transport, base_url=self.url) as client:
                return await client.request(method, path, headers=said, json=json, content=content)

        return asyncio.run(send())

    def post(self, **changes: object) -> httpx.Response:
        """Post the good job with *changes*; a field that is None is left out."""
        fields = {name: value for name, value in (JOB | changes).items() if value is not None}
        return self.ask("POST", "/v1/jobs", json=fields)


def bearers(keys: SigningKeys, clock: Clock, settings: Settings) -> Bearers:
    """Return what reads tokens, where there is no API key."""
    return Bearers(keys, ApiKeys(MemoryApiKeys(), clock, token_hex), clock, settings)


async def _public(host: str) -> list[str]:
    """Resolve every name to a public address, but those that say that they lead inside."""
    return ["10.0.0.1" if host.startswith("inner.") else "8.8.8.8"]


def ports_of(door: FrontDoor) -> Ports:
    """Return the ports behind a door, as the API takes them."""
    return Ports(
        ledger=door.ledger,
        backlog=MemoryBacklog(door.ledger),
        objects=door.objects,
        queue=door.queue,
        catalogue=door.intake.catalogue,
        clock=door.clock,
        pictures=PillowPictures(),
        guardrail=door.intake.guardrail,
        limits=lambda _, family: DOCUMENTED[family],
        metrics=MemoryMetrics(),
        limiter=MemoryLimiter(now=door.clock.now),
        keys=MemoryKeys(KeySet([KEY]).as_dict(private=False)),
        api_keys=MemoryApiKeys(),
        webhooks=webhooks.over(door.ledger),
        webhook_secrets=WebhookSecrets(EnvironmentSecrets(HOOKS), "env:HOOKS", door.clock),
        guard=Guard(resolve=_public),
        campaigns=MemoryCampaigns(),
    )


def clerk(
    catalogue: Catalogue | None = None,
    *,
    api_url: str = PUBLIC,
    peer: str = "203.0.113.9",
    issuer: str = ISSUER,
    provide: Callable[[httpx.Request], httpx.Response] = lambda _: httpx.Response(503),
    metrics: MemoryMetrics | None = None,
    **said: object,
) -> Clerk:
    """Return a clerk of an API with nothing behind it yet."""
    door = front_door(catalogue)
    settings = Settings(
        api_url=api_url,
        oidc_issuer=issuer,
        oidc_client_id=CLIENT,
        oidc_authorize_url=f"{ISSUER}/authorize",
        oidc_token_url=f"{ISSUER}/token",
        session_keys=(SESSION_KEY,),
    ).model_copy(
        update={
            "lists_per_minute": 100_000,
            "reads_per_minute": 100_000,
            "writes_per_minute": 100_000,
            **said,
        }
    )
    provider = OidcProvider(settings, httpx.MockTransport(provide))
    numbers = metrics or MemoryMetrics()
    ports = replace(ports_of(door), metrics=numbers)
    return Clerk(door, create_app(ports, settings, provider), peer, api_url, numbers)


def picture(width: int = 640, height: int = 360, *, look: int = 0) -> bytes:
    """Return a JPEG; those of another *look* are seen to be other pictures."""
    target = io.BytesIO()
    made = Image.new("RGB", (width, height), (25, 65, 50))
    if look:
        grey = Image.linear_gradient("L").rotate(90 * look).resize((width, height))
        made = ImageOps.colorize(grey, (25, 65, 50), (240, 220, 150))
    made.save(target, "JPEG")
    return target.getvalue()


def finish(
    door: FrontDoor,
    job_id: str,
    *,
    status: Status = Status.SUCCEEDED,
    failure: FailureClass | None = None,
    look: int = 0,
) -> None:
    """Run a job to its end, as a wave would, with its renditions in the store."""
    row = door.ledger.job(job_id)
    assert row is not None
    customer, campaign = row.customer_id, row.campaign_id
    wave = Wave("w-1", customer, campaign, "v", "c", WaveState.FORMING, (job_id,), NOON)
    door.ledger.form(replace(wave, wave_id=f"w-{job_id}"))
    claim = door.ledger.claim(job_id, customer, f"w-{job_id}", now=NOON)
    assert claim is not None
    keys: list[str] = []
    for aspect in ASPECTS if status is Status.SUCCEEDED else ():
        keys.append(ids.delivery_key(customer, campaign, job_id, aspect, "picture.jpg"))
        door.objects.put(keys[-1], picture(look=look), media_type="image/jpeg")
    looks = tuple(PillowPictures().perceptual(picture(look=look)) for _ in keys)
    reason = None if status is Status.SUCCEEDED else "Step art: firefly 451 prompt_unsafe."
    cost = Cost(Decimal("3.5"), Decimal("0.5"))
    ending = Ending(status, reason, tuple(keys), cost, NOON, None, failure=failure, looks=looks)
    door.ledger.finish(claim, ending)


def finished(desk: Clerk, **changes: object) -> str:
    """Return the id of a job that was accepted and has run."""
    job_id: str = desk.post(**changes).json()["jobId"]
    finish(desk.door, job_id)
    return job_id
