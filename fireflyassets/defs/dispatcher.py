# pyright: standard
"""The dispatcher: from due jobs to run requests, one tick at a time.

Belongs here: partition keys, run requests, and how many runs the instance has room for. Does not:
whose turn it is (``stages/turns.py``), claims (``stages/forming.py``).
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import dagster as dg

from fireflyassets.core import errors, ids
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.round_robin import Credits
from fireflyassets.defs import checks, names, runs
from fireflyassets.limiter.errors import LimiterError
from fireflyassets.ports.catalogue import REASON_LIMIT
from fireflyassets.ports.entries import Wave
from fireflyassets.stages.dispatch import set_aside, sweep
from fireflyassets.stages.forming import Batch, Lane, form, shrink
from fireflyassets.stages.turns import Caps, Line, Turns
from fireflyassets.wave.assembly import (
    Shop,
    contract_jobs_per_minute,
    jobs_per_minute,
    register,
)

_KEYS_LEASE: Final = timedelta(seconds=60)
"""A tick that takes longer is killed."""


class Dispatcher:
    """Turns due jobs into run requests; partition keys are added just before."""

    def __init__(
        self, instance: dg.DagsterInstance, shop: Shop, remembered: Credits | None = None
    ) -> None:
        self.instance = instance
        self.shop = shop
        self.credits = remembered or Credits()
        """Whose turn is next; the following tick goes on with it."""
        self._registered: set[str] = set()
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
        return [one for one in [*requests, *self._next_waves(now)] if one]

    def _next_waves(self, now: datetime) -> Iterator[dg.RunRequest]:
        """Form waves, each in its turn, while the instance has room for their runs."""
        shop, settings = self.shop, self.shop.settings
        caps = Caps(
            per_lane=settings.runs_per_tenant,
            per_credential=settings.runs_per_credential,
            jobs=settings.wave_jobs,
            horizon=settings.wave_horizon,
        )
        turns = Turns(shop.ledger, self._lines(), caps=caps, remembered=self.credits, now=now)
        room = runs.room(self.instance, waves=turns.waves)
        while room > 0 and (turn := turns.next()):
            line, batch = turn
            with self._keys_of(batch.lane.customer, batch.campaign, now) as ours:
                wave = self._form(batch, now) if ours else None
                request = self._launch(wave, now) if wave else None
            if wave is None or request is None:
                turns.passed(line)
                continue
            turns.took(line, len(wave.jobs))
            room -= 1
            yield request
        self.credits = turns.credits

    def _lines(self) -> Iterator[Line]:
        """Yield the lines of loaded campaigns whose credential can be used."""
        for _, campaign in sorted(self.shop.catalogue.campaigns().items()):
            config = campaign.config
            try:
                credential = self.shop.catalogue.credential(
                    config.credential, customer=config.customer
                )
            except errors.UnusableConfiguration:
                continue  # Its jobs wait.
            yield Line(
                lane=Lane(config.credential, config.customer),
                campaign=config.campaign,
                organisation=credential.organisation,
                jobs_per_minute=self._pace(campaign, credential.organisation),
                weight=credential.weight_of(config.customer),
                priority=config.priority,
                deadline=config.deadline,
            )

    def _pace(self, campaign: Campaign, organisation: str) -> float:
        shop = self.shop
        if organisation not in self._registered:
            register(shop, organisation)
            self._registered.add(organisation)
        try:
            return jobs_per_minute(shop, campaign, organisation)
        except LimiterError:
            return contract_jobs_per_minute(shop.limits, campaign, organisation)

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
        keys, among = self._keys(wave)
        few = among <= self.shop.settings.partitioned_checks_up_to
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
            # What is not evaluated is not planned either.
            asset_check_keys=checks.keys(wave.customer, wave.campaign, partitioned=few),
            tags={
                names.WAVE_TAG: wave.wave_id,
                names.CUSTOMER_TAG: wave.customer,
                names.CAMPAIGN_TAG: wave.campaign,
                names.JOBS_TAG: str(len(keys)),
                names.RANGE_START_TAG: keys[0],
                names.RANGE_END_TAG: keys[-1],
            },
        )

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

    def _keys(self, wave: Wave) -> tuple[list[str], int]:
        """Re-add the wave's keys at the end of the set.

        Return those that stand there in a row, and how many keys the set has.
        """
        name = ids.partitions_name(wave.customer, wave.campaign)
        known = set(self.instance.get_dynamic_partitions(name))
        for job_id in wave.jobs:
            if job_id in known:
                # History and status of a key survive this; only its place in the set moves.
                self.instance.delete_dynamic_partition(name, job_id)
        self.instance.add_dynamic_partitions(name, list(wave.jobs))
        everything = self.instance.get_dynamic_partitions(name)
        there = list(everything[-len(wave.jobs) :])
        return there if set(there) == set(wave.jobs) else [], len(everything)


def remembered(cursor: str | None) -> Credits:
    """Return the credits of a sensor's cursor; one that is lost forgets debts and nothing else."""
    said = json.loads(cursor) if cursor else {}
    return Credits(said.get("left", {}), said.get("last", ""))


def cursor_of(credits_: Credits) -> str:
    """Return the cursor that keeps credits."""
    return json.dumps({"left": dict(credits_.left), "last": credits_.last})
