# pyright: standard
"""The schedule that runs failed jobs again at a set hour: one for all campaigns.

Belongs here: the hour and what the run is asked for. Does not: which jobs may go, and at what
price (``stages/replay.py``). What is missing needs no schedule: it is queued, and dispatched.
"""

import logging
from datetime import datetime
from typing import Final

import dagster as dg
from dagster._utils.schedules import is_valid_cron_schedule  # Not exported.

from fireflyassets.defs.dead_letters import replay_job
from fireflyassets.settings import Settings

_log: Final = logging.getLogger("fireflyassets.definitions")
NAME: Final = "backfill"


def schedules(settings: Settings) -> list[dg.ScheduleDefinition]:
    """Return the schedule, if one is set; an hour that is none takes nothing else down."""
    cron, timezone = settings.backfill_cron.strip(), settings.backfill_timezone
    if not cron:
        return []
    try:
        if len(cron.split()) == _FIELDS and is_valid_cron_schedule(cron):
            return [_schedule(settings, cron)]
        fault = f"FIREFLYASSETS_BACKFILL_CRON {cron!r} is no cron schedule of five fields"
    except dg.DagsterInvalidDefinitionError:
        fault = f"FIREFLYASSETS_BACKFILL_TIMEZONE {timezone!r} is no time zone"
    _log.error("%s: no job is run again by schedule.", fault)
    return []


_FIELDS: Final = 5


def _schedule(settings: Settings, cron: str) -> dg.ScheduleDefinition:
    def asked(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        return dg.RunRequest(run_config=run_config(settings, context.scheduled_execution_time))

    return dg.ScheduleDefinition(
        name=NAME,
        job=replay_job,
        cron_schedule=cron,
        execution_timezone=settings.backfill_timezone,
        execution_fn=asked,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Runs jobs in dlq again, within its budget, spread over its window.",
    )


def run_config(settings: Settings, hour: datetime) -> dict[str, object]:
    """Return what one round asks of the job of replays."""
    options: dict[str, object] = {
        "go": True,
        "by": f"schedule {NAME}",
        "why": f"the round of {hour.isoformat()}",
        "spread_minutes": settings.backfill_window.total_seconds() / 60,
        "order": settings.backfill_order.value,
    }
    if settings.backfill_operations is not None:
        options["operations"] = float(settings.backfill_operations)
    return {"ops": {"replay": {"config": options}}}
