"""Budgets as a part of the ledger's port: counters by month, blocks reserved, raises.

Belongs here: what is promised of reserving and giving back. Does not: what a job's row holds, which
moves with the job's own writes (``ports/ledger.py``), nor which caps there are (``catalogue.py``).

    counter = blocks that no row holds yet + what every row of the month holds and has spent
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from fireflyassets.core.budget import Alert, Block, Cap, Counter, Raise


@dataclass(frozen=True, slots=True)
class Reserved:
    """The block stands, in every budget it draws on."""

    block: Block
    alerts: tuple[Alert, ...] = ()
    """Steps that this reservation reached first."""


@dataclass(frozen=True, slots=True)
class OverBudget:
    """It does not fit; nothing was written. One budget that it does not fit into, as it stood."""

    scope: str
    month: str
    cap: Decimal
    """Raises that last included."""
    spent: Decimal
    reserved: Decimal
    wanted: Decimal

    @property
    def room(self) -> Decimal:
        """Return what would have fitted."""
        return max(Decimal(0), self.cap - self.spent - self.reserved)

    def __str__(self) -> str:
        return (
            f"The budget {self.scope} of {self.month} has no room for {self.wanted} operations: "
            f"cap {self.cap}, spent {self.spent}, reserved {self.reserved}."
        )


@dataclass(frozen=True, slots=True)
class Audited:
    """One entry of the audit: what somebody did to a budget. Never changed, never removed."""

    customer: str
    month: str
    scope: str
    raised: Raise


class BudgetLedger(ABC):
    """The budgets' part of the truth; a `JobLedger` has it, since both move in one transaction."""

    @abstractmethod
    def reserve(self, block: Block, caps: Sequence[Cap], *, now: datetime) -> Reserved | OverBudget:
        """Take a block out of all its budgets or of none, never above a cap.

        The block's row, the counters and the events of alerts are one transaction. The same block
        again is `Reserved` again and takes nothing more.
        """

    @abstractmethod
    def give_back(self, block: Block) -> Decimal:
        """Give back what no row of the block holds, and return it; 0 if that was done before.

        A row that is recorded with the block from then on is refused.
        """

    @abstractmethod
    def lapsed(self, *, before: datetime, most: int) -> list[Block]:
        """Return up to *most* blocks made before then that still stand: their maker died."""

    @abstractmethod
    def counters(self, customer: str, month: str) -> list[Counter]:
        """Return a month's counters by scope, read consistently."""

    @abstractmethod
    def blocks(self, customer: str, month: str) -> list[Block]:
        """Return the month's blocks that stand, read consistently."""

    @abstractmethod
    def raise_cap(self, customer: str, month: str, scope: str, raised: Raise) -> None:
        """Raise a cap for a time, in place of an earlier raise, with its audit row."""

    @abstractmethod
    def audit(self, customer: str, month: str) -> list[Audited]:
        """Return what was done to a month's budgets, in the order of time."""
