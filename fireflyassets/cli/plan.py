"""``fireflyassets plan``: what a brief would cost, when it would be done, what would be refused.

Belongs here: arguments in, tables and JSON out. Does not: the plan (``stages/planning.py``). The
wiring is loaded when the command runs.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fireflyassets.cli.limits import duration
from fireflyassets.cli.terminal import columns, stamp, table
from fireflyassets.core import limit_request
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.core.plan import Plan
from fireflyassets.core.request import Problem
from fireflyassets.stages import planning
from fireflyassets.stages.planning import Planning

if TYPE_CHECKING:
    from fireflyassets.api.seals import Seals

_HOME: Final = re.compile(r"campaigns/([a-z0-9-]+)/([a-z0-9-]+)/[^/]+$")
_SHOWN: Final = 20
"""Refusals that are printed; JSON has all."""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``plan``."""
    command = subparsers.add_parser(
        "plan", help="say what a brief would cost, when it is done, and what would be refused"
    )
    command.add_argument("brief", type=Path, metavar="BRIEF", help="CSV, or JSON lines (.jsonl)")
    command.add_argument(
        "--campaign",
        metavar="CUSTOMER/CAMPAIGN",
        help="without it the one whose folder the brief lies in",
    )
    command.add_argument("--json", action="store_true", help="print JSON instead of tables")
    command.add_argument(
        "--limit-request",
        action="store_true",
        help="print what to ask of Adobe's account team: peak RPM, calls a day, why",
    )
    command.add_argument(
        "--within",
        type=duration,
        metavar="TIME",
        help="in how long it is to be made, for --limit-request: 8h",
    )
    command.set_defaults(run=run_plan)


def run_plan(arguments: argparse.Namespace) -> int:
    """Plan a brief over this process's own ports; 1 if nothing of it can be released."""
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.
    from fireflyassets.api.seals import Seals  # noqa: PLC0415 - as above.

    brief: Path = arguments.brief
    slug = _slug(brief, arguments.campaign)
    made = composition.factory()
    keys = made.settings.session_keys
    seals = Seals(keys) if keys else None
    desk = PlanDesk(composition.planning(made), seals, made.settings.api_url.rstrip("/"))
    if arguments.limit_request:
        within: timedelta = arguments.within or limit_request.WORKING_DAY
        return desk.ask_for_more(brief, slug, within)
    as_json: bool = arguments.json
    return desk.show(brief, slug, as_json=as_json)


def _slug(brief: Path, asked: str | None) -> tuple[str, str]:
    """Return customer and campaign.

    Raises:
        UnusableArgument: Nothing says which.
    """
    if asked is not None:
        customer, _, campaign = asked.partition("/")
        return customer, campaign
    if found := _HOME.search(brief.resolve().as_posix()):
        return found[1], found[2]
    raise UnusableArgument(f"{brief} lies in no campaign's folder: name one with --campaign.")


@dataclass(frozen=True, slots=True)
class PlanDesk:
    """What the command does, over any ports."""

    planning: Planning
    seals: "Seals | None"
    api_url: str
    tell: Callable[[str], None] = print

    def show(self, path: Path, slug: tuple[str, str], *, as_json: bool) -> int:
        """Print the plan of a brief, with its token where there are keys to seal one."""
        from fireflyassets.api import plan_shapes, plan_tokens  # noqa: PLC0415 - not for a help.

        content = self._content(path)
        plan = self._plan(content, path, slug)
        token = plan_tokens.issued(plan, content, self.planning, self.seals, is_csv=_is_csv(path))
        if as_json:
            told = plan_shapes.plan(plan, token, api_url=self.api_url)
            self.tell(json.dumps(told, indent=2))
        else:
            self.tell("\n".join(_lines(plan)))
            self.tell(f"\nToken, good for a day: {token}" if token else f"\n{_without(plan)}")
        return 0 if plan.sums.jobs or plan.repeated else 1

    def ask_for_more(self, path: Path, slug: tuple[str, str], within: timedelta) -> int:
        """Print what a brief needs of Adobe; 1 if it is nothing."""
        plan = self._plan(self._content(path), path, slug)
        if not plan.sums.jobs:
            known, refused = plan.repeated, plan.refused
            self.tell(
                f"Nothing is to be asked of Adobe: {path} has no new job ({known} known, {refused} "
                "refused)."
            )
            return 1
        outlook, config = self.planning.outlook, plan.campaign.config
        credential = outlook.catalogue.credential(config.credential, customer=config.customer)
        granted = {
            family: limit_request.Granted(
                limits.per_minute, limits.per_day, limits.source, limits.as_of
            )
            for family in plan.sums.calls
            for limits in [outlook.limits(credential.organisation, family)]
        }
        told = limit_request.text(
            credential.organisation,
            plan.campaign.slug,
            plan.sums,
            granted,
            plan.finish,
            now=plan.made_at,
            within=within,
        )
        self.tell(told)
        return 0

    def _content(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise UnusableArgument(f"{path} can't be read: {error.strerror}.") from error

    def _plan(self, content: bytes, path: Path, slug: tuple[str, str]) -> Plan:
        brief = planning.read(content, is_csv=_is_csv(path))
        if brief.problems:
            raise UnusableArgument(" ".join(_sentence(one) for one in brief.problems))
        customer, campaign = slug
        digest = planning.digest_of(content)
        return self.planning.plan(brief.rows, digest, customer=customer, campaign=campaign)


def _is_csv(path: Path) -> bool:
    return path.suffix not in {".jsonl", ".ndjson"}


def _lines(plan: Plan) -> Iterator[str]:
    """Yield the plan for people."""
    sums = plan.sums
    price = "" if plan.price is None else f" ({plan.price:.2f} {plan.currency})"
    yield from columns(
        [
            ["campaign", f"{plan.campaign.slug} (version {plan.campaign.version})"],
            ["jobs", f"{sums.jobs} new, {plan.repeated} known, {plan.refused} refused"],
            ["renditions", str(sums.renditions)],
            ["operations", f"{sums.operations}{price}"],
            ["calls", ", ".join(f"{n:.0f} {family}" for family, n in sums.calls.items()) or "-"],
        ]
    )
    yield ""
    yield table(
        ("limits", "likely", "late", "decided by"),
        (
            {
                "limits": f"{factor}x",
                "likely": stamp(one.p50),
                "late": stamp(one.p90),
                "decided by": one.held_by.value,
            }
            for factor, one in plan.finishes.items()
        ),
        nothing="No finish can be told: nothing is left to make.",
    )
    if plan.changes:
        yield ""
        yield table(
            ("cheaper", "renditions fewer", "operations saved", "likely", "fits"),
            (
                {
                    "cheaper": one.what,
                    "renditions fewer": str(one.renditions),
                    "operations saved": str(one.operations),
                    "likely": stamp(one.finish),
                    "fits": "yes" if one.fits else "no",
                }
                for one in plan.changes
            ),
            nothing="Nothing is cheaper.",
        )
    if plan.problems:
        yield f"\nRefused ({len(plan.problems)}):"
        yield from (_sentence(one) for one in plan.problems[:_SHOWN])
        if (more := len(plan.problems) - _SHOWN) > 0:
            yield f"… and {more} more; --json names all."


def _sentence(one: Problem) -> str:
    row = "" if one.row is None else f"row {one.row}, "
    return f"{row}{one.field or 'brief'} ({one.rule}): {one.message} {one.fix}"


def _without(plan: Plan) -> str:
    if not plan.sums.jobs:
        return "There is nothing to release."
    return (
        "No token: it takes the API's FIREFLYASSETS_SESSION_KEYS. POST /v1/plans and the "
        "campaign's page give one."
    )
