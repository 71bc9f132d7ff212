"""Jobs that wait for a person to look at them. Here: who may go on, where, and what it costs."""

from datetime import timedelta

import pytest

from fireflyassets.cli.fence import FenceDesk
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.job import FACTORY, Hold
from fireflyassets.core.recipe_step import OnFailure
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Release, Verdict
from fireflyassets.ports.images import GenerateRequest
from fireflyassets.ports.paid import NotAccepted, OutcomeLost, Submission
from fireflyassets.stages.steering import Kept, Steering
from fireflyassets.wave.beginning import asked_for
from fireflyassets.wave.sweeping import Sweep
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ASPECTS, FakeImages, Floor, floor, recipe, turns
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, FixedCatalogue, config
from fireflyassets_tests.paid_services import Take

UNFIT = NotAccepted(Fault(Family.FIREFLY, 422, "validation_error"))
NO_COMPOSE = NotAccepted(Fault(Family.PHOTOSHOP, 418, "never_seen"))
LOST = OutcomeLost(Fault(Family.FIREFLY, 504, "lost_answer"))


class Unready(FakeImages):
    """Firefly behind code of ours that fails before anything is sent."""

    async def ready(self) -> NotAccepted | None:
        """Fail in a way that nobody has thought of."""
        raise KeyError("token")


class Faulty(FakeImages):
    """Firefly behind code of ours that fails while it sends."""

    async def generate(self, request: GenerateRequest) -> Submission:
        """Fail in a way that nobody has thought of."""
        raise KeyError(request.prompt)


def steering(here: Floor) -> Steering:
    """Return the steering of a floor."""
    return Steering(here.ledger, here.clock, lambda _: timedelta(days=1))


def holding() -> Floor:
    """Return a floor whose recipe holds jobs that fail."""
    said = config(
        aspects=ASPECTS,
        templates={aspect: f"{aspect}.psd" for aspect in ASPECTS},
        recipe=recipe(on_failure=OnFailure.HOLD),
    )
    return floor(catalogue=FixedCatalogue(said))


def let_go_on(here: Floor, job: str) -> object:
    """Resume a job as an operator does who has looked at it."""
    return steering(here).let_go_on(here.row(job), by="ann", why="the licence is renewed")


def test_a_job_that_our_own_fault_held_goes_on() -> None:
    """Once it is mended somebody says so, by name; the job ends as any other."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        mended = here.images
        here.use_images(Unready(here.clock, here.objects))
        assert turns(await here.work([job])) == ["held"]
        here.use_images(mended)

        told = let_go_on(here, job)

        assert told == here.row(job)
        assert here.row(job).reason == "Resumed by ann: the licence is renewed"
        assert turns(await here.work([job])) == ["succeeded"]
        books_agree(here)

    run(scenario)


def test_a_recipe_s_hold_can_be_lifted() -> None:
    """Which is what it is for: a person looks, and the step is tried again."""

    async def scenario() -> None:
        here = holding()
        (job,) = here.order(1)
        here.images.vendor.script.append(UNFIT)
        assert turns(await here.work([job])) == ["held"]

        let_go_on(here, job)

        assert turns(await here.work([job])) == ["succeeded"]
        books_agree(here)

    run(scenario)


def test_what_is_made_is_not_paid_again() -> None:
    """A job that is held for a composite keeps its picture."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.documents.vendor.script.append(NO_COMPOSE)
        assert turns(await here.work([job])) == ["held"]
        assert here.images.vendor.sent == 1

        let_go_on(here, job)

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.images.vendor.sent == 1
        books_agree(here)

    run(scenario)


def test_a_job_whose_tries_are_spent_gets_new_ones() -> None:
    """Else it would be held again at once, and the door would lead nowhere."""

    async def scenario() -> None:
        here = holding()
        (job,) = here.order(1)
        here.images.vendor.script.extend([UNFIT] * 5)
        for _ in range(5):
            assert turns(await here.work([job])) == ["held"]
            let_go_on(here, job)

        assert turns(await here.work([job])) == ["succeeded"]
        assert here.row(job).replays == 5

    run(scenario)


def test_an_unknown_outcome_is_decided_first() -> None:
    """Whoever holds the job: to go on would send again what may be paid."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.images.vendor.script.append(LOST)
        await here.work([job])
        held = here.row(job)

        told = let_go_on(here, job)

        assert isinstance(told, Kept)
        assert "fence resolve" in told.fix
        assert here.row(job) == held

    run(scenario)


def test_only_a_job_that_waits_for_a_person_is_moved() -> None:
    """One that is due stays as it is; with a campaign, and after its end, it says what to do."""

    async def scenario() -> None:
        here = floor()
        due, done = here.order(2)
        await here.work([done])
        row = here.row(due)
        assert let_go_on(here, due) == row == here.row(due)
        steering(here).hold(CUSTOMER, CAMPAIGN, reason="wrong price", by="bob")

        told = [let_go_on(here, job) for job in (due, done)]

        assert [one.fix for one in told if isinstance(one, Kept)] == [
            "Resume the campaign.",
            "There is nothing to resume.",
        ]
        assert here.row(due).hold is not None

    run(scenario)


def test_a_run_by_hand_names_the_door() -> None:
    """The table of the red run says how the job goes on."""

    async def scenario() -> None:
        here = holding()
        (job,) = here.order(1)
        here.images.vendor.script.append(UNFIT)
        await here.work([job])

        (left,) = asked_for(here.ledger, CUSTOMER, [job]).skipped

        assert "POST /v1/jobs/{job_id}/resume" in left.reason

    run(scenario)


def test_a_decision_on_a_job_that_is_held_otherwise_names_the_door(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The send that our own fault cut short is decided, then somebody resumes the job."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        mended = here.images
        here.use_images(Faulty(here.clock, here.objects))
        assert turns(await here.work([job])) == ["held"]
        here.use_images(mended)
        assert isinstance(let_go_on(here, job), Kept)
        desk = FenceDesk(here.ledger, here.shop.pins, here.shop.catalogue, here.clock)

        desk.resolve(job, "art", verdict=Verdict.RESUBMIT, by="ann", why="not in the report")

        assert "/v1/jobs/{job_id}/resume" in capsys.readouterr().out
        assert here.row(job).hold is not None
        let_go_on(here, job)
        assert turns(await here.work([job])) == ["succeeded"]

    run(scenario)


def test_a_call_that_its_own_file_will_settle_is_waited_for_and_not_decided() -> None:
    """Nobody is sent to decide what the file tells by itself; after that the job may go on."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1, aspects=("32x18",))
        here.documents.vendor.script.append(Take(silent=True))
        assert turns(await here.work([job])) == ["parked"]
        claim = here.ledger.claim(job, CUSTOMER, "w-9", now=here.clock.now())
        assert claim is not None
        hold = Hold("a bug", here.clock.now(), FACTORY)
        here.ledger.release(claim, Release("a bug", hold=hold), now=here.clock.now())

        told = let_go_on(here, job)

        assert isinstance(told, Kept)
        assert "75 minutes" in told.fix
        await here.clock.sleep(timedelta(minutes=76))
        await Sweep(here.shop).run(after=None, most=10)
        assert not isinstance(let_go_on(here, job), Kept)

    run(scenario)
