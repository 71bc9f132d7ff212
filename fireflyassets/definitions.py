"""The code location: every Dagster definition, from the campaigns that are loaded.

Belongs here: putting definitions together. Does not: wiring of ports (``composition.py``).
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final

import dagster as dg

from fireflyassets import composition
from fireflyassets.core.campaign import Campaign
from fireflyassets.defs import (
    assets,
    backfills,
    dead_letters,
    projections,
    resources,
    reviews,
    sensors,
    watch,
)
from fireflyassets.ports.catalogue import Quarantined
from fireflyassets.settings import Settings

_log: Final = logging.getLogger("fireflyassets.definitions")


def build_definitions(
    campaigns: Mapping[str, Campaign],
    ports: Mapping[str, object],
    quarantined: Sequence[Quarantined] = (),
    settings: Settings | None = None,
) -> dg.Definitions:
    """Return the definitions for *campaigns*; tests hand in ports of their own.

    A campaign that is out of service shows its documents alone, and why.
    """
    for bad in quarantined:
        _log.warning("Quarantined %s: %s", bad.path, bad.reason)
    loaded = [campaigns[slug] for slug in sorted(campaigns)]
    return dg.Definitions(
        assets=[
            *(spec for one in loaded for spec in assets.upstreams(one)),
            *(assets.wave_asset(one) for one in loaded),
            *assets.out_of_service(quarantined, without=campaigns),
        ],
        sensors=[
            sensors.job_queue_sensor,
            sensors.dispatch_sensor,
            sensors.open_calls_sensor,
            sensors.queue_lines_sensor,
            sensors.budgets_sensor,
            sensors.legal_holds_sensor,
            projections.projections_sensor,
            reviews.reviews_sensor,
            watch.watch_sensor,
            dead_letters.dead_letters_sensor,
        ],
        jobs=[dead_letters.replay_job],
        schedules=backfills.schedules(settings) if settings else [],
        resources=ports,
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Load the location: one bad campaign file is quarantined and takes nothing else down."""
    factory = composition.factory()
    composition.log_to_stderr(factory.settings)
    composition.pump()
    catalogue = factory.catalogue
    campaigns = catalogue.campaigns()
    ports = resources.resources(campaigns)
    return build_definitions(campaigns, ports, catalogue.quarantined(), factory.settings)
