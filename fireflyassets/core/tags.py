"""Object tags of a rendition, in S3's legal form.

Belongs here: which tags a delivery carries and how any text becomes a legal value.
Does not: writing them.
"""

import hashlib
import re
from typing import Final

from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.job import JobRow
from fireflyassets.core.origin import Origin

_ILLEGAL: Final = re.compile(r"[^\w .:/=+\-@]", re.ASCII)
VALUE_LIMIT: Final = 256
TAG_LIMIT: Final = 10


def legal_value(text: str) -> str:
    """Return *text* as a legal tag value; a changed one ends in a digest of the original.

    Same input, same output, and two texts never become one value unseen.
    """
    legal = _ILLEGAL.sub("-", text).strip()
    if legal == text and 0 < len(text) <= VALUE_LIMIT:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{legal[: VALUE_LIMIT - 9]}.{digest}"


def generated_by(model: str | None) -> str:
    """Return the ``generated-by`` value for the model header that was actually sent."""
    names = {
        None: "composed-only",
        "image3": "firefly-v3-base",
        "image3_custom": "firefly-v3-custom",
        "image4_standard": "firefly-v4-standard",
        "image4_ultra": "firefly-v4-ultra",
        "image4_custom": "firefly-v4-custom",
    }
    return names.get(model) or legal_value(f"firefly-{model}")


def rendition_tags(campaign: CampaignConfig, row: JobRow, origin: Origin) -> dict[str, str]:
    """Return the whole tag set of a rendition; S3 replaces sets, so it is always whole."""
    tags = {
        "customer": legal_value(campaign.customer),
        "campaign": legal_value(campaign.campaign),
        "generated-by": generated_by(origin.model),
        "human-reviewed": row.human_reviewed.value,
        "retention": campaign.retention.value,
    }
    if origin.custom_model:
        tags["model-id"] = legal_value(origin.custom_model)
    return tags
