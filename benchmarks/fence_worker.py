"""The bare wave processes of the fence's bench: they claim, run and take over without Dagster.

Belongs here: what the dispatch tick and a run do, for one customer, in one loop. Does not: any
hook for the bench, which kills them from outside. ``load`` records jobs and ends.
"""

import argparse
import os
import signal
import sys
import time
from functools import partial

import psutil

from fireflyassets import composition
from fireflyassets.core.brief import Row
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.request import RawRequest
from fireflyassets.ports.entries import Wave
from fireflyassets.stages.dispatch import RunState, give_back_stranded, sweep
from fireflyassets.stages.forming import Lane, form, next_batch
from fireflyassets.stages.intake import Intake
from fireflyassets.wave.assembly import Shop
from fireflyassets.wave.beginning import begin
from fireflyassets.wave.sweeping import sweep as sweep_calls
from fireflyassets.wave.thread import WaveThread

CAMPAIGN = "bench"
IDLE_SECONDS = 0.5
COLLECT_EVERY_SECONDS = 20.0
SLICE = 100


def main() -> int:
    """Load a customer's jobs, or work for it until somebody ends the process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("load", "nest"))
    parser.add_argument("customer")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--lease-only", action="store_true")
    said = parser.parse_args()
    if said.what == "load":
        load(said.customer, said.first, said.jobs)
        return 0
    nest(said.customer, lease_only=said.lease_only)
    return 0


def nest(customer: str, *, lease_only: bool) -> None:
    """Fork a worker for each line that comes in, and say its id: what is imported is shared.

    Nothing is made before the fork: no client, no thread, no socket.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The kernel buries the dead.
    collected_at = -COLLECT_EVERY_SECONDS
    for _ in sys.stdin:
        # Not each of the short lives begins with a sweep: the sensor ticks by the clock too.
        collects = time.monotonic() - collected_at >= COLLECT_EVERY_SECONDS
        collected_at = time.monotonic() if collects else collected_at
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            Worker(customer, lease_only=lease_only, collects=collects).run()
        print(f"worker {pid}", flush=True)


def load(customer: str, first: int, count: int) -> None:
    """Record *count* jobs, each with a prompt of its own."""
    made = composition.factory()
    intake = Intake(
        made.ledger, made.objects, made.queue, made.catalogue, made.clock, made.guardrail
    )
    aspects = made.catalogue.campaign(customer, CAMPAIGN).config.aspects
    rows = [
        Row(None, RawRequest(f"{n:05d}", prompt(customer, n), "en-GB", f"No {n}", aspects))
        for n in range(first, first + count)
    ]
    for start in range(0, count, SLICE):
        part = rows[start : start + SLICE]
        intake.accept(part, customer=customer, campaign=CAMPAIGN, wake=False)


def prompt(customer: str, n: int) -> str:
    """Return the prompt of a customer's n-th job; no two are alike."""
    return f"bottle {n} of {customer}"


class Worker:
    """One customer's dispatcher and wave process in one."""

    def __init__(self, customer: str, *, lease_only: bool, collects: bool) -> None:
        made = composition.factory()
        self.shop = Shop(
            ledger=made.ledger,
            objects=made.objects,
            catalogue=made.catalogue,
            limiter=made.limiter,
            adobe=made.adobe,
            pictures=made.pictures,
            settings=made.settings,
            clock=made.clock,
            limits=made.catalogue.limits_for,
            chance=composition.chance,
            new_wave_id=partial(composition.new_wave_id, made.clock),
            lanes=composition.lanes(),
        )
        campaign: Campaign = made.catalogue.campaign(customer, CAMPAIGN)
        self.lane = Lane(campaign.config.credential, customer)
        self.lease_only = lease_only
        started = psutil.Process().create_time()
        self.run_id = f"bare:{os.getpid()}:{started}"
        self.collected_at = time.monotonic() - (COLLECT_EVERY_SECONDS if collects else 0.0)

    def run(self) -> None:
        """Work for ever."""
        while True:
            self.look_after()
            wave = self.next_wave()
            if wave is None:
                time.sleep(IDLE_SECONDS)  # noqa: TID251 - a real process waits for work.
                continue
            print(f"wave {wave.wave_id} {self.run_id}", flush=True)
            for _ in WaveThread(self.shop, wave, self.run_id).reports():
                pass

    def look_after(self) -> None:
        """Do what the sensors do between waves."""
        shop, now = self.shop, self.shop.clock.now()
        sweep(shop.ledger, now=now, look=self.look)
        if time.monotonic() - self.collected_at >= COLLECT_EVERY_SECONDS:
            give_back_stranded(shop.ledger, now=now, most=SLICE)
            sweep_calls(shop, after=None, behind=None, most=SLICE)
            self.collected_at = time.monotonic()

    def look(self, wave: Wave) -> RunState:
        """Say whether the wave's process runs, as the instance does of its runs."""
        if wave.customer != self.lane.customer:
            return RunState.ALIVE  # Another worker's to look after.
        if self.lease_only or wave.run_id is None or not wave.run_id.startswith("bare:"):
            return RunState.UNSEEN
        _, pid, started = wave.run_id.split(":")
        try:
            alive = psutil.Process(int(pid)).create_time() == float(started)
        except psutil.NoSuchProcess:
            alive = False
        return RunState.ALIVE if alive else RunState.DIED

    def next_wave(self) -> Wave | None:
        """Form and start the customer's next wave."""
        shop, now = self.shop, self.shop.clock.now()
        mine = [one for one in shop.ledger.open_waves() if one.customer == self.lane.customer]
        if len(mine) >= shop.settings.runs_per_tenant:
            return None
        most = shop.settings.wave_jobs
        batch = next_batch(shop.ledger, self.lane, CAMPAIGN, most=most, now=now)
        wave_id = shop.new_wave_id()
        if batch is None or form(shop.ledger, batch, wave_id=wave_id, now=now) is None:
            return None
        shop.ledger.launched(wave_id)
        return begin(shop.ledger, wave_id, self.run_id, settings=shop.settings, now=now)


if __name__ == "__main__":
    sys.exit(main())
