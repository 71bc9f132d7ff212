"""What is told of a campaign as a whole: all its jobs are read for it, so that it is kept a moment.

Belongs here: which reads are kept, and when they are made anew. Does not: for how long
(``reads.py``), single jobs and lists.
"""

from functools import partial

from fireflyassets.api.reads import KeptReads
from fireflyassets.core.sums import Sums
from fireflyassets.ports.backlog import Backlog
from fireflyassets.ports.clock import Clock
from fireflyassets.stages.planning import Planning, Standing


class CampaignReads:
    """Those of one process; safe for threads."""

    def __init__(self, backlog: Backlog, planning: Planning, clock: Clock) -> None:
        self._backlog = backlog
        self._planning = planning
        self._sums = KeptReads[tuple[str, str], Sums](clock)
        self._planned = KeptReads[tuple[str, str], Standing | None](clock)

    def sums(self, tenant: str, campaign: str) -> Sums:
        """Return a campaign's sums."""
        find = partial(self._backlog.campaign, tenant, campaign)
        return self._sums.get((tenant, campaign), find)

    def planned(self, tenant: str, campaign: str) -> Standing | None:
        """Return how the last released plan of a campaign stands."""
        find = partial(self._planning.standing, tenant, campaign)
        return self._planned.get((tenant, campaign), find)

    def moved(self, tenant: str, campaign: str) -> None:
        """Read a campaign anew next time, since somebody who looks has just changed it."""
        self._sums.forget((tenant, campaign))
        self._planned.forget((tenant, campaign))
