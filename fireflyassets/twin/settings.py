"""Every setting of the twin: name, type, default, unit, and one line why.

Belongs here: the frozen settings and their defaults, dated to the sources they come from.
Does not belong here: reading a command line (`__main__.py`) or acting on a setting.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Literal

ENTITLEMENTS = frozenset({"firefly", "photoshop", "custom_models"})

# One published rate card (operations per output image); expand, similar and upscale are not on it:
# for them the generic "one operation per output" stands.
DEFAULT_RATES: Mapping[str, Decimal] = {
    "image3": Decimal("0.5"),
    "image4_standard": Decimal("0.5"),
    "image4_ultra": Decimal(1),
    "image3_custom": Decimal(1),
    "image4_custom": Decimal(2),
    "image5": Decimal("0.5"),
    "fill": Decimal("0.5"),
    "expand": Decimal(1),
    "similar": Decimal(1),
    "upscale": Decimal(1),
    "photoshop": Decimal(1),
}


@dataclass(frozen=True, kw_only=True)
class ClientSetting:
    """One OAuth server-to-server credential; the same id twice means two live secrets."""

    id: str
    secret: str
    organisation: str
    entitlements: frozenset[str] = ENTITLEMENTS


DEFAULT_CLIENT = ClientSetting(
    id="twin-client",
    secret="twin-secret",  # noqa: S106 - a documented default, worth nothing elsewhere
    organisation="twin-org@AdobeOrg",
)


@dataclass(frozen=True, kw_only=True)
class CustomModelSetting:
    """A custom model that the organisations of this twin may use."""

    asset_id: str
    base_model: Literal["image3", "image4"]
    training_mode: Literal["subject", "style"] = "style"


DEFAULT_CUSTOM_MODELS = (
    CustomModelSetting(
        asset_id="urn:aaid:sc:twin:11111111-1111-4111-8111-111111111111",
        base_model="image3",
        training_mode="subject",
    ),
    CustomModelSetting(
        asset_id="urn:aaid:sc:twin:22222222-2222-4222-8222-222222222222",
        base_model="image4",
    ),
)


@dataclass(frozen=True, kw_only=True)
class LimitSetting:
    """Call limits of one organisation; all are wall time."""

    firefly_per_minute: int = 4  # Adobe's documented default, per organisation.
    firefly_per_day: int = 9_000  # The same source.
    photoshop_per_minute: int = 300  # Documented soft limit; the hard one is 320.
    photoshop_per_3_seconds: int = 16  # Documented hard limit for POST.
    photoshop_gets_per_3_seconds: int = 310  # Documented hard limit for GET.
    remove_background_per_3_seconds: int = 3  # Documented hard limit for POST.


@dataclass(frozen=True, kw_only=True)
class LatencySetting:
    """How long remote work takes: lognormal, drawn per job from the seed, divided by `speed`."""

    firefly_median: timedelta = timedelta(seconds=6)  # 3-10 s is what clients report.
    photoshop_median: timedelta = timedelta(seconds=8)
    sigma: float = 0.35  # Of the logarithm; 0 makes every job take the median.
    speed: float = 1.0  # 10 makes remote work ten times faster, and nothing else.


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that can be set when the twin starts."""

    clients: tuple[ClientSetting, ...] = (DEFAULT_CLIENT,)
    custom_models: tuple[CustomModelSetting, ...] = DEFAULT_CUSTOM_MODELS
    seed: int = 1  # Of latency, of seeds the caller leaves out, of fault probabilities, of keys.
    public_url: str | None = None  # Base of every URL handed out; None: the request's Host.
    status_url: str | None = None  # Another base for status and cancel URLs, as regions have.

    limits: LimitSetting = LimitSetting()
    organisation_limits: Mapping[str, LimitSetting] = field(default_factory=dict[str, LimitSetting])
    day_window: Literal["utc", "rolling"] = "utc"  # Adobe does not say which day it counts.
    count_polls: bool = False  # Whether status and cancel calls use the minute and day limits.
    count_rejected: bool = False  # Whether calls answered 429 use up the limit too.
    retry_after: Literal["seconds", "date"] = "seconds"  # Form of the Retry-After header.

    latency: LatencySetting = LatencySetting()
    output_ttl: timedelta = timedelta(hours=1)  # Documented life of an output URL.
    retention: timedelta = timedelta(hours=24)  # Life of a job record, as clients report.
    token_ttl: timedelta = timedelta(seconds=86_399)  # Documented `expires_in`.
    upload_ttl: timedelta = timedelta(days=7)  # Documented life of an upload id.
    fresh_urls: bool = True  # Sign output URLs anew at each status answer; else once, at the end.

    default_model: str = "image3"  # Documented; clients also report `image4_standard`.
    strict_domains: bool = False  # Refuse input URLs outside Adobe's published host list.
    photoshop_result: Literal["nested", "flat"] = "nested"  # The guides show both shapes.
    photoshop_billing: Literal["per_call", "per_output"] = "per_call"
    bill_failures: bool = False  # Whether a job that fails, times out or is cancelled stays billed.
    rates: Mapping[str, Decimal] = field(default_factory=lambda: DEFAULT_RATES)

    state: Path | None = None  # Journal of calls and jobs; None keeps everything in memory.
    render_in: Literal["process", "thread"] = "process"
    render_workers: int = 1
    picture_cache_bytes: int = 128 * 1024 * 1024  # Generated pictures kept; the rest is redrawn.

    def limits_of(self, organisation: str) -> LimitSetting:
        """Return the limits that hold for *organisation*."""
        return self.organisation_limits.get(organisation, self.limits)
