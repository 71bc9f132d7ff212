"""Puts one credential's clients together.

Belongs here: the wiring. Does not: reading the environment, opening and closing
(``workshop.py``).
"""

from dataclasses import dataclass, field
from datetime import timedelta
from random import SystemRandom
from typing import Final
from uuid import uuid4

import httpx

from fireflyassets.adapters.adobe.call_log import Meter
from fireflyassets.adapters.adobe.custom_models import CustomModelDesk
from fireflyassets.adapters.adobe.exchange import Exchange
from fireflyassets.adapters.adobe.firefly import FireflyImages
from fireflyassets.adapters.adobe.hosts import AllowedHosts
from fireflyassets.adapters.adobe.ims import Ims
from fireflyassets.adapters.adobe.mint import TokenDesk
from fireflyassets.adapters.adobe.photoshop import PhotoshopCutter, PhotoshopDocuments
from fireflyassets.adapters.adobe.poll_share import PollShare
from fireflyassets.adapters.adobe.references import ReferenceDesk
from fireflyassets.adapters.adobe.results import ResultStore
from fireflyassets.adapters.adobe.service import ServiceParts
from fireflyassets.adapters.adobe.transport import open_client, open_transport
from fireflyassets.adapters.adobe.wire import AdobeWire
from fireflyassets.adapters.memory.uploads import MemoryUploads
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import Family
from fireflyassets.core.tally import Tally
from fireflyassets.ports.catalogue import PACED, Credential
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.references import UploadCache
from fireflyassets.ports.secrets import SecretStore
from fireflyassets.ports.tokens import TokenStore
from fireflyassets.settings import Settings

_MOST_JSON: Final = 8 * 1024 * 1024
_MOST_RESULT: Final = 256 * 1024 * 1024
_DOWNLOAD: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class AdobeClients:
    """The clients of one credential, for use within one event loop."""

    images: FireflyImages
    documents: PhotoshopDocuments
    cutter: PhotoshopCutter
    models: CustomModelDesk
    references: ReferenceDesk
    tokens: Ims
    """For its counts."""
    wire: AdobeWire
    results: ResultStore
    meter: Meter

    async def aclose(self) -> None:
        """Stop renewals and close all connections."""
        await self.wire.aclose()
        await self.results.aclose()


@dataclass(frozen=True, slots=True)
class Transports:
    """Where the two clients' requests go: the seam at which tests attach."""

    adobe: httpx.AsyncBaseTransport
    storage: httpx.AsyncBaseTransport
    """Carries no header of ours."""

    @classmethod
    def opened(cls) -> "Transports":
        """Return transports over real connections, which open as they are needed."""
        context = httpx.create_ssl_context(trust_env=False)
        return cls(open_transport(context), open_transport(context))


@dataclass(frozen=True, slots=True)
class Shared:
    """What the clients of all credentials have together."""

    uploads: UploadCache
    tally: Tally = field(default_factory=Tally)


def adobe_clients(
    settings: Settings,
    credential: Credential,
    secrets: SecretStore,
    token_store: TokenStore,
    clock: Clock,
    transports: Transports | None = None,
    shared: Shared | None = None,
) -> AdobeClients:
    """Return the clients that call Adobe as *credential*; nothing is sent yet.

    Raises:
        UnusableConfiguration: There is no secret, or a configured host is not on the list.
    """
    shared = shared or Shared(MemoryUploads(clock))
    meter = Meter(shared.tally, credential.name)
    seam = _Seam(_trusted(settings), clock, transports or Transports.opened(), meter)
    exchange = Exchange(open_client(seam.transports.adobe), most_bytes=_MOST_JSON)
    tokens = _tokens(settings, credential, secrets, token_store, exchange, seam)
    wire = AdobeWire(
        exchange=exchange,
        hosts=seam.hosts,
        tokens=tokens,
        clock=clock,
        correlation=lambda: str(uuid4()),
        meter=meter,
    )
    results = _results(seam)
    polls = {family: PollShare(settings.polls_per_second) for family in PACED}
    parts = ServiceParts(wire, results, settings.submit_timeout, polls)
    return AdobeClients(
        images=FireflyImages(parts, base_url=settings.firefly_url, v4=settings.firefly_v4),
        documents=PhotoshopDocuments(parts, base_url=settings.photoshop_url),
        cutter=PhotoshopCutter(
            parts, base_url=settings.photoshop_url, cut_out_url=settings.image_url
        ),
        models=CustomModelDesk(wire, base_url=settings.firefly_url, pace=polls[Family.FIREFLY]),
        references=ReferenceDesk(
            wire,
            base_url=settings.firefly_url,
            organisation=credential.organisation,
            cache=shared.uploads,
            pace=polls[Family.FIREFLY],
        ),
        tokens=tokens,
        wire=wire,
        results=results,
        meter=meter,
    )


@dataclass(frozen=True, slots=True)
class _Seam:
    hosts: AllowedHosts
    clock: Clock
    transports: Transports
    meter: Meter


def _results(seam: _Seam) -> ResultStore:
    exchange = Exchange(open_client(seam.transports.storage), most_bytes=_MOST_RESULT)
    return ResultStore(
        exchange=exchange,
        hosts=seam.hosts,
        clock=seam.clock,
        within=_DOWNLOAD,
        meter=seam.meter,
    )


def _tokens(
    settings: Settings,
    credential: Credential,
    secrets: SecretStore,
    token_store: TokenStore,
    exchange: Exchange,
    seam: _Seam,
) -> Ims:
    chance = SystemRandom().random
    desk = TokenDesk(
        base_url=settings.ims_url,
        exchange=exchange,
        hosts=seam.hosts,
        clock=seam.clock,
        chance=chance,
        meter=seam.meter,
    )
    return Ims(
        client_id=secrets.read(credential.secret).client_id,
        scopes=credential.scopes,
        secret=(secrets, credential.secret),
        store=token_store,
        desk=desk,
        clock=seam.clock,
        chance=chance,
    )


def _trusted(settings: Settings) -> AllowedHosts:
    hosts = AllowedHosts(settings.adobe_hosts)
    urls = {
        "firefly_url": settings.firefly_url,
        "photoshop_url": settings.photoshop_url,
        "image_url": settings.image_url,
    }
    for name, url in urls.items():
        if not hosts.may_carry_credentials(url):
            raise UnusableConfiguration(f"{name} is not on the list of adobe_hosts.")
    return hosts
