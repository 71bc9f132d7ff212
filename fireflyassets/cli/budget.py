"""``fireflyassets budget``: what a month has taken of its budgets, raises, and the proof.

Belongs here: arguments in, tables and JSON out. Does not: what a raise or a proof does
(``ports/budgets.py``, ``stages/budget_proof.py``). The wiring is loaded when a command runs.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Final

from fireflyassets.cli.terminal import listing, said, table
from fireflyassets.core.budget import (
    CUSTOMER,
    Raise,
    Standing,
    campaign_scope,
    end_of,
    first_of,
    month_of,
    side_by_side,
    tag_scope,
)
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.stages.budget_proof import Proof, prove

_OF: Final = ("customer", "month", "scope")
_NOBODY: Final = "No customer is loaded."
_SHOWN: Final = (*_OF, "cap", "raised", "until", "spent", "reserved", "left")


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``budget show``, ``budget raise`` and ``budget prove``."""
    group = subparsers.add_parser("budget", help="see, raise and prove customers' budgets")
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    show = commands.add_parser("show", help="show what a month has taken of its budgets")
    show.add_argument("customer", nargs="?", help="all customers without it")
    show.add_argument("--json", action="store_true", help="print JSON instead of a table")
    show.set_defaults(run=run_show)
    raising = commands.add_parser("raise", help="raise a cap until a time; kept in the audit")
    raising.add_argument("customer")
    scope = raising.add_mutually_exclusive_group()
    scope.add_argument("--campaign", help="the campaign's budget, not the customer's")
    scope.add_argument("--tag", help="the budget of key=value, not the customer's")
    raising.add_argument(
        "--operations", required=True, type=operations, help="on top of the cap; 0 ends a raise"
    )
    raising.add_argument(
        "--until", required=True, type=instant, help="in UTC, as 2026-11-30 or 2026-11-30T18:00"
    )
    for name, what in (("--by", "who decides"), ("--why", "the reason")):
        raising.add_argument(name, required=True, type=said, help=f"{what}; kept for good")
    raising.set_defaults(run=run_raise)
    proof = commands.add_parser("prove", help="compare counters with their rows; 1 if one is off")
    proof.add_argument("customer", nargs="?", help="all customers without it")
    proof.set_defaults(run=run_prove)
    for command in (show, raising, proof):
        command.add_argument("--month", type=month, help="as 2026-11; this month without it")


def operations(text: str) -> Decimal:
    """Return a number of operations.

    Raises:
        ArgumentTypeError: It is none, or negative.
    """
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError("it is no number") from error
    if not number.is_finite() or number < 0:
        raise argparse.ArgumentTypeError("give 0 or more")
    return number


def instant(text: str) -> datetime:
    """Return a time in UTC."""
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def month(text: str) -> str:
    """Return a month as it is kept."""
    return month_of(first_of(text))


def run_show(arguments: argparse.Namespace) -> int:
    """Show the budgets of this process's ledger."""
    as_json: bool = arguments.json
    return desk().show(arguments.customer, arguments.month, as_json=as_json)


def run_raise(arguments: argparse.Namespace) -> int:
    """Raise a cap in this process's ledger."""
    scope = CUSTOMER
    if arguments.campaign:
        scope = campaign_scope(arguments.campaign)
    elif arguments.tag:
        scope = tag_scope(arguments.tag)
    at = desk()
    raised = Raise(
        arguments.operations, arguments.until, arguments.by, arguments.why, at.clock.now()
    )
    return at.raise_cap(arguments.customer, arguments.month, scope, raised)


def run_prove(arguments: argparse.Namespace) -> int:
    """Prove the budgets of this process's ledger."""
    return desk().prove(arguments.customer, arguments.month)


def desk() -> "BudgetDesk":
    """Return the desk over this process's own ledger."""
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    made = composition.factory()
    return BudgetDesk(made.ledger, made.catalogue, made.clock)


@dataclass(frozen=True)
class BudgetDesk:
    """What the commands do, over any ledger."""

    ledger: JobLedger
    catalogue: Catalogue
    clock: Clock

    def show(self, customer: str | None, of_month: str | None, *, as_json: bool) -> int:
        """Print what each budget has taken; customers without one are named as such."""
        of_month = of_month or month_of(self.clock.now())
        rows: list[dict[str, str]] = []
        for name in self._customers(customer):
            mine = [self._line(one) for one in self._standings(name, of_month)]
            none = dict.fromkeys(_SHOWN, "") | {"customer": name, "scope": "no budget is set"}
            rows += mine or [none | {"month": of_month}]
        print(listing(_SHOWN, rows, nothing=_NOBODY, as_json=as_json))
        return 0

    def raise_cap(self, customer: str, of_month: str | None, scope: str, raised: Raise) -> int:
        """Raise a cap until a time within its month.

        Raises:
            UnusableArgument: There is no such cap, or the raise ends outside of the month.
        """
        of_month = of_month or month_of(self.clock.now())
        capped = {one.counter.scope for one in self._standings(customer, of_month) if one.cap}
        if scope not in capped:
            raise UnusableArgument(
                f"{customer} has no budget {scope} in {of_month}; without one there is no cap."
            )
        if not self.clock.now() < raised.until <= end_of(of_month):
            raise UnusableArgument(
                f"A raise ends later than now and no later than its month, {of_month} in UTC."
            )
        self.ledger.raise_cap(customer, of_month, scope, raised)
        (one,) = (one for one in self._standings(customer, of_month) if one.counter.scope == scope)
        print(table(_SHOWN, [self._line(one)], nothing=_NOBODY))
        return 0

    def prove(self, customer: str | None, of_month: str | None) -> int:
        """Print each counter and whether it adds up; 1 if one does not."""
        of_month = of_month or month_of(self.clock.now())
        looked = [
            one
            for name in self._customers(customer)
            for one in prove(self.ledger, name, of_month, now=self.clock.now)
        ]
        for one in looked:
            print(one.sentence())
        return int(any(one.verdict is Proof.DIFFERS for one in looked))

    def _customers(self, customer: str | None) -> list[str]:
        known = {one.config.customer for one in self.catalogue.campaigns().values()}
        return [customer] if customer else sorted(known)

    def _standings(self, customer: str, of_month: str) -> Iterator[Standing]:
        day = min(self.clock.now(), end_of(of_month)).date()
        caps = self.catalogue.caps(customer, day)
        return side_by_side(caps, self.ledger.counters(customer, of_month), customer, of_month)

    def _line(self, one: Standing) -> dict[str, str]:
        counter, raised = one.counter, one.raised(self.clock.now())
        return {
            "customer": counter.customer,
            "month": counter.month,
            "scope": counter.scope,
            "cap": str(one.cap.operations) if one.cap else "none",
            "raised": str(raised.operations) if raised else "",
            "until": f"{raised.until:%Y-%m-%d %H:%M}" if raised else "",
            "spent": str(counter.spent),
            "reserved": str(counter.reserved),
            "left": "" if (left := one.left(self.clock.now())) is None else str(left),
        }
