"""The simulated Adobe of a project: its credentials become the twin's clients, its limits too.

Belongs here: the twin's options and the secrets that fit them. Does not: the twin itself.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import Family
from fireflyassets.limiter.arithmetic import paced_interval
from fireflyassets.limiter.port import MINUTE, Limits
from fireflyassets.ports.catalogue import Credential
from fireflyassets.settings import Settings

SPEED: Final = 6
"""How many times faster than Adobe: a picture takes about a second."""

_VARIABLE: Final = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_NO_DAY_LIMIT: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Simulated:
    """What makes the twin the Adobe of this project."""

    twin_options: tuple[str, ...]
    secrets: Mapping[str, str]
    """Environment variable -> secret, as the credential files name them."""
    paced_per_minute: Mapping[str, Decimal]
    """Campaign (``customer/campaign``) -> rate that its generate calls are paced to."""
    out_of_service: tuple[str, ...]
    """Each file that can't be used: its path, and why and how to mend it."""


def simulate(project: Path, *, speed: float = SPEED) -> Simulated:
    """Return the simulated Adobe for all usable campaigns of *project*.

    Raises:
        UnusableConfiguration: There is no usable campaign; the sentence says why.
    """
    catalogue = FileCatalogue(project, v4=Settings().firefly_v4)
    campaigns = catalogue.campaigns()
    reasons = tuple(f"{bad.path}: {bad.reason}" for bad in catalogue.quarantined())
    if not campaigns:
        raise UnusableConfiguration(f"{project} has no usable campaign. {'; '.join(reasons)}")
    credentials = {
        slug: catalogue.credential(campaign.config.credential, customer=campaign.config.customer)
        for slug, campaign in campaigns.items()
    }
    limits = {
        each.organisation: (
            catalogue.limits_for(each.organisation, Family.FIREFLY),
            catalogue.limits_for(each.organisation, Family.PHOTOSHOP),
        )
        for each in credentials.values()
    }
    by_name = {each.name: each for each in credentials.values()}
    return Simulated(
        twin_options=(
            *("--speed", str(speed)),
            *(part for each in by_name.values() for part in ("--client", _client(each))),
            *(
                part
                for organisation, (firefly, photoshop) in limits.items()
                for part in ("--org-limit", _limit(organisation, firefly, photoshop))
            ),
        ),
        secrets=dict(_secret(each) for each in by_name.values()),
        paced_per_minute={
            slug: _paced(limits[each.organisation][0]) for slug, each in credentials.items()
        },
        out_of_service=reasons,
    )


def _secret(credential: Credential) -> tuple[str, str]:
    named = _VARIABLE.fullmatch(credential.secret)
    if named is None:
        raise UnusableConfiguration(
            f"credentials/{credential.name}.yaml: the local stack can only hand out secrets that "
            f"are named `env:NAME`, and {credential.secret!r} is not."
        )
    pair = {"client_id": credential.name, "client_secret": _word(credential)}
    return named.group(1), json.dumps(pair)


def _client(credential: Credential) -> str:
    return f"{credential.name}:{_word(credential)}:{credential.organisation}"


def _word(credential: Credential) -> str:
    # No secret: it opens nothing but the twin on this machine's loopback.
    return f"{credential.name}-on-loopback"


def _limit(organisation: str, firefly: Limits, photoshop: Limits) -> str:
    day = firefly.per_day or _NO_DAY_LIMIT
    return f"{organisation}:{firefly.per_minute}:{day}:{photoshop.per_minute}"


def _paced(limits: Limits) -> Decimal:
    interval = paced_interval(limits)
    return Decimal(MINUTE.total_seconds() * 1_000_000) / interval
