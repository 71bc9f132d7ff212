"""Bad ends and bad results that the sweep hears of: what it closes, keeps, tells and leaves alone.

Belongs here: the vendor's refusals and files. Does not: whose sends are looked after
(``test_sweeping.py``).
"""

from dataclasses import replace

import pytest

from fireflyassets.core.failure import FailureClass, Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import EndedBadly, Fetched, FetchFailed
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.paid_services import FakeImages, Take, jpeg
from fireflyassets_tests.wave.test_limits import FIREFLY, Stage
from fireflyassets_tests.wave.test_sweeping import die_in, one_attempt, swept


class Garbled(FakeImages):
    """A Firefly whose results come as other bytes, until somebody mends it."""

    content: bytes | None = b"cut off"

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        whole = await super().fetch(url)
        return whole if self.content is None else Fetched(self.content, "image/jpeg")


def test_a_result_that_does_not_decode_is_left_to_the_replay_that_pays_nothing() -> None:
    """What is paid for is asked for again, however long after: the file may be whole by then."""

    async def scenario() -> None:
        here = floor()
        garbled = Garbled(here.clock)
        here.use_images(garbled)
        (job,) = here.order(1)
        await here.work([job])
        assert here.row(job).failure is FailureClass.STORAGE

        assert await swept(here) == {"unusable": 1}
        garbled.content = None
        ended = await here.work([job])

        assert turns(ended) == ["succeeded"]
        assert garbled.vendor.sent == 1
        books_agree(here)

    run(scenario)


def test_a_result_of_a_dead_worker_that_is_not_what_was_asked_for_is_not_paid_for_again() -> None:
    """The wave that comes next ends the job by it; then the send is closed too."""

    async def scenario() -> None:
        here = floor()
        garbled = Garbled(here.clock)
        garbled.content = jpeg(10, 20)
        here.use_images(garbled)
        (job,) = here.order(1)
        garbled.vendor.script.append(Take(seconds=30))
        await die_in(here, [job], 10)

        assert await swept(here) == {"unusable": 1}
        await here.work([job])

        assert here.row(job).status is Status.REVIEW
        assert garbled.vendor.sent == 1
        assert await swept(here) == {"failed": 1}
        assert await swept(here) == {}
        books_agree(here)

    run(scenario)


REFUSED = Fault(Family.FIREFLY, 200, "quota_exhausted", message="Your quota is used up.")


async def refused_at_the_end(fault: Fault) -> tuple[Floor, str]:
    """Let the sweep hear that a dead worker's call was refused at its job's end."""
    here = floor()
    (job,) = here.order(1)
    here.images.vendor.script.append(Take(seconds=30, ending=EndedBadly(fault)))
    await die_in(here, [job], 10)
    assert await swept(here) == {"failed": 1}
    return here, job


@pytest.mark.parametrize("code", ["quota_exhausted", "user_non_entitled"])
def test_a_refusal_of_the_organisation_that_the_sweep_hears_of_parks_all(code: str) -> None:
    """No job is spent on finding out again what is known by then."""

    async def scenario() -> None:
        here, job = await refused_at_the_end(replace(REFUSED, code=code))

        assert here.shop.limiter.state(FIREFLY).opened_at is not None
        assert turns(await here.work([job])) == ["parked"]
        assert here.images.vendor.sent == 1

    run(scenario)


def test_a_job_s_own_bad_end_opens_no_breaker_from_the_sweep() -> None:
    async def scenario() -> None:
        here, _ = await refused_at_the_end(replace(REFUSED, code="runtime_error"))
        assert here.shop.limiter.state(FIREFLY).opened_at is None

    run(scenario)


@pytest.mark.parametrize(
    ("said", "kept"),
    [("Your quota is used up.", ": Your quota is used up."), ("No 'a bottle 0' for you.", "")],
)
def test_the_sweep_keeps_the_vendor_s_words_but_none_of_the_job(said: str, kept: str) -> None:
    async def scenario() -> None:
        here, job = await refused_at_the_end(replace(REFUSED, message=said))
        assert one_attempt(here, job).fault == f"firefly 200 quota_exhausted{kept}"

    run(scenario)


def test_a_limiter_that_is_away_leaves_a_refusal_to_the_next_slice_of_the_sweep() -> None:
    """The send stays open until all others are told of what they would meet too."""

    async def scenario() -> None:
        stage = Stage()
        here = stage.here
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=30, ending=EndedBadly(REFUSED)))
        await die_in(here, [job], 10)
        stage.store.hears_no_refusal = True

        assert await swept(here) == {"stuck": 1}
        stage.store.hears_no_refusal = False

        assert await swept(here) == {"failed": 1}
        assert here.shop.limiter.state(FIREFLY).opened_at is not None

    run(scenario)
