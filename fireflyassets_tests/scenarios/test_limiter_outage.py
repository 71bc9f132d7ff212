"""The limiter's Redis dies while a wave is at work, and comes back without its memory.

Here: a real server, a real wave in its thread, real time; the vendor's own list of calls is what
counts. Not here: the limiter alone (`fireflyassets_tests/adapters/test_limiters.py`).
"""

from dataclasses import replace
from datetime import date

import pytest

from fireflyassets.adapters import limiters, threads
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.failure import Family
from fireflyassets.core.status import Status
from fireflyassets.limiter.limits import Limits
from fireflyassets.wave.reports import Ended, Made, Turn
from fireflyassets.wave.thread import WaveThread
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor
from fireflyassets_tests.services import Service, own_redis

JOBS = 16


def quick(_organisation: str, _family: Family) -> Limits:
    """Return limits that pace to a call each quarter of a second."""
    return Limits(per_minute=300, source="a test", as_of=date(2026, 1, 1))


def work(here: Floor, jobs: list[str], *, redis: Service | None = None) -> dict[str, Ended]:
    """Run the jobs; kill *redis* once the first picture is made. Return how each turn ended."""
    ended: dict[str, Ended] = {}
    (wave,) = here.begin(jobs).waves
    for report in WaveThread(here.shop, wave, wave.run_id or "").reports():
        if redis is not None and isinstance(report, Made):
            redis.kill()
            redis = None
        if isinstance(report, Ended):
            ended[report.job_id] = report
    return ended


@pytest.mark.full
def test_a_wave_parks_while_redis_is_dead_and_the_next_one_finishes() -> None:
    """Nothing is sent unpaced, held, failed or paid twice, and nobody has to mend anything."""
    here = floor(clock=SystemClock())
    here.images.vendor.seconds = here.documents.vendor.seconds = 0.2
    with own_redis() as redis:
        limiter = limiters.redis_limiter(f"redis://127.0.0.1:{redis.port}/0")
        here.shop = replace(here.shop, limiter=limiter, limits=quick, lanes=threads.lanes())
        jobs = here.order(JOBS)

        first = work(here, jobs, redis=redis)
        sent = here.images.vendor.sent
        back = [job for job in jobs if first[job].turn is Turn.PARKED]
        rows = [here.row(job) for job in back]
        redis.restart()
        second = work(here, back)

    assert sent < JOBS
    assert {one.turn for one in first.values()} <= {Turn.PARKED, Turn.SUCCEEDED}
    assert back
    assert {(row.status, row.hold, row.attempts, row.crashes) for row in rows} == {
        (Status.QUEUED, None, 0, 0)
    }
    assert {one.turn for one in second.values()} == {Turn.SUCCEEDED}
    assert len(here.images.vendor.billed) == JOBS
    assert len(here.documents.vendor.billed) == 3 * JOBS
    books_agree(here)
