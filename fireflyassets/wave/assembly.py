"""A wave's engine put together from the ports of its process.

Belongs here: pacers, lease, fence and tools for one wave. Does not: what they do; vendors.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from fireflyassets.core import ids, money
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.failure import Family
from fireflyassets.core.recipe import calls_per_job
from fireflyassets.fence.call import Lease
from fireflyassets.fence.collecting import Collector
from fireflyassets.fence.protocol import Fence
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.limiter.port import Limiter, Limits
from fireflyassets.ports.catalogue import Catalogue, Credential
from fireflyassets.ports.clock import Clock, Offload, P, T
from fireflyassets.ports.entries import Wave
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.pictures import PictureReader
from fireflyassets.ports.workshop import PaidServices, Workshop
from fireflyassets.settings import Settings
from fireflyassets.stages.bench import Tools
from fireflyassets.wave.engine import FirstTickets, WaveEngine, WaveRules
from fireflyassets.wave.reports import Report

FAMILIES = {"generate": Family.FIREFLY, "compose": Family.PHOTOSHOP}


LimitsOf = Callable[[str, Family], Limits]
"""(organisation, family) -> what its contract, or the documentation, allows."""


async def in_thread(call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call in a thread of the loop's pool."""
    return await asyncio.to_thread(call, *args, **kwargs)


@dataclass(frozen=True, slots=True)
class Shop:
    """The ports that a wave needs."""

    ledger: JobLedger
    objects: ObjectStore
    catalogue: Catalogue
    limiter: Limiter
    adobe: Workshop
    pictures: PictureReader
    settings: Settings
    clock: Clock
    limits: LimitsOf
    chance: Callable[[], float]
    """A number in [0, 1) for jitter."""
    new_wave_id: Callable[[], str]
    offload: Offload = in_thread


def register(shop: Shop, organisation: str) -> None:
    """Make the organisation's paced items known to the limiter."""
    for family in FAMILIES.values():
        limits = shop.limits(organisation, family)
        shop.limiter.register(ids.limit_item(organisation, family), limits)


def jobs_per_minute(shop: Shop, campaign: Campaign, organisation: str) -> float:
    """Return how many jobs of *campaign* the paced limits let through, were it alone."""
    config = campaign.config
    calls = calls_per_job(config.recipe, aspects=len(config.aspects))
    rates = [
        shop.limiter.state(ids.limit_item(organisation, FAMILIES[kind])).rate_per_minute / count
        for kind, count in calls.items()
        if count
    ]
    return min(rates)


def assemble(
    shop: Shop,
    wave: Wave,
    run_id: str,
    *,
    campaign: Campaign,
    credential: Credential,
    services: PaidServices,
    report: Callable[[Report], None],
) -> WaveEngine:
    """Return the engine of a wave that this run has started. Call inside its event loop."""
    settings = shop.settings
    organisation = credential.organisation
    first_tickets = FirstTickets()
    lease = Lease(wave.lease_until or shop.clock.now())
    collector = Collector(ledger=shop.ledger, clock=shop.clock, offload=shop.offload)
    fence = Fence(
        ledger=shop.ledger,
        objects=shop.objects,
        clock=shop.clock,
        offload=shop.offload,
        tickets=_pacers(shop, organisation),
        organisation=organisation,
        lease=lease,
        submit_timeout=settings.submit_timeout,
        jitter=shop.chance,
        ticketed=first_tickets.note,
        collector=collector,
    )
    cards = shop.catalogue.rate_cards()
    tools = Tools(
        fence=fence,
        ledger=shop.ledger,
        objects=shop.objects,
        images=services.images,
        documents=services.documents,
        pictures=shop.pictures,
        clock=shop.clock,
        offload=shop.offload,
        campaign=campaign,
        card=money.card_for(cards, wave.formed_at.date()),
    )
    rules = WaveRules(
        lease=settings.lease,
        park_after=settings.wave_park_after,
        jobs_per_second=jobs_per_minute(shop, campaign, organisation) / 60,
    )
    return WaveEngine(wave, run_id, tools, lease, rules, report, first_tickets)


def _pacers(shop: Shop, organisation: str) -> dict[Family, Pacer]:
    return {
        family: Pacer(
            shop.limiter,
            ids.limit_item(organisation, family),
            now=shop.clock.now,
            offload=shop.offload,
        )
        for family in FAMILIES.values()
    }
