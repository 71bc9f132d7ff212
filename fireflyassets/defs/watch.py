# pyright: standard
"""The sensor that looks at everything twice a minute.

Belongs here: its tick and cursor. Does not: what is looked at (``stages/watch.py``).
"""

from typing import Final

import dagster as dg

from fireflyassets.defs import resources
from fireflyassets.stages.watch import Memory

_TICK: Final = 30
"""Seconds; half a period of the alarms on what it measures, so that none is without a number."""


@dg.sensor(
    name="watch",
    minimum_interval_seconds=_TICK,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={
        "objects",
        "backlog",
        "ledger",
        "job_queue",
        "limiter",
        "catalogue",
        "limits",
        "clock",
    },
    description="Measures what waits and how fast it goes; slows what Adobe goes on refusing.",
)
def watch_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Set the gauges; the cursor remembers the last minutes."""
    now = context.resources.clock.now()
    memory = resources.watch(context.resources).look(Memory.read(context.cursor), now=now)
    context.update_cursor(memory.write())
    return dg.SkipReason("The gauges are set.")
