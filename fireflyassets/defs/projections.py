# pyright: standard
"""Projections: Dagster is told what the ledger knows and an interrupted run could not say.

Belongs here: finding partitions and checks that are behind the ledger after a run ended badly,
and reporting them without a run. Does not: deciding or paying anything; the ledger is only read.

A run that is killed or stopped leaves jobs that the ledger has finished and Dagster shows as
failed. Each run that ended badly is looked at once, after its wave has ended, a slice of jobs at
a time. What is behind is read from Dagster's own log, so that a tick that dies half-way is
repeated without telling anything twice.
"""

import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

import dagster as dg

from fireflyassets.core import errors, metric
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.defs import checks, events, resources, verdict
from fireflyassets.defs.behind import Interrupted
from fireflyassets.wave.assembly import Shop
from fireflyassets.wave.reports import Checked, Handed, Made, Report
from fireflyassets.wave.reuse import retold, settled

_log: Final = logging.getLogger("fireflyassets.projections")
_TICK: Final = 30
_JOBS: Final = 25
"""Jobs that one tick looks at: it has 60 s, and where all is behind, on SQLite and on two cores
with a load of 18, fifty took 42 s (2026-11-30)."""
_RUNS: Final = 50
_PATIENCE: Final = timedelta(minutes=10)
"""How long the end of a run's wave is waited for, so that one wave can't stop all others."""
_OVERLAP: Final = timedelta(minutes=1)
"""Clocks of different machines order the ends of runs only roughly: so far is looked back."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far the runs have been looked at; the sensor's cursor."""

    seen: dict[str, datetime] = field(default_factory=dict[str, datetime])
    """Run id -> its last change, for those that may be met again."""
    run: str = ""
    """The run that was left half-way; empty if none was."""
    job: str = ""
    """The last job that was looked at of it."""

    @classmethod
    def read(cls, cursor: str | None) -> "Place":
        """Return the place that a cursor names; none is the beginning."""
        said = json.loads(cursor) if cursor else {"seen": {}, "run": "", "job": ""}
        seen = {run: datetime.fromisoformat(at) for run, at in said["seen"].items()}
        return cls(seen, said["run"], said["job"])

    def write(self) -> str:
        """Return the place as a cursor."""
        seen = {run: at.isoformat() for run, at in self.seen.items()}
        return json.dumps({"seen": seen, "run": self.run, "job": self.job})

    @property
    def since(self) -> datetime | None:
        """From when on runs are asked for; None: from the first."""
        return max(self.seen.values()) - _OVERLAP if self.seen else None

    def past(self, record: dg.RunRecord) -> "Place":
        """Return the place behind a run."""
        seen = self.seen | {record.dagster_run.run_id: record.update_timestamp}
        oldest = max(seen.values()) - _OVERLAP
        return Place({run: at for run, at in seen.items() if at >= oldest})


@dg.sensor(
    name="projections",
    minimum_interval_seconds=_TICK,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys=resources.WAVE_PORTS,
    description="Shows what jobs of interrupted runs came to: the ledger knows, Dagster does not.",
)
def projections_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Tell what is behind of the runs that have ended badly since the last tick."""
    shop = resources.shop(context.resources)
    projector = Projector(context.instance, shop)
    place = projector.tick(Place.read(context.cursor))
    context.update_cursor(place.write())
    shop.tally.set(metric.LAG, projector.lag.total_seconds())
    return dg.SkipReason(projector.sentence())


@dataclass(slots=True)
class Projector:
    """Brings Dagster up to the ledger, for one tick."""

    instance: dg.DagsterInstance
    shop: Shop
    most: int = _JOBS
    told: int = 0
    waits: bool = False
    """True where a run was left for a later tick, since its wave may still move."""
    lag: timedelta = timedelta(0)
    """The longest time between a job's last change in the ledger and its telling, or that what
    waits to be told of waits by now."""

    def tick(self, place: Place) -> Place:
        """Look at the next slice of jobs of runs that ended badly; return the place behind it."""
        left = self.most
        for record in self._ended_badly(place):
            if self._may_still_write(record):
                self.waits = True
                self.lag = max(self.lag, self.shop.clock.now() - record.update_timestamp)
                break
            run_id = record.dagster_run.run_id
            interrupted = Interrupted.read(self.instance, run_id)
            if interrupted is not None:
                jobs = [one for one in interrupted.jobs if run_id != place.run or one > place.job]
                self._catch_up(interrupted, jobs[:left])
                if len(jobs) > left:
                    return replace(place, run=run_id, job=jobs[left - 1]) if left else place
                left -= len(jobs)
                self._sum_up(interrupted, record.dagster_run)
            place = place.past(record)
        return place

    def sentence(self) -> str:
        """Say what the tick did."""
        if self.waits and not self.told:
            return "A run has ended badly; its wave is not over yet."
        if not self.told:
            return "Dagster shows what the ledger says."
        return f"{self.told} events told late, the latest {self.lag.total_seconds():.0f} s late."

    def _ended_badly(self, place: Place) -> list[dg.RunRecord]:
        records = self.instance.get_run_records(
            dg.RunsFilter(
                statuses=[dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED],
                updated_after=place.since,
            ),
            limit=_RUNS + len(place.seen),
            order_by="update_timestamp",
            ascending=True,
        )
        return [one for one in records if one.dagster_run.run_id not in place.seen]

    def _may_still_write(self, record: dg.RunRecord) -> bool:
        """Say whether the run's wave is open: its process may live, or its jobs be taken back."""
        run_id = record.dagster_run.run_id
        is_open = any(wave.run_id == run_id for wave in self.shop.ledger.open_waves())
        return is_open and self.shop.clock.now() - record.update_timestamp < _PATIENCE

    def _catch_up(self, run: Interrupted, jobs: Sequence[str]) -> None:
        """Tell what the jobs have made and Dagster does not show."""
        unmade = run.unmade(self.instance, jobs)
        book = self._book(run)
        unchecked = run.unchecked(self.instance, jobs) if book.partitioned else set()
        affected = {job for _, job in unmade} | {job for _, job in unchecked}
        rows = self.shop.ledger.jobs(run.customer, sorted(affected))
        for row in rows.values():
            for report in self._reports(row):
                match report:
                    case Made() | Handed():
                        if (key := events.key_of(report), row.job_id) in unmade:
                            self._tell(self._late(report), row)
                            unchecked |= {(check, row.job_id) for check in checks.about(key)}
                    case Checked():
                        if (report.check, row.job_id) in unchecked:
                            book.note(report)
                    case _:
                        pass
        now = self.shop.clock.now().timestamp()
        for evaluation in book.evaluate(self.instance, now=now):
            self._tell(evaluation, rows[evaluation.partition or ""])

    def _sum_up(self, run: Interrupted, dagster_run: dg.DagsterRun) -> None:
        """Tell the summaries that the run was to make, and on its page what became of its jobs."""
        rows = [*self.shop.ledger.jobs(run.customer, run.jobs).values()]
        if rows and run.owes_summaries(self.instance):
            book = self._book(run)
            done = [row for row in rows if row.status is Status.SUCCEEDED]
            for checked in (one for row in done for one in self._checks(row)):
                book.note(checked)
            keys = {row.job_id: row.idempotency_key for row in done}
            for evaluation in book.summaries(keys, asked=len(rows)):
                self._tell(evaluation, max(rows, key=lambda row: row.updated_at))
        if rows and not run.has_spoken(self.instance):
            self.instance.report_engine_event(verdict.afterwards(rows), dagster_run)

    def _checks(self, row: JobRow) -> Iterable[Checked]:
        """Return the checks of a job that is done."""
        campaign = self._campaign(row)
        return settled(row, campaign) if campaign else ()

    def _reports(self, row: JobRow) -> Iterable[Report]:
        """Return what a job has made; nothing where a wave is at it, which tells it itself."""
        if row.status is Status.RUNNING or not (campaign := self._campaign(row)):
            return ()
        try:
            return retold(self.shop.ledger, self.shop.objects, campaign, row)
        except errors.FactoryError as error:
            _log.warning("job %s: can't be told of: %s", row.job_id, error)
            return ()

    def _tell(self, event: dg.AssetMaterialization | dg.AssetCheckEvaluation, row: JobRow) -> None:
        self.instance.report_runless_asset_event(event)
        self.told += 1
        self.lag = max(self.lag, self.shop.clock.now() - row.updated_at)

    def _book(self, run: Interrupted) -> checks.CheckBook:
        return checks.CheckBook(
            run.customer,
            run.campaign,
            run.run_id,
            wanted=checks.every_name(),
            partitioned=checks.by_partition(
                self.instance, run.customer, run.campaign, self.shop.settings
            ),
        )

    def _late(self, report: Made | Handed) -> dg.AssetMaterialization:
        url = self.shop.settings.api_url
        return events.of(report, self.instance, api_url=url, late=True)

    def _campaign(self, row: JobRow) -> Campaign | None:
        """Return the campaign as it was when the job was priced; None, and a word in the log."""
        try:
            return self.shop.pins.campaign(row)
        except errors.FactoryError as error:
            _log.warning("job %s: can't be told of: %s", row.job_id, error)
            return None
