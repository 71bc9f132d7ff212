# pyright: standard
"""The sensor that follows reviews: what people decided is shown by objects and by Dagster.

Belongs here: a bounded slice of both, the one process that moves objects. Does not: deciding;
the moves themselves (``stages/showing.py``).

Publishing itself needs no run: outputs are handed out as soon as the ledger says so. What follows
is the check of each job's partition, with who decided what, or an observation where the campaign
has too many jobs for checks by partition.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Final

import dagster as dg

from fireflyassets.core.job import JobRow
from fireflyassets.core.stage import DELIVERIES
from fireflyassets.defs import checks, names, resources
from fireflyassets.ports.reviews import View
from fireflyassets.stages.holding import Holding
from fireflyassets.stages.showing import Showing
from fireflyassets.wave.assembly import Shop
from fireflyassets.wave.job import review_check
from fireflyassets.wave.reports import Check

_TICK: Final = 5
"""Seconds; the daemon's own floor."""
_SLICE: Final = 200
_BATCH: Final = 25
_LONGEST: Final = timedelta(seconds=35)
"""After which a tick takes no further batch: it is ended after 60 s, whatever it did."""
_ONE: Final = frozenset({Check.REVIEW.value})


@dg.sensor(
    name="reviews",
    minimum_interval_seconds=_TICK,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys=resources.WAVE_PORTS,
    description="Publishes what reviewers approved, quarantines what they rejected, and shows it.",
)
def reviews_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Show a slice of the decisions that are not shown yet."""
    shop = resources.shop(context.resources)
    moved = Showing(Holding(shop.ledger, shop.objects, shop.clock)).show_due(most=_SLICE)
    follower = Follower(context.instance, shop)
    shown = follower.tick()
    late = f", the latest {follower.lag.total_seconds():.0f} s late" if shown else ""
    return dg.SkipReason(f"{moved} decisions shown by objects, {shown} in the catalogue{late}.")


@dataclass(slots=True)
class Follower:
    """Brings Dagster up to the decisions, for one tick."""

    instance: dg.DagsterInstance
    shop: Shop
    lag: timedelta = timedelta(0)
    """The longest time from a decision to its showing."""

    def tick(self) -> int:
        """Show decisions, the oldest first, for as long as a tick may; return how many."""
        clock, shown = self.shop.clock, 0
        until = clock.now() + _LONGEST
        while clock.now() < until:
            rows = self.shop.ledger.unshown(View.DAGSTER, most=_BATCH)
            for (customer, campaign), some in groupby(sorted(rows, key=_owner), key=_owner):
                shown += self._follow(customer, campaign, [*some])
            if len(rows) < _BATCH:
                break
        return shown

    def _follow(self, customer: str, campaign: str, rows: Sequence[JobRow]) -> int:
        """Tell of one campaign's decisions; one that is told twice says the same."""
        if checks.by_partition(self.instance, customer, campaign, self.shop.settings):
            for row in rows:
                self._check(row)
        else:
            for row in rows:
                self.instance.report_runless_asset_event(_observed(row))
        now = self.shop.clock.now()
        self.lag = max(self.lag, *(now - row.updated_at for row in rows))
        return sum(self.shop.ledger.shown(row, View.DAGSTER) for row in rows)

    def _check(self, row: JobRow) -> None:
        """Tell the check of a job's partition, once for each version.

        Without a run a check is told once for each partition and no more (dagster 1.13.27: a unique
        index), so that each decision has a name of its own in a run's place.
        """
        book = checks.CheckBook(
            row.customer_id, row.campaign_id, row.run_id or "", wanted=_ONE, partitioned=True
        )
        book.note(review_check(row))
        for one in book.evaluate(self.instance, now=self.shop.clock.now().timestamp()):
            told = dg.DagsterEvent(
                event_type_value=dg.DagsterEventType.ASSET_CHECK_EVALUATION.value,
                job_name="",
                event_specific_data=one,
            )
            self.instance.report_dagster_event(told, run_id=f"review-{row.epoch}")


def _observed(row: JobRow) -> dg.AssetObservation:
    key = names.asset_key(row.customer_id, row.campaign_id, DELIVERIES)
    return dg.AssetObservation(key, partition=row.job_id, metadata=dict(review_check(row).facts))


def _owner(row: JobRow) -> tuple[str, str]:
    return row.customer_id, row.campaign_id
