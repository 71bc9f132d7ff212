"""What a rendition's file is called: a campaign's template, and an id that stays.

Belongs here: the template's fields and creative ids. Does not: folders (``core/ids.py``).
"""

import hashlib
from typing import Annotated, Final

from pydantic import StringConstraints

_PART: Final = r"(?:[A-Za-z0-9_-]|\{(?:campaign|concept|locale|aspect|creative_id)\})"
Naming = Annotated[
    str, StringConstraints(pattern=rf"^{_PART}*\{{creative_id\}}{_PART}*$", max_length=80)
]
"""Letters, digits, ``_``, ``-`` and fields, the id among them: no two files have one name."""
NAMING: Final = "{campaign}_{concept}_{locale}_{aspect}_{creative_id}"


def creative_id(job: str, aspect: str, generation: int) -> str:
    """Return the id of a creative: the same however often it is delivered, new if made anew."""
    said = f"{job}#{aspect}#{generation}".encode()
    return hashlib.sha256(said).hexdigest()[:12]


def file_name(
    naming: str, *, campaign: str, concept: str, locale: str, aspect: str, creative: str
) -> str:
    """Return a file's name without its suffix; *concept* is the customer's own key of the job."""
    return naming.format(
        campaign=campaign, concept=concept, locale=locale, aspect=aspect, creative_id=creative
    )
