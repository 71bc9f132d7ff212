"""A wave's loop in a thread of its own, so that whoever reads its reports never stops it.

Belongs here: the bridge from the loop to a plain iterator. Does not: Dagster, which is one reader.
"""

import asyncio
import logging
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from fireflyassets.core import errors
from fireflyassets.ports.entries import Wave
from fireflyassets.ports.trace import traced
from fireflyassets.stages.dispatch import set_aside
from fireflyassets.stages.pinning import pinned
from fireflyassets.wave.assembly import Shop, assemble, register
from fireflyassets.wave.engine import WaveEngine
from fireflyassets.wave.reports import Report, Skipped

_log: Final = logging.getLogger("fireflyassets.wave")


@dataclass(frozen=True, slots=True)
class _Over:
    """The end of the reports; carries what crashed the loop, if anything did."""

    crash: BaseException | None


@dataclass(slots=True)
class WaveThread:
    """Runs one started wave."""

    shop: Shop
    wave: Wave
    run_id: str
    _reports: queue.SimpleQueue[Report | _Over] = field(
        default_factory=queue.SimpleQueue[Report | _Over]
    )
    _loop: asyncio.AbstractEventLoop | None = None
    _engine: WaveEngine | None = None

    def reports(self) -> Iterator[Report]:
        """Yield the wave's reports; leaving early stops it and waits until its ids are stored."""
        thread = threading.Thread(target=self._run, name=self.wave.wave_id, daemon=True)
        thread.start()
        try:
            while not isinstance(report := self._reports.get(), _Over):
                yield report
            if report.crash is not None:
                raise report.crash
        finally:
            self._stop()
            thread.join()

    def _stop(self) -> None:
        if self._loop is not None and self._engine is not None:
            try:
                self._loop.call_soon_threadsafe(self._engine.stop)
            except RuntimeError:
                _log.debug("wave %s: its loop had ended already", self.wave.wave_id)

    def _run(self) -> None:
        crash: BaseException | None = None
        try:
            with traced(run=self.run_id, customer=self.wave.customer, campaign=self.wave.campaign):
                asyncio.run(self._begin())
        except BaseException as error:  # noqa: BLE001 - the drain must end whatever happens here.
            crash = error
        finally:
            self._reports.put(_Over(crash))

    async def _begin(self) -> None:
        """Work on the wave, or give it back where its configuration does not let it begin.

        Refused is not crashed, nor is a secret or a bucket that can't be read now: no job was
        tried.
        """
        shop, wave = self.shop, self.wave
        try:
            await self._work()
        except (errors.Refused, errors.SecretUnreachable, errors.StoreUnavailable) as refusal:
            if isinstance(refusal, errors.StoreUnavailable) and self._engine is not None:
                raise
            why = f"its wave can't begin: {refusal}".removesuffix(".")
            await shop.lanes.ledger(set_aside, shop.ledger, wave, why, now=shop.clock.now())
            for job_id in wave.jobs:
                self._reports.put(Skipped(job_id, why))

    async def _work(self) -> None:
        shop, wave = self.shop, self.wave
        campaign = pinned(shop.objects, wave.customer, wave.campaign, wave.campaign_version)
        credential = shop.catalogue.credential(wave.credential, customer=wave.customer)
        register(shop, credential.organisation)
        async with shop.adobe.open(credential) as services:
            self._loop = asyncio.get_running_loop()
            self._engine = assemble(
                shop,
                wave,
                self.run_id,
                campaign=campaign,
                credential=credential,
                services=services,
                report=self._reports.put,
            )
            self._engine.unread = self._reports.qsize
            await self._engine.run()
