"""Jobs that are run again from ``dlq``, by real waves in virtual time: what is sent, and paid."""

from datetime import timedelta

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.failure import FailureClass, Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Attempt, AttemptState
from fireflyassets.ports.images import Linked, SimilarRequest
from fireflyassets.ports.paid import EndedBadly, NotAccepted, Working
from fireflyassets.stages.causes import Causes
from fireflyassets.stages.replay import Choice, Replays
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.paid_services import Take, jpeg
from fireflyassets_tests.wave.test_reference import LIKE, floor_of, order

EXPIRED = NotAccepted(Fault(Family.FIREFLY, 400, "validation_error", field="image.source.url"))


def replays(here: Floor) -> Replays:
    """Return the use case over a floor."""
    causes = Causes(here.shop.catalogue, here.shop.limiter, here.ledger, here.clock)
    return Replays(here.ledger, here.objects, here.clock, causes.obstacle, 3)


def again(here: Floor, *, mended: bool = False) -> int:
    """Replay what goes; return how many went."""
    use = replays(here)
    return len(list(use.go(use.plan(Choice(), mended=mended), by="ann", why="a test")))


def test_a_timeout_is_collected_by_its_id_and_not_sent_again() -> None:
    """The vendor's job went on behind our backs: it is paid once, and its picture is used."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=7200.0))
        await here.work([job])
        assert (here.row(job).status, here.row(job).failure) == (
            Status.DLQ,
            FailureClass.TRANSIENT,
        )
        await here.clock.sleep(timedelta(hours=3))

        assert again(here) == 1
        assert turns(await here.work([job])) == ["succeeded"]

        assert here.images.vendor.sent == 1
        assert len(here.images.vendor.billed) == 1
        books_agree(here)

    run(scenario)


def test_a_replayed_job_has_its_tries_anew_and_keeps_what_it_has() -> None:
    """A picture that is there is not made twice; the failed step begins with a whole budget."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        down = Take(ending=EndedBadly(Fault(Family.PHOTOSHOP, 200, "internal_error")))
        here.documents.vendor.script.extend([down] * 15)
        await here.work([job])
        assert here.row(job).status is Status.DLQ
        pictures = here.images.vendor.sent
        here.documents.vendor.script.clear()

        assert again(here) == 1
        assert turns(await here.work([job])) == ["succeeded"]

        assert here.images.vendor.sent == pictures == 1
        assert {one.replay for one in sends(here, job) if one.step.startswith("layout")} == {0, 1}

    run(scenario)


def sends(here: Floor, job: str) -> tuple[Attempt, ...]:
    """Return all sends of a job."""
    return here.ledger.history(job).attempts


def test_an_unanswered_vendor_job_is_asked_and_never_repeated() -> None:
    """However often it is replayed while the vendor works."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(Take(seconds=0, ending=Working()))
        await here.work([job])

        for _ in range(3):
            assert again(here, mended=True) == 1
            await here.work([job])
        assert again(here, mended=True) == 0  # The limit of a job.

        assert here.images.vendor.sent == 1
        (sent,) = sends(here, job)
        assert sent.state is AttemptState.ACCEPTED

    run(scenario)


def test_an_open_breaker_lets_no_replay_through() -> None:
    """Nothing moves while the service is known to be away; once it is closed, it goes."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.extend([EXPIRED] * 2)
        await here.work([job])
        assert here.row(job).failure is FailureClass.STALE_REFERENCE
        here.shop.limiter.pause("ORG#firefly", timedelta(hours=2))

        assert again(here, mended=True) == 0
        assert here.row(job).status is Status.DLQ

        here.shop.limiter.reset("ORG#firefly", by="ann", why="a test")
        assert again(here) == 1
        assert turns(await here.work([job])) == ["succeeded"]

    run(scenario)


def test_a_replayed_job_tries_an_open_breaker_once_its_pause_is_over() -> None:
    """Else replay and breaker would wait for each other, where nothing else is queued."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        denied = NotAccepted(Fault(Family.FIREFLY, 403, "user_non_entitled"))
        here.images.vendor.script.append(denied)
        await here.work([job])
        assert here.row(job).failure is FailureClass.ENTITLEMENT
        assert again(here, mended=True) == 0

        await here.clock.sleep(timedelta(minutes=15, seconds=1))
        assert again(here, mended=True) == 1
        assert turns(await here.work([job])) == ["succeeded"]

        assert here.images.vendor.sent == 2
        assert here.shop.limiter.state("ORG#firefly").opened_at is None

    run(scenario)


class Signing(MemoryObjects):
    """A bucket whose URLs tell how many were signed before."""

    signed = 0

    def read_url(self, key: str, *, life: timedelta) -> str:
        """Return a URL that no other equals."""
        self.signed += 1
        return f"{super().read_url(key, life=life)}&n={self.signed}"


def test_a_replay_signs_its_references_anew() -> None:
    """The address that had run out is not sent again; the picture behind it is the same."""

    async def scenario() -> None:
        here = floor_of({**LIKE, "picture": "reference.picture"})
        here.objects.__class__ = Signing
        assert isinstance(here.objects, Signing)
        job = order(here, jpeg(9, 9))
        here.images.vendor.script.extend([EXPIRED] * 2)
        await here.work([job])
        assert here.row(job).failure is FailureClass.STALE_REFERENCE
        before = here.objects.signed
        await here.clock.sleep(timedelta(days=3))

        assert again(here) == 1
        assert turns(await here.work([job])) == ["succeeded"]

        (asked,) = here.images.edits
        assert isinstance(asked, SimilarRequest)
        assert isinstance(asked.source, Linked)
        assert int(asked.source.url.rpartition("&n=")[2]) > before
        assert here.objects.download(asked.source.url) == jpeg(9, 9)

    run(scenario)
