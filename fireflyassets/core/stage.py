"""The words for the steps of the flow, declared once, in flow order.

Belongs here: the stage words and how they map to assets. The same word names a module in
``stages/``, a test module, a metric dimension and a log field.
Does not: what a stage does.
"""

from enum import StrEnum
from typing import Final


class Stage(StrEnum):
    """A part of the flow, in the order a job passes it."""

    INTAKE = "intake"
    QUEUE = "queue"
    DISPATCH = "dispatch"
    GENERATE = "generate"
    COMPOSE = "compose"
    DELIVER = "deliver"
    NOTIFY = "notify"


BASE_IMAGES: Final = "base_images"
RENDITIONS: Final = "renditions"
DELIVERIES: Final = "deliveries"

ASSET_OF_STAGE: Final[dict[Stage, str]] = {
    Stage.GENERATE: BASE_IMAGES,
    Stage.COMPOSE: RENDITIONS,
    Stage.DELIVER: DELIVERIES,
}
"""The three assets of a campaign, and the stage that makes each."""
