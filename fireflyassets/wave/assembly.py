"""A wave's engine put together from the ports of its process.

Belongs here: pacers, lease, fence and tools for one wave. Does not: what they do; vendors.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.campaign import Campaign, with_rules_of
from fireflyassets.core.failure import Family
from fireflyassets.core.recipe import calls_per_job
from fireflyassets.core.tally import Tally
from fireflyassets.fence.call import Lease
from fireflyassets.fence.collecting import Collector
from fireflyassets.fence.persisting import Persistent
from fireflyassets.fence.protocol import Fence
from fireflyassets.limiter.arithmetic import SECOND_US, paced_interval
from fireflyassets.limiter.errors import LimiterError
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.pacer import Pacer
from fireflyassets.limiter.port import Limiter, item_key
from fireflyassets.ports.catalogue import Catalogue, Credential
from fireflyassets.ports.clock import Clock, Lanes
from fireflyassets.ports.entries import Wave
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.pictures import PictureReader
from fireflyassets.ports.workshop import PaidServices, Workshop
from fireflyassets.settings import Settings
from fireflyassets.stages.bench import Tools
from fireflyassets.stages.pinning import Pins
from fireflyassets.wave.engine import PATIENCE, WaveEngine, WaveRules
from fireflyassets.wave.reports import Report
from fireflyassets.wave.share import FirstTickets, Share
from fireflyassets.wave.wishes import Wishes

_log: Final = logging.getLogger("fireflyassets.wave")
FAMILIES: Final = (Family.FIREFLY, Family.PHOTOSHOP)


LimitsOf = Callable[[str, Family], Limits]
"""(organisation, family) -> what its contract, or the documentation, allows."""


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
    lanes: Lanes
    tally: Tally = field(default_factory=Tally)
    pins: Pins = field(init=False)
    """What jobs were priced by; read once by whoever holds this shop."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "pins", Pins(self.objects, self.catalogue))


def register(shop: Shop, organisation: str) -> None:
    """Make the organisation's paced items known to the limiter.

    A limiter that does not answer is told of in the log alone: it makes the items by itself once it
    does, and until then whoever asks for a ticket is parked.
    """
    for family in FAMILIES:
        limits = shop.limits(organisation, family)
        try:
            shop.limiter.register(item_key(organisation, family), limits)
        except LimiterError as outage:
            _log.warning("Not registered; jobs are parked until the limiter answers. %s", outage)


def jobs_per_minute(shop: Shop, campaign: Campaign, organisation: str) -> float:
    """Return how many jobs of *campaign* the paced limits let through, were it alone.

    Raises:
        LimiterError: The limiter can't say.
    """

    def paced(family: Family) -> float:
        return shop.limiter.state(item_key(organisation, family)).rate_per_minute

    return _jobs_per_minute(campaign, paced)


def contract_jobs_per_minute(limits: LimitsOf, campaign: Campaign, organisation: str) -> float:
    """Return the same by the contract alone, which needs no limiter."""

    def nominal(family: Family) -> float:
        return 60 * SECOND_US / paced_interval(limits(organisation, family))

    return _jobs_per_minute(campaign, nominal)


def _jobs_per_minute(campaign: Campaign, calls_per_minute: Callable[[Family], float]) -> float:
    config = campaign.config
    calls = calls_per_job(config.recipe, aspects=len(config.aspects))
    return min(calls_per_minute(family) / count for family, count in calls.items())


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
    """Return the engine of a wave that this run has started. Call inside its event loop.

    Raises:
        UnusableConfiguration: The credential is not the wave's, or may not carry its customer's.
    """
    check_credential(wave, credential)
    settings = shop.settings
    organisation = credential.organisation
    first_tickets = FirstTickets(campaign.config.recipe.steps[0].family)
    pacers = _pacers(shop, credential, wave, first_tickets)
    lease = Lease(wave.lease_until or shop.clock.now())
    storing = Persistent(shop.lanes.ledger, shop.clock, shop.chance)
    collector = Collector(ledger=shop.ledger, clock=shop.clock, offload=storing)
    fence = Fence(
        ledger=shop.ledger,
        objects=shop.objects,
        clock=shop.clock,
        offload=storing,
        transfer=shop.lanes.transfers,
        tickets=pacers,
        organisation=organisation,
        lease=lease,
        submit_timeout=settings.submit_timeout,
        jitter=shop.chance,
        ticketed=first_tickets.note,
        collector=collector,
    )
    newer = shop.catalogue.campaigns().get(campaign.slug, campaign)
    tools = Tools(
        fence=fence,
        ledger=shop.ledger,
        objects=shop.objects,
        images=services.images,
        documents=services.documents,
        cutter=services.cutter,
        references=services.references,
        models=services.models,
        pictures=shop.pictures,
        clock=shop.clock,
        offload=shop.lanes.ledger,
        transfer=shop.lanes.transfers,
        campaign=with_rules_of(campaign, newer),
        chance=shop.chance,
        tally=shop.tally,
    )
    rules = WaveRules(
        lease=settings.lease,
        park_after=settings.wave_park_after,
        jobs_per_second=_window_rate(shop, campaign, organisation) / 60,
    )
    share = _share(shop, wave, organisation, pacers)
    return WaveEngine(
        wave=wave,
        run_id=run_id,
        tools=tools,
        lease=lease,
        rules=rules,
        report=report,
        first_tickets=first_tickets,
        share=share,
        wishes=Wishes(shop.ledger, wave.customer, shop.clock, shop.lanes.ledger),
        pins=shop.pins,
        beat=shop.lanes.leases,
        settle=replace(storing, gives_up_after=PATIENCE),
    )


def check_credential(wave: Wave, credential: Credential) -> None:
    """Make sure, once more at the last door, that a wave runs on a credential of its customer.

    Raises:
        UnusableConfiguration: It does not. Nothing was sent.
    """
    if wave.credential != credential.name or wave.customer not in credential.customers:
        raise errors.UnusableConfiguration(
            f"Wave {wave.wave_id} of {wave.customer!r} was formed for credential "
            f"{wave.credential!r}; {credential.name!r} may not carry its jobs."
        )


def _window_rate(shop: Shop, campaign: Campaign, organisation: str) -> float:
    try:
        return jobs_per_minute(shop, campaign, organisation)
    except LimiterError:
        return contract_jobs_per_minute(shop.limits, campaign, organisation)


def _pacers(
    shop: Shop, credential: Credential, wave: Wave, first_tickets: FirstTickets
) -> dict[Family, Pacer]:
    pacers = {
        family: Pacer(
            shop.limiter,
            item_key(credential.organisation, family),
            now=shop.limiter.now,
            weight=credential.weight_of(wave.customer),
            offload=shop.lanes.ledger,
        )
        for family in FAMILIES
    }
    for family, pacer in pacers.items():
        pacer.tenant = wave.customer
        pacer.to_come = partial(first_tickets.to_come, family)
    return pacers


def _share(shop: Shop, wave: Wave, organisation: str, pacers: Mapping[Family, Pacer]) -> Share:
    def same_organisation(other: Wave) -> bool:
        try:
            credential = shop.catalogue.credential(other.credential, customer=other.customer)
        except errors.UnusableConfiguration:
            return False
        return credential.organisation == organisation

    return Share(
        wave=wave,
        pacers=tuple(pacers.values()),
        ledger=shop.ledger,
        clock=shop.clock,
        same_organisation=same_organisation,
    )
