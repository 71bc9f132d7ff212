# pyright: standard
"""Sensors: what the control plane watches.

Belongs here: a bounded slice of work each tick; the stages do it. Does not: decisions.
A tick that is killed anywhere leaves nothing that the next one does not find in the ledger.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import dagster as dg

from fireflyassets.core import errors, ids
from fireflyassets.core.campaign import Campaign
from fireflyassets.defs import names, resources
from fireflyassets.ports.entries import Claim, Wave
from fireflyassets.stages.dispatch import (
    Batch,
    Lane,
    form,
    give_back_stranded,
    next_batches,
    set_aside,
    shrink,
    sweep,
    wave_size,
)
from fireflyassets.stages.intake import Intake
from fireflyassets.stages.queue import drain
from fireflyassets.wave.assembly import Shop, jobs_per_minute, register
from fireflyassets.wave.sweeping import sweep as sweep_calls

_TICK: Final = 5
"""Seconds; the daemon's own floor."""
_SWEEP: Final = 30
"""Seconds; a result's URL lives an hour, and ten minutes is what its collection may take."""
_SLICE: Final = 200
"""Open sends, and stranded jobs, that one tick looks at."""


@dg.sensor(
    name="job_queue",
    minimum_interval_seconds=_TICK,
    default_status=dg.DefaultSensorStatus.RUNNING,
    required_resource_keys={"ledger", "objects", "job_queue", "catalogue", "settings", "clock"},
    description="Drains the job queue into the ledger; deletes only what is durable.",
)
def job_queue_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Drain a slice of the queue; the dispatch sensor starts the runs."""
    given = context.resources
    intake = Intake(given.ledger, given.objects, given.job_queue, given.catalogue, given.clock)
    settings = given.settings
    drained = drain(
        given.job_queue, intake, most=settings.queue_slice, senders=settings.queue_senders
    )
    return dg.SkipReason(
        f"{drained.recorded} new jobs, {drained.repeated} known, {drained.wakes} wake-ups, "
        f"{drained.quarantined} quarantined."
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
    requests = Dispatcher(context.instance, shop).tick(shop.clock.now())
    return dg.SensorResult(run_requests=requests)


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
    after = datetime.fromisoformat(context.cursor) if context.cursor else None
    swept = sweep_calls(shop, after=after, most=_SLICE)
    context.update_cursor(swept.after.isoformat() if swept.after else "")
    return dg.SkipReason(f"{swept.sentence()} {returned} jobs of ended waves given back.")


class Dispatcher:
    """Turns due jobs into run requests; partition keys are added just before."""

    def __init__(self, instance: dg.DagsterInstance, shop: Shop) -> None:
        self.instance = instance
        self.shop = shop

    def tick(self, now: datetime) -> list[dg.RunRequest]:
        """Sweep, then form the next waves; return the runs to ask for."""
        shop = self.shop
        swept = sweep(shop.ledger, now=now, run_is_alive=self._run_is_alive)
        requests = [self._launch(wave, now) for wave in swept.to_launch]
        campaigns = {one.slug: one for one in shop.catalogue.campaigns().values()}
        lanes = {Lane(one.config.credential, one.config.customer) for one in campaigns.values()}
        batches = next_batches(
            shop.ledger,
            sorted(lanes, key=lambda lane: (lane.customer, lane.credential)),
            waves_per_lane=shop.settings.runs_per_tenant,
            size=lambda lane: self._size(lane, list(campaigns.values())),
            now=now,
        )
        for batch in batches:
            wave = self._form(batch, now)
            if wave is not None:
                requests.append(self._launch(wave, now))
        return [one for one in requests if one]

    def _size(self, lane: Lane, campaigns: Sequence[Campaign]) -> int:
        """Return the wave size that suits every campaign of a lane."""
        shop = self.shop
        credential = shop.catalogue.credential(lane.credential, customer=lane.customer)
        register(shop, credential.organisation)
        rates = [
            jobs_per_minute(shop, one, credential.organisation)
            for one in campaigns
            if Lane(one.config.credential, one.config.customer) == lane
        ]
        return wave_size(
            most=shop.settings.wave_jobs,
            horizon=shop.settings.wave_horizon,
            jobs_per_minute=min(rates),
        )

    def _form(self, batch: Batch, now: datetime) -> Wave | None:
        wave_id = self.shop.new_wave_id()

        def claiming(job_id: str) -> Claim | None:
            return self.shop.ledger.claim(job_id, batch.lane.customer, wave_id, now=now)

        return form(self.shop.ledger, batch, wave_id=wave_id, now=now, claiming=claiming)

    def _launch(self, wave: Wave, now: datetime) -> dg.RunRequest | None:
        """Put exactly the wave's keys last, as one slice, and ask for a run on that slice."""
        if f"{wave.customer}/{wave.campaign}" not in self.shop.catalogue.campaigns():
            # A request for assets that are not in the location fails the tick for everybody.
            set_aside(self.shop.ledger, wave, "its campaign is not loaded", now=now)
            return None
        keys = self._keys(wave)
        try:
            if set(keys) != set(wave.jobs):
                shrink(self.shop.ledger, wave, keys, now=now)
            if not keys:
                return None
            launch = self.shop.ledger.launched(wave.wave_id)
        except errors.OwnershipLost:
            return None  # It runs or has ended meanwhile: whoever did that has its jobs.
        return dg.RunRequest(
            run_key=f"{wave.wave_id}#{launch}",
            asset_selection=names.wave_assets(wave.customer, wave.campaign),
            tags={
                names.WAVE_TAG: wave.wave_id,
                names.CUSTOMER_TAG: wave.customer,
                names.CAMPAIGN_TAG: wave.campaign,
                names.JOBS_TAG: str(len(keys)),
                names.RANGE_START_TAG: keys[0],
                names.RANGE_END_TAG: keys[-1],
            },
        )

    def _keys(self, wave: Wave) -> list[str]:
        """Re-add the wave's keys at the end of the set; return those that stand there in a row."""
        name = ids.partitions_name(wave.customer, wave.campaign)
        known = set(self.instance.get_dynamic_partitions(name))
        for job_id in wave.jobs:
            if job_id in known:
                # History and status of a key survive this; only its place in the set moves.
                self.instance.delete_dynamic_partition(name, job_id)
        self.instance.add_dynamic_partitions(name, list(wave.jobs))
        there = list(self.instance.get_dynamic_partitions(name))[-len(wave.jobs) :]
        return there if set(there) == set(wave.jobs) else []

    def _run_is_alive(self, wave: Wave) -> bool | None:
        """Ask the instance for the wave's runs; None where it knows none."""
        runs = self.instance.get_runs(dg.RunsFilter(tags={names.WAVE_TAG: wave.wave_id}))
        if not runs:
            return None
        return any(not run.is_finished for run in runs)
