"""The twin's command line: options, their help, and the settings they make.

Belongs here: parsing. Does not belong here: what a setting does (`settings.py`), starting
(`__main__.py`).
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import cast

from fireflyassets.twin.settings import (
    DEFAULT_CLIENT,
    DEFAULT_CUSTOM_MODELS,
    DEFAULT_RATES,
    ENTITLEMENTS,
    ClientSetting,
    CustomModelSetting,
    LatencySetting,
    LimitSetting,
    Settings,
)

_LIMITS = LimitSetting()
_DEFAULTS = Settings()
# Options that are called as their setting is.
_PLAIN = (
    "seed",
    "public_url",
    "status_url",
    "day_window",
    "count_polls",
    "count_rejected",
    "retry_after",
    "retention",
    "token_ttl",
    "upload_ttl",
    "fresh_urls",
    "default_model",
    "strict_domains",
    "photoshop_result",
    "photoshop_billing",
    "bill_failures",
    "rates",
    "state",
    "render_in",
    "render_workers",
)


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """What the command line asks for."""

    host: str
    port: int
    settings: Settings


def client(text: str) -> ClientSetting:
    """Read `id:secret:org[:entitlement,…]`; an organisation may hold an `@`, not a colon."""
    parts = text.split(":")
    if len(parts) not in {3, 4} or not all(parts[:3]):
        raise argparse.ArgumentTypeError("expected id:secret:org[:entitlements]")
    entitlements = frozenset(parts[3].split(",")) - {""} if len(parts) > 3 else ENTITLEMENTS  # noqa: PLR2004 - the fourth part
    if not entitlements <= ENTITLEMENTS:
        raise argparse.ArgumentTypeError(f"entitlements are {', '.join(sorted(ENTITLEMENTS))}")
    return ClientSetting(
        id=parts[0], secret=parts[1], organisation=parts[2], entitlements=entitlements
    )


def custom_model(text: str) -> CustomModelSetting:
    """Read `assetId=image3` or `assetId=image4`."""
    asset_id, _, base = text.rpartition("=")
    if base == "image3":
        return CustomModelSetting(asset_id=asset_id, base_model="image3")
    if base == "image4":
        return CustomModelSetting(asset_id=asset_id, base_model="image4")
    raise argparse.ArgumentTypeError("expected assetId=image3 or assetId=image4")


def rates(text: str) -> Mapping[str, Decimal]:
    """Read `image3=0.5,fill=1`, or a JSON file of the same; unnamed rates keep their default."""
    if "=" in text:
        pairs = (pair.partition("=") for pair in text.split(","))
        given: dict[str, object] = {key: value for key, _, value in pairs}
    else:
        given = cast("dict[str, object]", json.loads(Path(text).read_text(encoding="utf-8")))
    unknown = set(given) - set(DEFAULT_RATES)
    if unknown:
        raise argparse.ArgumentTypeError(f"no such rate: {', '.join(sorted(unknown))}")
    try:
        return {**DEFAULT_RATES, **{key: Decimal(str(each)) for key, each in given.items()}}
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError("a rate is a decimal number of operations") from error


def organisation_limit(text: str) -> tuple[str, LimitSetting]:
    """Read `org:rpm:day:photoshop-rpm`."""
    parts = text.rsplit(":", 3)
    if len(parts) != 4:  # noqa: PLR2004 - four parts
        raise argparse.ArgumentTypeError("expected org:rpm:day:photoshop-rpm")
    firefly, day, photoshop = (int(part) for part in parts[1:])
    limits = LimitSetting(
        firefly_per_minute=firefly, firefly_per_day=day, photoshop_per_minute=photoshop
    )
    return parts[0], limits


def seconds(text: str) -> timedelta:
    """Read a number of seconds."""
    return timedelta(seconds=float(text))


def _text(duration: timedelta) -> str:
    return f"{duration.total_seconds():g}"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the twin's options."""
    made = argparse.ArgumentParser(
        prog="python -m fireflyassets.twin",
        description="Simulate Adobe's IMS, Firefly and Photoshop services on one port.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    made.add_argument("--host", default="127.0.0.1")
    made.add_argument("--port", type=int, default=8900, help="0 picks a free one, which is printed")
    _add_who(made)
    _add_limits(made)
    _add_remote_time(made)
    _add_expiries(made)
    _add_behaviour(made)
    return made


def _add_who(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("who may call")
    group.add_argument(
        "--client",
        type=client,
        action="append",
        help="id:secret:org[:entitlements]; repeatable; the same id twice: two live secrets; "
        f"without any: {DEFAULT_CLIENT.id}:{DEFAULT_CLIENT.secret}:{DEFAULT_CLIENT.organisation}",
    )
    group.add_argument(
        "--custom-model",
        type=custom_model,
        action="append",
        help="assetId=image3|image4; repeatable; without any, one of each",
    )
    group.add_argument("--public-url", help="base of the URLs handed out; else the request's Host")
    group.add_argument("--status-url", help="another base for status and cancel URLs")


def _add_limits(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("limits per organisation (wall time)")
    group.add_argument("--rpm", type=int, default=_LIMITS.firefly_per_minute, help="Firefly")
    group.add_argument("--day", type=int, default=_LIMITS.firefly_per_day, help="Firefly")
    group.add_argument("--photoshop-rpm", type=int, default=_LIMITS.photoshop_per_minute)
    group.add_argument(
        "--photoshop-burst",
        type=int,
        default=_LIMITS.photoshop_per_3_seconds,
        help="POSTs per 3 s",
    )
    group.add_argument(
        "--photoshop-gets",
        type=int,
        default=_LIMITS.photoshop_gets_per_3_seconds,
        help="GETs per 3 s",
    )
    group.add_argument(
        "--org-limit",
        type=organisation_limit,
        action="append",
        default=[],
        help="org:rpm:day:photoshop-rpm for one organisation; repeatable",
    )
    group.add_argument("--day-window", choices=["utc", "rolling"], default=_DEFAULTS.day_window)
    group.add_argument("--count-polls", action="store_true", help="polls use up the limits too")
    group.add_argument("--count-rejected", action="store_true", help="429s use up the limits too")
    group.add_argument("--retry-after", choices=["seconds", "date"], default=_DEFAULTS.retry_after)


def _add_remote_time(made: argparse.ArgumentParser) -> None:
    default = _DEFAULTS.latency
    group = made.add_argument_group("remote latency")
    group.add_argument(
        "--latency",
        type=seconds,
        default=_text(default.firefly_median),
        help="median seconds of a job",
    )
    group.add_argument(
        "--photoshop-latency",
        type=seconds,
        default=_text(default.photoshop_median),
        help="the same",
    )
    group.add_argument("--sigma", type=float, default=default.sigma, help="of the lognormal")
    group.add_argument("--speed", type=float, default=default.speed, help="divides latency only")
    group.add_argument("--seed", type=int, default=_DEFAULTS.seed)


def _add_expiries(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("expiries (seconds, wall time)")
    group.add_argument(
        "--ttl", type=seconds, default=_text(_DEFAULTS.output_ttl), help="output URLs"
    )
    group.add_argument(
        "--retention", type=seconds, default=_text(_DEFAULTS.retention), help="records"
    )
    group.add_argument("--token-ttl", type=seconds, default=_text(_DEFAULTS.token_ttl))
    group.add_argument("--upload-ttl", type=seconds, default=_text(_DEFAULTS.upload_ttl))
    group.add_argument(
        "--fresh-urls",
        action=argparse.BooleanOptionalAction,
        default=_DEFAULTS.fresh_urls,
        help="sign output URLs anew at each status answer",
    )


def _add_behaviour(made: argparse.ArgumentParser) -> None:
    group = made.add_argument_group("behaviour")
    group.add_argument("--default-model", default=_DEFAULTS.default_model)
    group.add_argument("--strict-domains", action="store_true", help="Adobe's input host list")
    group.add_argument(
        "--photoshop-result", choices=["nested", "flat"], default=_DEFAULTS.photoshop_result
    )
    group.add_argument(
        "--photoshop-billing",
        choices=["per_call", "per_output"],
        default=_DEFAULTS.photoshop_billing,
    )
    group.add_argument("--bill-failures", action="store_true", help="failed jobs stay billed")
    group.add_argument(
        "--rates",
        type=rates,
        default=",".join(f"{key}={each}" for key, each in DEFAULT_RATES.items()),
        help="operations, or a JSON file of them; unnamed ones keep their default",
    )
    group.add_argument("--state", type=Path, help="journal that survives a restart")
    group.add_argument("--render-in", choices=["process", "thread"], default="process")
    group.add_argument("--render-workers", type=int, choices=[1, 2], default=1)


def invocation(arguments: Sequence[str] | None = None) -> Invocation:
    """Return what *arguments* ask for; exits with a message when they make no sense."""
    given = parser().parse_args(arguments)
    return Invocation(host=given.host, port=given.port, settings=_settings(given))


def _settings(given: argparse.Namespace) -> Settings:
    plain = {name: getattr(given, name) for name in _PLAIN}
    return Settings(
        clients=tuple(given.client or (DEFAULT_CLIENT,)),
        custom_models=tuple(given.custom_model or DEFAULT_CUSTOM_MODELS),
        limits=_limits(given),
        organisation_limits=dict(given.org_limit),
        latency=LatencySetting(
            firefly_median=given.latency,
            photoshop_median=given.photoshop_latency,
            sigma=given.sigma,
            speed=given.speed,
        ),
        output_ttl=given.ttl,
        **plain,
    )


def _limits(given: argparse.Namespace) -> LimitSetting:
    return LimitSetting(
        firefly_per_minute=given.rpm,
        firefly_per_day=given.day,
        photoshop_per_minute=given.photoshop_rpm,
        photoshop_per_3_seconds=given.photoshop_burst,
        photoshop_gets_per_3_seconds=given.photoshop_gets,
    )
