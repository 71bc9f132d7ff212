# pyright: standard
"""What things are called in Dagster: asset keys, partitions, tags, checks.

Belongs here: names alone, in one place, so that sensors, assets and tests agree. Does not: what
they name.
"""

from typing import Final

import dagster as dg

from fireflyassets.core import ids, stage

WAVE_TAG: Final = "fireflyassets/wave"
CUSTOMER_TAG: Final = "fireflyassets/customer"
CAMPAIGN_TAG: Final = "fireflyassets/campaign"
JOBS_TAG: Final = "fireflyassets/jobs"
RANGE_START_TAG: Final = "dagster/asset_partition_range_start"
RANGE_END_TAG: Final = "dagster/asset_partition_range_end"

ASSETS: Final = (stage.BASE_IMAGES, stage.RENDITIONS, stage.DELIVERIES)


def asset_key(customer: str, campaign: str, name: str) -> dg.AssetKey:
    """Return the key of a campaign's asset."""
    return dg.AssetKey([customer, campaign, name])


def wave_assets(customer: str, campaign: str) -> list[dg.AssetKey]:
    """Return the keys of the three assets that a wave materializes."""
    return [asset_key(customer, campaign, name) for name in ASSETS]


def partitions(customer: str, campaign: str) -> dg.DynamicPartitionsDefinition:
    """Return a campaign's partitions: one key for each job."""
    return dg.DynamicPartitionsDefinition(name=ids.partitions_name(customer, campaign))


def op_name(customer: str, campaign: str) -> str:
    """Return the name of a campaign's wave op; slugs hold no ``_``, so it is unique."""
    return f"wave__{customer}__{campaign}".replace("-", "_")


def group(customer: str, campaign: str) -> str:
    """Return the name of the group in which a campaign's assets are shown."""
    return f"{customer}__{campaign}".replace("-", "_")
