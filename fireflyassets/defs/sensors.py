# pyright: standard
"""Sensors: what the control plane watches.

Belongs here: a bounded slice of work each tick; the stages do it. Does not: decisions.
A tick that is killed anywhere leaves nothing that the next one does not find in the ledger.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import dagster as dg

from fireflyassets.core import errors, ids
from fireflyassets.defs import checks, names, resources, runs
from fireflyassets.limiter.errors import LimiterError
from fireflyassets.ports.catalogue import REASON_LIMIT
from fireflyassets.ports.entries import Wave
from fireflyassets.stages.budget_proof import Proof, prove_all
from fireflyassets.stages.budgeting import expire
from fireflyassets.stages.dispatch import give_back_stranded, set_aside, sweep
from fireflyassets.stages.forming import Batch, Lane, form, next_batches, shrink, wave_size
from fireflyassets.stages.queue import drain
from fireflyassets.stages.rebinding import lanes_of, rebind
from fireflyassets.wave.assembly import (
    Shop,
    contract_jobs_per_minute,
    jobs_per_minute,
    register,
)
from fireflyassets.wave.sweeping import sweep as sweep_calls

_log: Final = logging.getLogger("fireflyassets.budgets")
_TICK: Final = 5
"""Seconds; the daemon's own floor."""
_SWEEP: Final = 30
"""Seconds; a result's URL lives an hour, and ten minutes is what its collection may take."""
_SLICE: Final = 200
"""Open sends, stranded jobs, and jobs in lines of nobody, that one tick looks at."""
_LINES: Final = 300
"""Seconds; a look at all lines reads everything that is queued."""
_KEYS_LEASE: Final = timedelta(seconds=60)
"""A tick that takes longer is killed."""


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
        "settings",
        "clock",
    },
    description="Drains the job queue into the ledger; deletes only what is durable.",
)
def job_queue_sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Drain a slice of the queue; the dispatch sensor starts the runs."""
    given = context.resources
    settings, intake = given.settings, resources.intake(given)
    drained = drain(
        given.job_queue, intake, most=settings.queue_slice, senders=settings.queue_senders
    )
    return dg.SkipReason(
        f"{drained.recorded} new jobs, {drained.repeated} known, {drained.wakes} wake-ups, "
        f"{drained.quarantined} quarantined, {drained.waiting} waiting for their campaign."
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


class Dispatcher:
    """Turns due jobs into run requests; partition keys are added just before."""

    def __init__(self, instance: dg.DagsterInstance, shop: Shop) -> None:
        self.instance = instance
        self.shop = shop
        self.name = shop.new_wave_id()
        """No other dispatcher's: what it holds leases by."""

    def tick(self, now: datetime) -> list[dg.RunRequest]:
        """Sweep, then form the next waves; return the runs to ask for."""
        shop = self.shop
        look = partial(runs.state, self.instance, now=now)
        swept = sweep(shop.ledger, now=now, look=look)
        requests: list[dg.RunRequest | None] = []
        for wave in swept.to_launch:
            with self._keys_of(wave.customer, wave.campaign, now) as ours:
                requests.append(self._launch(wave, now) if ours else None)
        lanes = sorted(lanes_of(shop.catalogue), key=lambda lane: (lane.customer, lane.credential))
        batches = next_batches(
            shop.ledger,
            lanes,
            waves_per_lane=shop.settings.runs_per_tenant,
            size=self._size,
            now=now,
        )
        for batch in batches:
            with self._keys_of(batch.lane.customer, batch.campaign, now) as ours:
                wave = self._form(batch, now) if ours else None
                requests.append(self._launch(wave, now) if wave else None)
        return [one for one in requests if one]

    def _size(self, lane: Lane) -> int:
        """Return the wave size that suits every campaign of a lane."""
        shop = self.shop
        credential = shop.catalogue.credential(lane.credential, customer=lane.customer)
        register(shop, credential.organisation)
        mine = [
            one
            for one in shop.catalogue.campaigns().values()
            if Lane(one.config.credential, one.config.customer) == lane
        ]
        try:
            rates = [jobs_per_minute(shop, one, credential.organisation) for one in mine]
        except LimiterError:
            rates = [
                contract_jobs_per_minute(shop.limits, one, credential.organisation) for one in mine
            ]
        return wave_size(
            most=shop.settings.wave_jobs,
            horizon=shop.settings.wave_horizon,
            jobs_per_minute=min(rates),
        )

    def _form(self, batch: Batch, now: datetime) -> Wave | None:
        return form(self.shop.ledger, batch, wave_id=self.shop.new_wave_id(), now=now)

    @contextmanager
    def _keys_of(self, customer: str, campaign: str, now: datetime) -> Iterator[bool]:
        """Be the one who moves the campaign's keys; False while another is: a later tick goes on.

        Two dispatchers that add keys side by side would each find the other's within its slice.
        """
        ledger, until = self.shop.ledger, now + _KEYS_LEASE
        ours = ledger.lease_keys(customer, campaign, self.name, until=until, now=now)
        try:
            yield ours
        finally:
            if ours:
                ledger.free_keys(customer, campaign, self.name)

    def _launch(self, wave: Wave, now: datetime) -> dg.RunRequest | None:
        """Put exactly the wave's keys last, as one slice, and ask for a run on that slice."""
        if trouble := self._trouble(wave):
            set_aside(self.shop.ledger, wave, trouble, now=now)
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
            asset_check_keys=self._checks(wave),
            tags={
                names.WAVE_TAG: wave.wave_id,
                names.CUSTOMER_TAG: wave.customer,
                names.CAMPAIGN_TAG: wave.campaign,
                names.JOBS_TAG: str(len(keys)),
                names.RANGE_START_TAG: keys[0],
                names.RANGE_END_TAG: keys[-1],
            },
        )

    def _checks(self, wave: Wave) -> list[dg.AssetCheckKey]:
        """Return the checks of a wave's run: what is not evaluated is not planned either."""
        keys = self.instance.get_dynamic_partitions(
            ids.partitions_name(wave.customer, wave.campaign)
        )
        few = len(keys) <= self.shop.settings.partitioned_checks_up_to
        return checks.keys(wave.customer, wave.campaign, partitioned=few)

    def _trouble(self, wave: Wave) -> str | None:
        """Return why a run of the wave can't work, as far as that shows from here."""
        catalogue = self.shop.catalogue
        # A request for assets that are not in the location fails the tick for everybody.
        if fault := catalogue.fault(f"{wave.customer}/{wave.campaign}"):
            return f"its campaign is not loaded: {fault}"[:REASON_LIMIT].removesuffix(".")
        try:
            catalogue.credential(wave.credential, customer=wave.customer)
        except errors.UnusableConfiguration as fault:
            return str(fault).removesuffix(".")
        return None

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
