"""``fireflyassets fence``: unknown outcomes of paid calls, and the bill between its bounds.

Belongs here: arguments in, tables and JSON out. Does not: what a decision does
(``fence/resolving.py``), the sums (``fence/accounts.py``). The wiring is loaded when a command
runs, so that the help needs no AWS client.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from fireflyassets.cli.terminal import listing, said, stamp, table
from fireflyassets.core.errors import UnknownCampaign
from fireflyassets.core.job import JobRow
from fireflyassets.fence.accounts import Account, Part, accounts
from fireflyassets.fence.call import Rates
from fireflyassets.fence.resolving import Resolver
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import Attempt, Decision, History, Verdict
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.stages.bench import rates_of
from fireflyassets.stages.pinning import Pins
from fireflyassets.wave.endings import KEEP

_LISTED: Final = ("job", "step", "send", "since", "operations", "held", "settles", "why")
_PARTS: Final = tuple(Part)


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``fence list``, ``fence report`` and ``fence resolve``."""
    group = subparsers.add_parser("fence", help="see and settle what paid calls may have cost")
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    listing = commands.add_parser("list", help="list the sends whose outcome nobody knows")
    listing.set_defaults(run=run_list)
    report = commands.add_parser("report", help="show what was billed, between which bounds")
    report.add_argument("--campaign", help="customer/campaign; all of them without it")
    report.add_argument("--day", type=a_day, help="a day in UTC, as 2026-11-30")
    report.set_defaults(run=run_report)
    for command in (listing, report):
        command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    resolve = commands.add_parser("resolve", help="say how an unknown send is to be taken")
    verdict = resolve.add_mutually_exclusive_group(required=True)
    for one, what in (
        (
            Verdict.BILLED,
            "the vendor's report shows it: collect it by its id; without one, book it as billed",
        ),
        (
            Verdict.RESUBMIT,
            "send the step again; this send is booked as a possible duplicate",
        ),
        (Verdict.DROP, "give the job up for good: the send is booked as possible cost"),
    ):
        verdict.add_argument(f"--{one}", dest="verdict", action="store_const", const=one, help=what)
    resolve.add_argument("job", metavar="JOB")
    resolve.add_argument("step", metavar="STEP", help="as `fence list` names it")
    resolve.add_argument(
        "--by", required=True, type=said, metavar="NAME", help="who decides; kept for good"
    )
    resolve.add_argument(
        "--why", required=True, type=said, metavar="TEXT", help="the reason; kept for good"
    )
    resolve.set_defaults(run=run_resolve)


def a_day(text: str) -> date:
    """Return the day that *text* names.

    Raises:
        ArgumentTypeError: It names none.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day: write it as 2026-11-30") from None


def run_list(arguments: argparse.Namespace) -> int:
    """List the unknown outcomes of this process's ledger."""
    as_json: bool = arguments.json
    return desk().list_unknown(as_json=as_json)


def run_report(arguments: argparse.Namespace) -> int:
    """Report the bill of this process's ledger."""
    campaign: str | None = arguments.campaign
    day: date | None = arguments.day
    as_json: bool = arguments.json
    return desk().report(campaign, day=day, as_json=as_json)


def run_resolve(arguments: argparse.Namespace) -> int:
    """Decide on a send of this process's ledger."""
    job: str = arguments.job
    step: str = arguments.step
    verdict: Verdict = arguments.verdict
    by: str = arguments.by
    why: str = arguments.why
    return desk().resolve(job, step, verdict=verdict, by=by, why=why)


def desk() -> "FenceDesk":
    """Return the desk over this process's own ledger."""
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    made = composition.factory()
    return FenceDesk(made.ledger, Pins(made.objects, made.catalogue), made.catalogue, made.clock)


@dataclass(frozen=True)
class FenceDesk:
    """What the commands do, over any ledger."""

    ledger: JobLedger
    pins: Pins
    catalogue: Catalogue
    clock: Clock

    def list_unknown(self, *, as_json: bool) -> int:
        """Print the sends whose outcome is unknown, the oldest first."""
        found = self._resolver().unknown(now=self.clock.now())
        rows = [
            {
                "job": one.row.job_id,
                "step": one.attempt.step,
                "send": str(one.attempt.n),
                "since": stamp(one.attempt.submitted_at),
                "operations": str(self._rates(one.row, one.attempt).price),
                "held": "yes" if one.row.hold else one.row.status.value,
                "settles": f"{one.settles_at:%H:%M:%S}" if one.settles_at else "by a person",
                "why": one.attempt.fault or one.attempt.state.value,
            }
            for one in found
        ]
        none = "No send has an unknown outcome."
        _print(listing(_LISTED, rows, nothing=none, as_json=as_json))
        return 0

    def report(self, campaign: str | None, *, day: date | None, as_json: bool) -> int:
        """Print the bill by campaign, credential and day, and every gap as a row of its own."""

        def price(row: JobRow, attempt: Attempt) -> Decimal:
            return self._rates(row, attempt).price

        found = accounts(self._work(campaign), price)
        shown = [one for one in found if day in {None, one.day}]
        if as_json:
            said = [
                {**_sums(one), "gaps": [_plain(asdict(gap)) for gap in one.gaps()]} for one in shown
            ]
            _print(json.dumps(said, indent=2))
            return 0
        head = ("campaign", "credential", "day", *_PARTS, "at_least", "at_most")
        _print(table(head, map(_sums, shown), nothing="No paid call was made."))
        gaps = [_plain(asdict(gap)) for one in shown for gap in one.gaps()]
        if gaps:
            head = ("part", "job_id", "step", "n", "vendor_id", "operations", "why")
            _print("\n" + table(head, gaps, nothing="No gap."))
        return 0

    def resolve(self, job_id: str, step: str, *, verdict: Verdict, by: str, why: str) -> int:
        """Apply a verdict and print what it did.

        Raises:
            UndecidableNow: There is nothing to decide, or the job has moved meanwhile.
        """
        decision = Decision(verdict, by=by, at=self.clock.now(), why=why)
        _print(self._resolver().resolve(job_id, step, decision))
        return 0

    def _resolver(self) -> Resolver:
        return Resolver(self.ledger, self._rates, self._keep)

    def _work(self, slug: str | None) -> Iterator[tuple[JobRow, History]]:
        campaigns = self.catalogue.campaigns()
        if slug is not None and slug not in campaigns:
            raise UnknownCampaign(slug)
        for name in [slug] if slug else sorted(campaigns):
            config = campaigns[name].config
            for row in self.ledger.campaign_jobs(config.customer, config.campaign):
                yield row, self.ledger.history(row.job_id)

    def _rates(self, row: JobRow, attempt: Attempt) -> Rates:
        card = self.pins.card(row)
        name = attempt.step.partition(".")[0]
        steps = self.pins.campaign(row).config.recipe.steps
        step = next(one for one in steps if one.name == name)
        return rates_of(card, step)

    def _keep(self, row: JobRow) -> timedelta:
        return KEEP[self.pins.campaign(row).config.retention]


def _sums(account: Account) -> dict[str, str]:
    return {
        "campaign": account.campaign,
        "credential": account.credential,
        "day": account.day.isoformat(),
        **{part.value: str(account.total(part)) for part in Part},
        "at_least": str(account.at_least),
        "at_most": str(account.at_most),
    }


def _plain(said: dict[str, object]) -> dict[str, str]:
    return {name: "" if value is None else str(value) for name, value in said.items()}


def _print(text: str) -> None:
    print(text)
