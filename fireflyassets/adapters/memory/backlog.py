"""What stands in the memory ledger, counted. Does not belong here: rows."""

from collections.abc import Mapping

from fireflyassets.adapters.ledger_rules import is_claimable
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core.status import Status
from fireflyassets.core.sums import Sums
from fireflyassets.ports.backlog import Backlog, Line, LineName, lines_of


class MemoryBacklog(Backlog):
    """Counts the rows of one memory ledger."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger

    def lines(self) -> Mapping[LineName, Line]:
        """Return the lines that anything waits in."""
        rows = filter(is_claimable, self._ledger.rows())
        return lines_of(
            ((row.credential, row.customer_id, row.campaign_id), row.due_at) for row in rows
        )

    def dead(self) -> int:
        """Return how many jobs are in ``dlq``."""
        return sum(row.status is Status.DLQ for row in self._ledger.rows())

    def campaign(self, customer: str, campaign: str) -> Sums:
        """Return a campaign's sums."""
        sums = Sums()
        for row in self._ledger.campaign_jobs(customer, campaign):
            sums.add(
                row.status,
                is_held=row.hold is not None,
                not_before=row.not_before,
                estimate=row.cost_estimate,
                certain=row.cost_actual,
                possible=row.cost_possible,
            )
        return sums
