"""The code location: every Dagster definition, from the campaigns that are loaded.

Belongs here: putting definitions together. Does not: wiring of ports (``composition.py``).
"""

from collections.abc import Mapping

import dagster as dg

from fireflyassets import composition
from fireflyassets.core.campaign import Campaign
from fireflyassets.defs import assets, resources, sensors


def build_definitions(
    campaigns: Mapping[str, Campaign], ports: Mapping[str, object]
) -> dg.Definitions:
    """Return the definitions for *campaigns*; tests hand in ports of their own."""
    loaded = [campaigns[slug] for slug in sorted(campaigns)]
    return dg.Definitions(
        assets=[
            *(spec for one in loaded for spec in assets.upstreams(one)),
            *(assets.wave_asset(one) for one in loaded),
        ],
        sensors=[
            sensors.job_queue_sensor,
            sensors.dispatch_sensor,
            sensors.open_calls_sensor,
            sensors.queue_lines_sensor,
        ],
        resources=ports,
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Load the location: one bad campaign file is quarantined and takes nothing else down."""
    factory = composition.factory()
    composition.log_to_stderr(factory.settings)
    catalogue = factory.catalogue
    return build_definitions(catalogue.campaigns(), resources.resources())
