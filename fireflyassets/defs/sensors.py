# pyright: standard
"""Sensors: what the control plane watches.

Belongs here: a bounded slice of work each tick; the stages do it. Does not: decisions.
A tick that is killed anywhere leaves nothing that the next one does not find in the ledger.
"""

import logging
from dataclasses import replace
from datetime import datetime
from typing import Final

import dagster as dg

from fireflyassets.core import ids
from fireflyassets.defs import resources
from fireflyassets.defs.dispatcher import Dispatcher, cursor_of, remembered
from fireflyassets.stages.admission import Admission
from fireflyassets.stages.budget_proof import Proof, prove_all
from fireflyassets.stages.budgeting import expire
from fireflyassets.stages.dispatch import give_back_stranded
from fireflyassets.stages.finishing import Finishing
from fireflyassets.stages.holding import Holding
from fireflyassets.stages.queue import drain
from fireflyassets.stages.rebinding import rebind
from fireflyassets.wave.sweeping import sweep as sweep_calls

_log: Final = logging.getLogger("fireflyassets.budgets")
_TICK: Final = 5
"""Seconds; the daemon's own floor."""
_SWEEP: Final = 30
"""Seconds; a result's URL lives an hour, and ten minutes is what its collection may take."""
_FILES: Final = 500
"""Delivered files whose tags one tick reads: some seconds, and 6,000 in an hour."""
_SLICE: Final = 200
"""Open sends, stranded jobs, and jobs in lines of nobody, that one tick looks at."""
_LINES: Final = 300
"""Seconds; a look at all lines reads everything that is queued."""


@dg.sensor(
    name="job_queue",
    minimum_interval_seconds=_TICK,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={
        "ledger",
        "objects",
        "job_queue",
        "catalogue",
        "guardrail",
        "outlook",
        "settings",
        "clock",
    },
    description="Drains the job queue into the ledger; finishes briefs whose writers died.",
)
def job_queue_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Drain a slice of the queue; the dispatch sensor starts the runs."""
    given = context.resources
    settings = given.settings
    admission = Admission(given.outlook, settings.max_backlog)
    intake = replace(resources.intake(given), admission=admission)
    ports = (given.ledger, given.objects, given.catalogue, given.clock)
    finished = Finishing(*ports).finish(most=_SLICE)
    drained = drain(
        given.job_queue, intake, most=settings.queue_slice, senders=settings.queue_senders
    )
    return dg.SkipReason(
        f"{drained.recorded} new jobs, {drained.repeated} known, {drained.wakes} wake-ups, "
        f"{drained.quarantined} quarantined, {drained.waiting} waiting for their campaign, "
        f"{finished} of half-written briefs."
    )


@dg.sensor(
    name="dispatch",
    minimum_interval_seconds=_TICK,
    default_status=dg.DefaultSensorStatus.RUNNING,
    # Campaigns have different partitions, which `target` does not take; each request names its own.
    asset_selection=dg.AssetSelection.all(),
    required_resource_keys=resources.WAVE_PORTS,
    description="Forms waves from due jobs, launches them, and takes back those of dead runs.",
)
def dispatch_sensor(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    """Ask for one run for each new wave, and again for each that never came to run."""
    shop = resources.shop(context.resources)
    dispatcher = Dispatcher(context.instance, shop, remembered(context.cursor))
    requests = dispatcher.tick(shop.clock.now())
    return dg.SensorResult(run_requests=requests, cursor=cursor_of(dispatcher.credits))


@dg.sensor(
    name="open_calls",
    minimum_interval_seconds=_SWEEP,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys=resources.WAVE_PORTS,
    description="Collects paid results that lost their owner; gives back jobs of ended waves.",
)
def open_calls_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Look after one slice of the sends without an owner; the cursor goes round."""
    shop = resources.shop(context.resources)
    returned = give_back_stranded(shop.ledger, now=shop.clock.now(), most=_SLICE)
    after, _, behind = (context.cursor or "").partition(" ")
    swept = sweep_calls(
        shop,
        after=datetime.fromisoformat(after) if after else None,
        behind=behind or None,
        most=_SLICE,
    )
    began = swept.after.isoformat() if swept.after else ""
    context.update_cursor(f"{began} {swept.behind or ''}".rstrip())
    return dg.SkipReason(f"{swept.sentence()} {returned} jobs of ended waves given back.")


@dg.sensor(
    name="queue_lines",
    minimum_interval_seconds=_LINES,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys=resources.WAVE_PORTS,
    description="Rebinds jobs whose campaign has come to name another credential.",
)
def queue_lines_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Look after jobs in lines that no loaded campaign serves."""
    shop = resources.shop(context.resources)
    now = shop.clock.now()
    found = rebind(shop.ledger, shop.catalogue, now=now, most=_SLICE, new_id=shop.new_wave_id)
    told = ", ".join(f"{count} {moved}" for moved, count in sorted(found.items()))
    return dg.SkipReason(f"Jobs in lines of nobody: {told or 'none'}.")


@dg.sensor(
    name="budgets",
    minimum_interval_seconds=_LINES,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={"ledger", "catalogue", "clock"},
    description="Gives back reservations whose makers died; proves the counters once a day (UTC).",
)
def budgets_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Let blocks lapse. A proof that found something moving is tried again by the next tick."""
    given = context.resources
    now = given.clock.now()
    said = [f"{expire(given.ledger, now=now, most=_SLICE)} reservations have lapsed."]
    if context.cursor != now.date().isoformat():
        customers = {one.config.customer for one in given.catalogue.campaigns().values()}
        looked = prove_all(given.ledger, customers, now=given.clock.now)
        said += [one.sentence() for one in looked if one.verdict is not Proof.PROVEN]
        for one in looked:
            if one.verdict is Proof.DIFFERS:
                _log.error("A budget does not add up. %s", one.sentence())
        if all(one.verdict is not Proof.MOVING for one in looked):
            context.update_cursor(now.date().isoformat())
    return dg.SkipReason(" ".join(said))


@dg.sensor(
    name="legal_holds",
    minimum_interval_seconds=_LINES,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={"ledger", "objects", "catalogue", "clock"},
    description="Honours legal holds that others tagged, and mends those that did not last.",
)
def legal_holds_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Look at the tags of one slice of the delivered files; the cursor goes round."""
    given = context.resources
    customers = {one.config.customer for one in given.catalogue.campaigns().values()}
    folders = sorted(f"{folder}{one}/" for folder in ids.FOLDERS for one in customers)
    after = context.cursor or ""
    keys: list[str] = []
    for folder in folders:
        if len(keys) < _FILES and folder + "\uffff" > after:
            keys += given.objects.keys(folder, after=after, most=_FILES - len(keys))
    context.update_cursor(keys[-1] if len(keys) == _FILES else "")
    mended = Holding(given.ledger, given.objects, given.clock).reconcile(keys)
    return dg.SkipReason(f"{len(keys)} files looked at, {mended} of them mended.")
