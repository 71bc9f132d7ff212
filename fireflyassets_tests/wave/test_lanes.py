"""Threads of a wave, for real: what fills the transfers keeps neither lease nor money waiting."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from threading import Event, Semaphore, current_thread

from fireflyassets.adapters import threads
from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.failure import Family
from fireflyassets.core.status import Status
from fireflyassets.limiter.limits import Limits
from fireflyassets.ports.entries import AttemptState
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor

JOBS = 4 * threads.TRANSFERS
"""So many that ids are still to come when all transfers are stuck."""
VENDORS_OWN = "MainThread"
"""Where the fake Photoshop writes from."""
PATIENCE = timedelta(seconds=30)


class Dammed(MemoryObjects):
    """A store that takes no picture until it is *open*; *stuck* counts the threads that wait."""

    def __init__(self) -> None:
        super().__init__()
        self.open = Event()
        self.stuck = Semaphore(0)
        self.lanes: set[str] = set()
        """Which threads have called while it is *watched*."""
        self.watched = False

    def _note(self) -> None:
        if self.watched:
            self.lanes.add(current_thread().name.partition("_")[0])

    def get(self, key: str, *, part: tuple[int, int] | None = None) -> bytes | None:
        self._note()
        return super().get(key, part=part)

    def tags(self, key: str) -> dict[str, str] | None:
        self._note()
        return super().tags(key)

    def put(
        self, key: str, content: bytes, *, media_type: str, tags: Mapping[str, str] | None = None
    ) -> None:
        self._note()
        if media_type == "image/jpeg" and not self.open.is_set():
            self.stuck.release()
            self.open.wait(PATIENCE.total_seconds())
        super().put(key, content, media_type=media_type, tags=tags)


def brisk(_organisation: str, family: Family) -> Limits:
    """Return limits that pace Firefly to eight calls a second, and Photoshop not at all."""
    per_minute = 600 if family is Family.FIREFLY else 60_000
    return Limits(per_minute=per_minute, source="a test", as_of=date(2026, 1, 1))


def accepted(here: Floor, jobs: list[str]) -> int:
    """Return of how many jobs the picture's vendor id is stored."""
    sends = [here.ledger.history(job).attempts for job in jobs]
    return sum(any(one.state is AttemptState.ACCEPTED for one in sent) for sent in sends)


def test_blocked_transfers_stop_neither_heartbeat_nor_vendor_id() -> None:
    """With every transfer thread stuck the lease is renewed and each further id is stored."""

    async def scenario() -> None:
        here = floor(
            clock=SystemClock(), lease=timedelta(seconds=8), submit_timeout=timedelta(seconds=1)
        )
        here.shop = replace(here.shop, limits=brisk, lanes=threads.lanes())
        dam = Dammed()
        here.use_objects(dam)
        here.images.vendor.seconds = here.documents.vendor.seconds = 0.05
        jobs = here.order(JOBS)
        (wave,) = here.begin(jobs).waves
        dam.watched = True
        working = asyncio.ensure_future(here.engine(wave).run())
        try:
            for _ in range(threads.TRANSFERS):
                assert await asyncio.to_thread(dam.stuck.acquire, timeout=PATIENCE.total_seconds())
            stuck_at = here.clock.now()
            assert accepted(here, jobs) < JOBS
            async with asyncio.timeout(PATIENCE.total_seconds()):
                while accepted(here, jobs) < JOBS or _lease(here, wave.wave_id) <= (
                    stuck_at + here.shop.settings.lease
                ):
                    await here.clock.sleep(timedelta(milliseconds=20))
        finally:
            dam.open.set()
            await working

        assert {here.row(job).status for job in jobs} == {Status.SUCCEEDED}
        assert dam.lanes - {VENDORS_OWN} == {"transfer"}
        books_agree(here)

    asyncio.run(scenario())


def _lease(here: Floor, wave_id: str) -> datetime:
    wave = here.ledger.wave(wave_id)
    assert wave is not None
    assert wave.lease_until is not None
    return wave.lease_until


def test_the_threads_of_a_process_fit_its_connections() -> None:
    """No call of a lane waits for a connection, and some are left for the token store."""
    assert threads.LEASES + threads.LEDGER < clients.CONNECTIONS
    assert threads.TRANSFERS < clients.CONNECTIONS
