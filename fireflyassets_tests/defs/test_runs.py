"""Runs that die, are cancelled, never begin or are left behind, as the instance shows them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test  # The only way to a run without a process.

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.status import Status
from fireflyassets.defs import names, runs
from fireflyassets.ports.catalogue import Catalogue, Credential, Quarantined
from fireflyassets.ports.entries import WaveState
from fireflyassets.stages.dispatch import RunState
from fireflyassets_tests.defs.location import CUSTOMER, Location, location
from fireflyassets_tests.floor import ASPECTS, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue, config

SLUG = "acme/spring-launch"


@pytest.fixture
def there() -> Iterator[Location]:
    """Yield a location."""
    with location() as made:
        yield made


def launched(there: Location, request: dg.RunRequest, status: dg.DagsterRunStatus) -> dg.DagsterRun:
    """Make the run that was asked for, as the daemon does."""
    return create_run_for_test(there.instance, status=status, tags=dict(request.tags))


def status_of(there: Location, run: dg.DagsterRun) -> dg.DagsterRunStatus:
    """Return how a run stands now."""
    found = there.instance.get_run_by_id(run.run_id)
    assert found is not None
    return found.status


def test_a_cancelled_queued_run_is_not_asked_for_again(there: Location) -> None:
    """Tick after tick: its jobs wait, uncounted, and say why."""
    (job,) = there.here.order(1)
    (request,) = there.dispatch()
    run = launched(there, request, dg.DagsterRunStatus.NOT_STARTED)
    there.instance.report_run_canceled(run)

    asked = [there.dispatch() for _ in range(3)]

    row = there.here.row(job)
    assert asked == [[], [], []]
    assert (row.status, row.crashes) == (Status.QUEUED, 0)
    assert "cancelled before it began" in (row.reason or "")


class Breaking(FixedCatalogue):
    """A campaign whose template breaks after it was read."""

    def reread(self) -> Catalogue:
        return Broken()


class Broken(FixedCatalogue):
    """What the files say by then."""

    def quarantined(self) -> tuple[Quarantined, ...]:
        reason = "templates.32x18: hero.psd is no PSD."
        return (Quarantined(f"campaigns/{SLUG}/campaign.yaml", reason),)


def test_a_template_that_breaks_while_jobs_wait_is_named() -> None:
    """Its run can't begin; no other is asked for, and the job says which file to mend."""
    said = config(aspects=ASPECTS, templates=dict.fromkeys(ASPECTS, "t.psd"), recipe=recipe())
    with location(floor(clock=SystemClock(), catalogue=Breaking(said))) as there:
        (job,) = there.here.order(1)
        (request,) = there.dispatch()
        run = launched(there, request, dg.DagsterRunStatus.STARTING)
        there.instance.report_run_failed(run, "it found no such asset")

        asked = [there.dispatch() for _ in range(3)]

        row = there.here.row(job)
        assert asked == [[], [], []]
        assert (row.status, row.crashes) == (Status.QUEUED, 0)
        assert "hero.psd is no PSD" in (row.reason or "")


def test_a_run_that_dies_before_it_begins_is_asked_for_again(there: Location) -> None:
    """Where nothing is broken, another launch of the same wave follows at once."""
    there.here.order(1)
    (request,) = there.dispatch()
    assert there.dispatch() == []  # The first one is not made yet.
    run = launched(there, request, dg.DagsterRunStatus.STARTING)
    there.instance.report_run_failed(run, "killed")

    (again,) = there.dispatch()

    assert again.tags[names.WAVE_TAG] == request.tags[names.WAVE_TAG]
    assert again.run_key == request.run_key.replace("#1", "#2")  # pyright: ignore[reportOptionalMemberAccess]
    assert there.dispatch() == []


def test_a_run_whose_wave_is_taken_over_gives_its_place_back(there: Location) -> None:
    """Code server and worker died together: the instance still says started, the lease is over."""
    (job,) = there.here.order(1)
    (request,) = there.dispatch()
    run = launched(there, request, dg.DagsterRunStatus.STARTED)
    wave_id = request.tags[names.WAVE_TAG]
    over = there.here.clock.now() - timedelta(seconds=1)
    there.here.ledger.start(wave_id, run.run_id, lease_until=over)

    (next_one,) = there.dispatch()

    assert status_of(there, run) is dg.DagsterRunStatus.FAILURE
    assert next_one.tags[names.WAVE_TAG] != wave_id
    assert there.here.row(job).crashes == 1


@pytest.mark.parametrize(
    ("status", "end", "state"),
    [
        (dg.DagsterRunStatus.STARTED, "FAILURE", RunState.DIED),
        (dg.DagsterRunStatus.CANCELING, "CANCELED", RunState.CANCELLED),
    ],
)
def test_a_dead_run_is_closed_before_its_wave_is(
    there: Location, status: dg.DagsterRunStatus, end: str, state: RunState
) -> None:
    """A dispatcher that dies in between leaves an open wave, and no run that nobody looks at."""
    there.here.order(1)
    (request,) = there.dispatch()
    run = launched(there, request, status)
    wave_id = request.tags[names.WAVE_TAG]
    now = there.here.clock.now()
    wave = there.here.ledger.start(wave_id, run.run_id, lease_until=now)
    assert wave is not None

    assert runs.state(there.instance, wave, now=now + timedelta(seconds=1)) is state
    assert status_of(there, run).value == end


def test_a_run_at_work_is_left_alone(there: Location) -> None:
    """Its lease lasts, so nobody ends it."""
    there.here.order(1)
    (request,) = there.dispatch()
    run = launched(there, request, dg.DagsterRunStatus.STARTED)
    lasting = there.here.clock.now() + timedelta(minutes=1)
    there.here.ledger.start(request.tags[names.WAVE_TAG], run.run_id, lease_until=lasting)

    assert there.dispatch() == []
    assert status_of(there, run) is dg.DagsterRunStatus.STARTED


@pytest.mark.parametrize("minutes", [4, 6])
def test_a_run_that_never_begins_its_wave_is_ended(there: Location, minutes: int) -> None:
    """After five minutes its process is taken for gone, and the wave gets another run."""
    there.here.order(1)
    (request,) = there.dispatch()
    run = launched(there, request, dg.DagsterRunStatus.STARTED)
    started(there, run)
    wave = there.here.ledger.wave(request.tags[names.WAVE_TAG])
    assert wave is not None

    state = runs.state(
        there.instance, wave, now=there.here.clock.now() + timedelta(minutes=minutes)
    )

    gone = minutes > 5
    assert state is (RunState.DIED if gone else RunState.ALIVE)
    assert status_of(there, run).value == ("FAILURE" if gone else "STARTED")


def started(there: Location, run: dg.DagsterRun) -> None:
    """Note the start of a run, as its process does."""
    there.instance.report_dagster_event(
        dg.DagsterEvent(
            event_type_value=dg.DagsterEventType.RUN_START.value, job_name=run.job_name
        ),
        run.run_id,
    )


def test_what_a_killed_stack_left_is_ended_before_the_next() -> None:
    """Runs that a process should carry are closed; those that wait for the daemon are left."""
    statuses = dg.DagsterRunStatus
    with dg.DagsterInstance.ephemeral() as instance:
        made = {
            status: create_run_for_test(instance, status=status)
            for status in (
                statuses.NOT_STARTED,
                statuses.STARTING,
                statuses.STARTED,
                statuses.CANCELING,
                statuses.SUCCESS,
            )
        }

        assert runs.end_abandoned(instance) == 3

        now = {
            status: instance.get_run_by_id(run.run_id).status  # pyright: ignore[reportOptionalMemberAccess]
            for status, run in made.items()
        }
        assert now == {
            statuses.NOT_STARTED: statuses.NOT_STARTED,
            statuses.STARTING: statuses.FAILURE,
            statuses.STARTED: statuses.FAILURE,
            statuses.CANCELING: statuses.CANCELED,
            statuses.SUCCESS: statuses.SUCCESS,
        }


def test_keys_are_moved_by_one_dispatcher_at_a_time(there: Location) -> None:
    """While another has the campaign's keys nothing is formed; afterwards it is."""
    (job,) = there.here.order(1)
    ledger, now = there.here.ledger, there.here.clock.now()
    until = now + timedelta(minutes=1)
    assert ledger.lease_keys(CUSTOMER, "spring-launch", "other", until=until, now=now)

    assert there.dispatch() == []
    assert there.here.row(job).status is Status.QUEUED
    ledger.free_keys(CUSTOMER, "spring-launch", "other")
    (request,) = there.dispatch()

    assert request.tags[names.RANGE_START_TAG] == job
    assert ledger.lease_keys(CUSTOMER, "spring-launch", "other", until=until, now=now)


class Taken(FixedCatalogue):
    """The campaign names another credential, and the old one does not carry the customer now."""

    def credential(self, name: str, *, customer: str) -> Credential:
        if name == "acme-new":
            return super().credential(name, customer=customer)
        raise UnusableConfiguration(f"Credential {name!r} may not carry jobs of {customer!r}.")


def test_a_wave_whose_credential_was_taken_away_is_not_launched(there: Location) -> None:
    """It shows before a run is asked for; nothing is counted, and the reason names it."""
    said = config(
        credential="acme-new",
        aspects=ASPECTS,
        templates=dict.fromkeys(ASPECTS, "t.psd"),
        recipe=recipe(),
    )
    (job,) = there.here.order(1)
    (request,) = there.dispatch()
    run = launched(there, request, dg.DagsterRunStatus.STARTING)
    there.instance.report_run_failed(run, "killed")
    there.here.shop = replace(there.here.shop, catalogue=Taken(said))

    assert there.dispatch() == []

    row = there.here.row(job)
    assert (row.status, row.crashes) == (Status.QUEUED, 0)
    assert "may not carry" in (row.reason or "")
    wave = there.here.ledger.wave(request.tags[names.WAVE_TAG])
    assert wave is not None
    assert wave.state is WaveState.ENDED
