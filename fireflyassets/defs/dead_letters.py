# pyright: standard
"""What Dagster does about jobs that ended by a fault: a sensor that looks, a job that replays.

Belongs here: the tick, the job's options, what Dagster is told. Does not: what a snapshot holds
(``stages/snapshot.py``), what becomes of a letter (``stages/letters.py``).
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Final

import dagster as dg
from pydantic import Field

from fireflyassets.core import guidance
from fireflyassets.core.failure import FailureClass
from fireflyassets.core.job import JobRow
from fireflyassets.core.priority import Order
from fireflyassets.core.stage import DELIVERIES
from fireflyassets.defs import names, resources
from fireflyassets.stages import retries
from fireflyassets.stages.affording import Within, afforded
from fireflyassets.stages.replay import Choice, Dead, Replays, sums
from fireflyassets.stages.retries import Spent
from fireflyassets.stages.snapshot import write_owed

_TICK: Final = 30
_SLICE: Final = 50
"""Snapshots, letters and replays of one tick."""
_PORTS: Final = {*resources.WAVE_PORTS, "job_queue", "guardrail"}


@dg.sensor(
    name="dead_letters",
    minimum_interval_seconds=_TICK,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys=_PORTS,
    description="Writes snapshots of failed jobs; matches dead letters; runs again by policy.",
)
def dead_letters_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Write what is owed, sort a slice of dead letters, run again what policy lets go."""
    given = context.resources
    tell = partial(_tell, context.instance, given.settings.bucket, given.settings.api_url)
    spent = resources.retries(given)
    written = write_owed(given.ledger, given.objects, spent, most=_SLICE, tell=tell)
    told = resources.letters(given).sort(most=_SLICE)
    letters = f"{told.known} of known jobs, {told.put_aside} put aside"
    classes = frozenset(given.settings.replay_automatically)
    again = resources.replays(given).by_policy(classes, most=_SLICE)
    return dg.SkipReason(f"{written} snapshots; dead letters: {letters}; {again} run again.")


class ReplayConfig(dg.Config):
    """The options of ``fireflyassets dlq replay``, under the same names."""

    classes: list[str] = Field(default=[], description="As `fireflyassets failures` names them.")
    campaign: str | None = Field(default=None, description="customer/campaign")
    credential: str | None = None
    jobs: list[str] = Field(default=[], description="Ids of jobs; empty: all that failed.")
    operations: float | None = Field(default=None, ge=0, description="It may cost so much at most.")
    order: str = Field(default="oldest", description="What is paid first: oldest or cheapest.")
    since: str | None = Field(default=None, description="Failed at or after: 2026-11-30T18:00")
    until: str | None = Field(default=None, description="Failed at or before.")
    mended: bool = Field(default=False, description="The cause is gone: no probe, no waiting.")
    spread_minutes: float = Field(default=0, ge=0, description="Due evenly over so long.")
    most: int | None = Field(default=None, ge=0)
    letters: bool = Field(
        default=False, description="No jobs, but dead letters that intake takes by now."
    )
    abort: str = Field(default="", description="Record of a replay to take back: no other option.")
    go: bool = Field(default=False, description="Without it nothing moves.")
    by: str = Field(default="", description="Who; kept for good.")
    why: str = Field(default="", description="The reason; kept for good.")

    def choice(self) -> Choice:
        """Return which jobs are meant."""
        return Choice(
            frozenset(map(FailureClass, self.classes)),
            campaign=self.campaign,
            credential=self.credential,
            jobs=frozenset(self.jobs),
            since=_at(self.since),
            until=_at(self.until),
        )

    def within(self) -> Within | None:
        """Return what it may cost, where that is said."""
        if self.operations is None:
            return None
        return Within(Decimal(str(self.operations)), Order(self.order))


def _at(text: str | None) -> datetime | None:
    at = datetime.fromisoformat(text) if text else None
    return at.replace(tzinfo=UTC) if at and not at.tzinfo else at


@dg.op(required_resource_keys=_PORTS)
def replay(context: dg.OpExecutionContext, config: ReplayConfig) -> None:
    """Say what can be run again, at what price; with ``go`` do it.

    Terminate the run to stop: what it moved and no wave has begun goes back.
    """
    use = resources.replays(context.resources)
    plan = (
        [] if config.letters else use.plan(config.choice(), mended=config.mended, most=config.most)
    )
    if within := config.within():
        plan = afforded(plan, within)
    for one in sums(plan):
        context.log.info(
            "%s: %d jobs since %s, %d go for %s operations at most. %s",
            *(one.failure.value, one.jobs, one.oldest, one.goes, one.price, one.cause),
        )
    letters = resources.letters(context.resources)
    if not config.go:
        if config.letters:
            context.log.info("%d dead letters become jobs.", len(list(letters.becoming())))
        context.log.info("Nothing was moved: go is not set.")
        return
    if not config.by.strip() or not config.why.strip():
        raise dg.Failure("Say who you are and why: by, why.", allow_retries=False)
    if config.abort:
        told = use.abort().of(config.abort, by=config.by, why=config.why)
        context.log.info(told.sentence())
    elif config.letters:
        sent = letters.send_all_on(by=config.by, why=config.why)
        context.log.info("%d dead letters became jobs.", len(sent))
    else:
        _go(context, use, plan, config)


def _go(
    context: dg.OpExecutionContext, use: Replays, plan: Sequence[Dead], config: ReplayConfig
) -> None:
    total, moved = sum(one.goes for one in plan), 0
    spread = timedelta(minutes=config.spread_minutes)
    moves = use.go(plan, by=config.by, why=config.why, spread=spread)
    context.log.info("abort: %s takes back what waits.", moves.record)
    try:
        for n, one in enumerate(moves, start=1):
            moved += one.done
            said = one.why or f"due at {one.due_at.isoformat()}"
            context.log.info("%d of %d, %s: %s", n, total, one.job_id, said)
    except dg.DagsterExecutionInterruptedError:
        moves.close()  # It writes down what it has moved.
        told = use.abort().of(moves.record, by=config.by, why="stopped")
        context.log.warning("Stopped. %s", told.sentence())
        raise
    context.log.info("%d of %d jobs are queued again.", moved, total)


@dg.job(
    name="retry_jobs",
    description="Runs failed jobs again, by the rules of `fireflyassets dlq replay`.",
)
def replay_job() -> None:
    """Plan, and go if asked."""
    replay()


def _tell(
    instance: dg.DagsterInstance,
    bucket: str,
    api_url: str,
    row: JobRow,
    key: str,
    spent: Sequence[Spent],
) -> None:
    """Link the snapshot in the metadata of the job's partition."""
    metadata: dict[str, dg.MetadataValue] = {
        "snapshot": dg.MetadataValue.path(f"s3://{bucket}/{key}"),
        "failure": dg.MetadataValue.text(row.failure.value if row.failure else "not classed"),
        "reason": dg.MetadataValue.text(row.reason or ""),
        "guidance": dg.MetadataValue.text(guidance.of(row) or ""),
        "retries": dg.MetadataValue.text(retries.sentence(spent)),
        "page": dg.MetadataValue.url(f"{api_url}/pages/jobs/{row.job_id}"),
    }
    deliveries = names.asset_key(row.customer_id, row.campaign_id, DELIVERIES)
    instance.report_runless_asset_event(
        dg.AssetObservation(deliveries, partition=row.job_id, metadata=metadata)
    )
