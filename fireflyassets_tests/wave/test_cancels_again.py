"""Cancels that Adobe does not answer, and cancels of jobs whose questions it puts off."""

from datetime import datetime, timedelta

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.images import CancelAnswer
from fireflyassets.ports.paid import Poll, PollFailed
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import floor
from fireflyassets_tests.paid_services import FakeImages, Take
from fireflyassets_tests.wave.test_cancelling import at_work, cancel, swept

BUSY = Fault(Family.FIREFLY, 503, "model_not_loaded")


class Busy(FakeImages):
    """A Firefly that puts off some questions and cancels."""

    put_off: timedelta | None = None
    """What the first question is told to wait."""
    refuses: int = 0
    """How many cancels it can't take now."""
    asked_at: list[datetime]
    cancelled_at: list[datetime]

    async def poll(self, status_url: str) -> Poll:
        self.asked_at.append(self.vendor.clock.now())
        if self.put_off and len(self.asked_at) == 1:
            return PollFailed(BUSY, self.put_off)
        return await super().poll(status_url)

    async def cancel(self, cancel_url: str) -> CancelAnswer | PollFailed:
        self.cancelled_at.append(self.vendor.clock.now())
        if len(self.cancelled_at) <= self.refuses:
            return PollFailed(BUSY, timedelta(seconds=1))
        return await super().cancel(cancel_url)


def test_a_cancel_that_failed_is_asked_for_again() -> None:
    """Not in a crowd, but with the questions about the job, until Adobe has answered."""

    async def scenario() -> None:
        here = floor()
        busy = Busy(here.clock, here.objects)
        busy.asked_at, busy.cancelled_at, busy.refuses = [], [], 3
        here.use_images(busy)
        (job,) = here.order(1)
        busy.vendor.script.append(Take(seconds=200))
        _, wave = at_work(here, [job])
        await here.clock.sleep(timedelta(seconds=10))
        cancel(here, job)
        await wave

        assert len(busy.cancelled_at) == 4
        gaps = [b - a for a, b in zip(busy.cancelled_at, busy.cancelled_at[1:], strict=False)]
        assert min(gaps) >= timedelta(seconds=1)
        assert busy.vendor.called_back == ["firefly-1"]
        assert here.row(job).status is Status.CANCELLED
        assert busy.cancelled_at[-1] - busy.cancelled_at[0] < timedelta(minutes=2)
        await swept(here)
        books_agree(here)

    run(scenario)


def test_a_cancel_does_not_wait_for_a_question_that_is_put_off() -> None:
    """Adobe said to ask again in fourteen minutes: it is called back now, and asked again then."""

    async def scenario() -> None:
        here = floor()
        busy = Busy(here.clock, here.objects)
        busy.asked_at, busy.cancelled_at, busy.put_off = [], [], timedelta(minutes=14)
        here.use_images(busy)
        (job,) = here.order(1)
        busy.vendor.script.append(Take(seconds=200))
        _, wave = at_work(here, [job])
        await here.clock.sleep(timedelta(seconds=60))
        asked = here.clock.now()
        cancel(here, job)
        await wave

        (called_back,) = busy.cancelled_at
        assert called_back - asked <= timedelta(seconds=16)
        assert busy.asked_at[1] - busy.asked_at[0] >= timedelta(minutes=14)
        assert here.row(job).status is Status.CANCELLED
        await swept(here)
        books_agree(here)

    run(scenario)
