"""The budgets of customers, as files: ``budgets/<customer>.yaml``, dated, each with its source.

Belongs here: whose budgets a file holds, and what a file that can't be used means for them.
Does not: its shape (``core/budget.py``). The name of the file is the customer's: so one that can't
be read still says whose budgets it holds, and nobody goes without a cap by a slip of the pen.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from pathlib import Path, PurePosixPath

from fireflyassets.core.budget import ALERTS, BudgetFile, Cap, campaign_scope
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.errors import BudgetsUnreadable
from fireflyassets.ports.catalogue import Quarantined

FOLDER = "budgets"


class BudgetBook:
    """All budget files of a project, the bad ones too."""

    def __init__(self, files: Mapping[Path, BudgetFile], bad: Iterable[Quarantined]) -> None:
        self._files = {path.stem: file for path, file in files.items()}
        found = ((PurePosixPath(one.path), one.reason) for one in bad)
        self._bad = {path.stem: reason for path, reason in found if path.parts[0] == FOLDER}

    def caps(self, customer: str, day: date) -> tuple[Cap, ...]:
        """Return every cap that is set for a customer and in force on *day*; none: no budget.

        Raises:
            BudgetsUnreadable: The customer's file can't be used.
        """
        if customer in self._bad:
            raise BudgetsUnreadable(customer, f"{FOLDER}/{customer}.yaml: {self._bad[customer]}")
        file = self._files.get(customer)
        return file.caps(day) if file else ()


def own_caps(
    customer: str, configs: Iterable[CampaignConfig], known: Iterable[Cap]
) -> Iterator[Cap]:
    """Yield the budgets that a customer's campaigns say themselves, unless one is *known*."""
    taken = {cap.scope for cap in known}
    for config in configs:
        scope = campaign_scope(config.campaign)
        if config.customer == customer and config.budget is not None and scope not in taken:
            yield Cap(scope, config.budget, ALERTS, f"campaigns/{customer}/{config.campaign}")
