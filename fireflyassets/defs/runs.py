# pyright: standard
"""Runs as the instance knows them, beside what the ledger says of their waves.

Belongs here: how a wave's run stands, and ending runs that no process carries. Does not: what
follows for the wave (``stages/dispatch.py``).

Run as a program before any service starts, it ends what a killed stack left behind: no process of
it lives then, and each such run would hold one of the few places until its longest time is over.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import dagster as dg

from fireflyassets.defs import names
from fireflyassets.ports.entries import Wave, WaveState
from fireflyassets.stages.dispatch import RunState

MUTE_FOR: Final = timedelta(minutes=5)
"""A process that has worked so long and has not begun its wave is not there any more."""
_CARRIED: Final = [
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
_UNFINISHED: Final = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    *_CARRIED,
]
_UNBOUNDED: Final = 1_000


def state(instance: dg.DagsterInstance, wave: Wave, *, now: datetime) -> RunState:
    """Return how the newest run of a wave stands.

    A run that is not there any more is closed on the way: before its wave is taken back, since
    nobody looks at it afterwards.
    """
    records = _records(instance, wave)
    if gone := [one.dagster_run for one in records if _is_gone(one, wave, now)]:
        for run in gone:
            _close(instance, run, f"Its process has left wave {wave.wave_id} alone.")
        records = _records(instance, wave)
    if any(not record.dagster_run.is_finished for record in records):
        return RunState.ALIVE
    if len(records) < (1 if wave.run_id else max(1, wave.launches)):
        return RunState.UNSEEN  # The newest one is asked for, and not made yet.
    cancelled = records[0].dagster_run.status is dg.DagsterRunStatus.CANCELED
    return RunState.CANCELLED if cancelled else RunState.DIED


def room(instance: dg.DagsterInstance, *, waves: int) -> int:
    """Return for how many more runs there is a place now, where *waves* have or will have one.

    A wave whose run is not made yet counts, and so does a run that has no wave yet.
    """
    queue = instance.get_concurrency_config().run_queue_config
    if queue is None or queue.max_concurrent_runs < 0:
        return _UNBOUNDED
    most = queue.max_concurrent_runs
    going = instance.get_run_records(dg.RunsFilter(statuses=_UNFINISHED), limit=most)
    return most - max(waves, len(going))


def end_abandoned(instance: dg.DagsterInstance) -> int:
    """End every run that a process should carry; return how many. Call while there is none."""
    abandoned = instance.get_runs(dg.RunsFilter(statuses=_CARRIED))
    for run in abandoned:
        _close(instance, run, "The stack that carried it was killed.")
    return len(abandoned)


def _close(instance: dg.DagsterInstance, run: dg.DagsterRun, why: str) -> None:
    """End a run that no process will end: as a person wished, or as failed."""
    if run.status is dg.DagsterRunStatus.CANCELING:
        instance.report_run_canceled(run)
    else:
        instance.report_run_failed(run, why)


def _records(instance: dg.DagsterInstance, wave: Wave) -> Sequence[dg.RunRecord]:
    """Return the records of a wave's runs, the newest first."""
    by_id = dg.RunsFilter(run_ids=[wave.run_id]) if wave.run_id else None
    by_tag = dg.RunsFilter(tags={names.WAVE_TAG: wave.wave_id})
    return instance.get_run_records(by_id or by_tag)


def _is_gone(record: dg.RunRecord, wave: Wave, now: datetime) -> bool:
    """Say whether a run that has not ended has let its lease run out, or never took it."""
    if record.dagster_run.is_finished:
        return False
    if wave.state is WaveState.RUNNING:
        return wave.lease_until is None or wave.lease_until < now
    if record.dagster_run.status is not dg.DagsterRunStatus.STARTED or record.start_time is None:
        return False
    return now - datetime.fromtimestamp(record.start_time, UTC) > MUTE_FOR


if __name__ == "__main__":
    with dg.DagsterInstance.get() as here:
        end_abandoned(here)
