"""The loop of a wave: lease, window, one turn for each job, one boundary around each turn.

Belongs here: when jobs start and how the wave ends. Does not: a job's steps (``job.py``).
"""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.job import FACTORY, Hold, JobRow
from fireflyassets.core.recipe_step import OnFailure
from fireflyassets.core.status import Status
from fireflyassets.fence.call import Lease
from fireflyassets.fence.resolving import look_again
from fireflyassets.ports.clock import Offload
from fireflyassets.ports.entries import Claim, Ending, Release, Wave
from fireflyassets.ports.trace import traced
from fireflyassets.stages.bench import UNTOUCHED, JobInHand, Tools, cost_so_far, read_request
from fireflyassets.stages.pinning import Pins
from fireflyassets.wave import counting, endings
from fireflyassets.wave.job import JobRun, all_ended
from fireflyassets.wave.reports import Ended, Report, Skipped, Turn
from fireflyassets.wave.share import LOOK, FirstTickets, Share, wait_for_turn
from fireflyassets.wave.wishes import Wishes

_log: Final = logging.getLogger("fireflyassets.wave")
OVERHEAD: Final = timedelta(seconds=5)  # A job's time beside its remote calls: transfers, writes.
UNREAD: Final = 500  # Reports that may wait for a slow reader before another job begins.
PATIENCE: Final = timedelta(minutes=2)  # For telling a turn's end; then a sweep sees to it.


@dataclass(frozen=True, slots=True)
class WaveRules:
    """The times and rates that a wave obeys."""

    lease: timedelta
    park_after: timedelta
    jobs_per_second: float
    """What the limiting API family lets through of this recipe."""


@dataclass(slots=True)
class WaveEngine:
    """Works on one wave's jobs until each turn has ended. Used by one event loop, once."""

    wave: Wave
    run_id: str
    tools: Tools
    lease: Lease
    rules: WaveRules
    report: Callable[[Report], None]
    first_tickets: FirstTickets
    share: Share
    wishes: Wishes
    pins: Pins
    """What the jobs were priced by."""
    beat: Offload
    """The heartbeat's own."""
    settle: Offload
    """Goes on for a while where the ledger does not answer."""
    unread: Callable[[], int] = lambda: 0
    """How many reports wait for their reader."""
    active: int = 0
    """Jobs in flight now."""
    _freed: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Work on every job whose row names this wave; report each turn."""
        beside = [
            asyncio.create_task(work)
            for work in (
                self._heartbeat(),
                self._keep_share(),
                self.wishes.hear(self.rules.lease / 4),
                self._park_in_time(),
                self._say_draining(),
            )
        ]
        try:
            rows = await self._mine()
            self.first_tickets.wanted = len(rows)
            self.wishes.begin(rows)
            waves = partial(self.settle, self.tools.ledger.open_waves)
            await wait_for_turn(self.wave, waves, lease=self.lease, clock=self.tools.clock)
            await self._count_share()
            await self._work(rows)
        finally:
            for task in beside:
                task.cancel()
        try:
            await self.settle(self.tools.ledger.end, self.wave.wave_id)
        except errors.StoreUnavailable:
            # Its lease runs out; a sweep finds the wave then, and only what is left of it.
            _log.exception("wave %s: its end could not be written", self.wave.wave_id)

    def stop(self) -> None:
        """Let nothing new begin and nobody wait; every job is given back once its ids are stored.

        An accepted job that still works is left with its id: its next wave, or the sweep, asks.
        """
        self.lease.closed.set()

    async def _mine(self) -> list[JobRow]:
        found = await self.settle(self.tools.ledger.jobs, self.wave.customer, self.wave.jobs)
        mine: list[JobRow] = []
        for job_id in self.wave.jobs:
            row = found.get(job_id)
            if row is None or row.wave != self.wave.wave_id:
                self.report(Skipped(job_id, "its row does not name this wave"))
            else:
                mine.append(row)
        return mine

    async def _work(self, rows: Sequence[JobRow]) -> None:
        turns: list[asyncio.Task[None]] = []
        for row in rows:
            await self._room()
            self.active += 1
            self.first_tickets.begun += 1
            turns.append(asyncio.create_task(self._turn(row)))
        # A turn that crashes stops the wave, but every answer that is out is heard and stored.
        await all_ended(turns)

    async def _room(self) -> None:
        """Return once another job may begin: few are in flight, and what they told is read."""
        while not self.lease.closing:
            if self.unread() >= UNREAD:
                await self.lease.unless_closed(self.tools.clock.sleep(LOOK))
            elif self.active >= self._window():
                self._freed.clear()
                await self._freed.wait()
            else:
                return

    def _window(self) -> int:
        """Return how many jobs may be in flight: what the rate uses in a job's remote time."""
        known = self.tools.fence.collector.latencies.values()
        remote = sum((one.quantile(1.645) for one in known), OVERHEAD)
        if not known:
            remote = timedelta(minutes=1)
        return max(1, math.ceil(self.rules.jobs_per_second * remote.total_seconds() * 1.2))

    async def _turn(self, row: JobRow) -> None:
        try:
            with traced(job=row.job_id):
                ended = await self._one(row)
        except BaseException:
            self.stop()
            raise
        finally:
            del self.wishes.jobs[row.job_id]
            self.active -= 1
            self._freed.set()
        self.first_tickets.note(row.job_id)
        counting.turn_ended(self.tools.tally, row, ended, now=self.tools.clock.now())
        self.report(ended)

    async def _one(self, row: JobRow) -> Ended:
        try:
            return await self._taken(row)
        except errors.StoreUnavailable as outage:
            # It stays running under this wave: once that has ended, the sweep gives it back.
            _log.exception("job %s: how its turn ended could not be written", row.job_id)
            return Ended(row.job_id, Turn.LOST, row.status, str(outage))

    async def _taken(self, row: JobRow) -> Ended:
        claim = Claim.standing(row)
        try:
            move = await self._move(row, claim)
            return await self._close(row, claim, move)
        except errors.OwnershipLost as lost:
            return await self._let_go(row, claim, lost)

    async def _let_go(self, row: JobRow, claim: Claim, lost: errors.OwnershipLost) -> Ended:
        """Give the job back if its row still names this wave: nobody else would look for it."""
        tools, now = self.tools, self.tools.clock.now()
        release = Release(str(lost), not_before=now)
        try:
            await self.settle(tools.ledger.release, claim, release, now=now)
        except errors.OwnershipLost:
            return Ended(row.job_id, Turn.LOST, row.status, str(lost))
        return Ended(row.job_id, Turn.PARKED, row.status, str(lost))

    async def _move(self, row: JobRow, claim: Claim) -> Ending | Release:
        """Run the job and return how its turn ends: the one boundary around everything it does."""
        clock = self.tools.clock
        try:
            if self.lease.closing or self.wishes.jobs[row.job_id].is_set():
                return Release("The wave stopped before the job began.", not_before=clock.now())
            return await self._run_job(row, claim)
        except errors.OwnershipLost:
            raise
        except errors.JobDelayed as trouble:
            return endings.delayed(trouble, now=clock.now())
        except errors.StoreUnavailable as outage:
            return Release(str(outage), not_before=clock.now() + endings.STORE_PARK)
        except Exception as bug:  # noqa: BLE001 - the per-job boundary.
            # Whatever it is, it must not take the other jobs of the wave with it, and nothing
            # more may be spent on this one until somebody has looked.
            _log.exception("job %s: held after an unexpected error", row.job_id)
            reason = f"An unexpected error ({type(bug).__name__}); see the wave's log."
            return Release(reason, hold=Hold(reason, clock.now(), FACTORY))

    async def _run_job(self, row: JobRow, claim: Claim) -> Ending | Release:
        tools, campaign = self.tools, self.tools.campaign
        try:
            job = await self._take_up(row, claim)
            deliveries, cost = await JobRun(tools, job, self.report).go()
            now = tools.clock.now()
            return endings.succeeded(row, deliveries, cost=cost, campaign=campaign, now=now)
        except errors.JobFailed as failed:
            trouble = failed
        cost = await cost_so_far(tools, row.job_id)
        wish, now = self._wish(trouble.step), tools.clock.now()
        return endings.troubled(trouble, wish, cost=cost, campaign=campaign, now=now)

    def _wish(self, step: str | None) -> OnFailure | None:
        name = (step or "").split(".")[0]
        steps = self.tools.campaign.config.recipe.steps
        return next((one.on_failure for one in steps if one.name == name), None)

    async def _take_up(self, row: JobRow, claim: Claim) -> JobInHand:
        tools = self.tools
        # The first claim of a job has epoch 1 and no history: the read is saved.
        fresh = row.epoch == 1
        history = UNTOUCHED if fresh else await tools.offload(tools.ledger.history, row.job_id)
        counting.turn_begun(tools.tally, row)
        request = await read_request(tools, row)
        card = await tools.transfer(self.pins.card, row)
        return JobInHand(row, request, history, claim, card, self.wishes.jobs[row.job_id])

    async def _close(self, row: JobRow, claim: Claim, move: Ending | Release) -> Ended:
        tools, job_id = self.tools, row.job_id
        if isinstance(move, Ending):
            ending = replace(move, run_id=self.run_id)
            await self._finish(claim, ending)
            good = not move.reason
            return Ended(job_id, Turn.SUCCEEDED if good else Turn.FAILED, move.status, move.reason)
        now = tools.clock.now()
        status = await self.settle(tools.ledger.release, claim, move, now=now)
        if status is Status.CANCELLED:
            await self.settle(look_again, tools.ledger, job_id, now=now)  # It has cost by now.
            return Ended(job_id, Turn.FAILED, status, f"Cancelled as asked. {move.reason}")
        turn = Turn.HELD if move.hold else Turn.PARKED
        return Ended(job_id, turn, row.status, move.reason)

    async def _finish(self, claim: Claim, ending: Ending) -> None:
        """Write the end; where an outage swallowed the answer, the row shows that it is written."""
        ledger = self.tools.ledger
        try:
            await self.settle(ledger.finish, claim, ending)
        except errors.OwnershipLost:
            row = await self.settle(ledger.job, claim.job_id)
            if row is None or (row.epoch, row.status) != (claim.epoch, ending.status):
                raise

    async def _heartbeat(self) -> None:
        """Renew the lease at a quarter of its life; losing it lets nothing more be sent."""
        tools = self.tools
        while True:
            await tools.clock.sleep(self.rules.lease / 4)
            until = tools.clock.now() + self.rules.lease
            renew = partial(tools.ledger.heartbeat, self.wave.wave_id, self.run_id)
            try:
                ours = await self.beat(renew, lease_until=until)
            except Exception:  # noqa: BLE001 - whatever it is, the lease lasts for three more beats.
                _log.exception("wave %s: a heartbeat failed", self.wave.wave_id)
                continue
            if not ours:
                self.lease.until = tools.clock.now()
                return
            self.lease.until = until

    async def _keep_share(self) -> None:
        """Count the tenant's waves at each heartbeat; beside it, so that no lease hangs on that."""
        while True:
            await self.tools.clock.sleep(self.rules.lease / 4)
            await self._count_share()

    async def _count_share(self) -> None:
        try:
            await self.tools.offload(self.share.count)
        except errors.StoreUnavailable as outage:
            _log.warning("wave %s: its share stays as it was. %s", self.wave.wave_id, outage)

    async def _park_in_time(self) -> None:
        """Give back what is left before the run's longest time is over."""
        await self.tools.clock.sleep(self.rules.park_after)
        self.stop()

    async def _say_draining(self) -> None:
        """Tell the tenant's next wave that it may begin to take tickets."""
        await self.first_tickets.all_had.wait()
        await self.settle(self.tools.ledger.draining, self.wave.wave_id)
