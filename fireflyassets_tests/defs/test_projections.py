"""What Dagster shows after a run was killed, once the sensor has ticked: what the ledger says."""

from dataclasses import replace
from datetime import datetime, timedelta

import dagster as dg

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core import manifest
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.defs.projections import Place, Projector, projections_sensor
from fireflyassets.defs.resources import WAVE_PORTS
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.wave.reports import Check
from fireflyassets_tests.defs.location import (
    BASE_IMAGES,
    DELIVERIES,
    RENDITIONS,
    WAVE,
    Location,
    location,
    span,
)


class Later(SystemClock):
    """The time in eleven minutes."""

    def now(self) -> datetime:
        return super().now() + timedelta(minutes=11)


def tick(there: Location, cursor: str | None = None) -> tuple[str, str]:
    """Let Dagster evaluate the sensor; return what it says and its cursor."""
    ports = {name: getattr(there.here.shop, name) for name in WAVE_PORTS}
    with dg.build_sensor_context(
        instance=there.instance, resources=ports, cursor=cursor
    ) as context:
        told = projections_sensor.evaluate_tick(context)
    return told.skip_message or "", told.cursor or ""


def events(there: Location) -> int:
    """Return how many materializations Dagster knows."""
    keys = [dg.AssetRecordsFilter(key) for key in WAVE]
    return sum(len(there.instance.fetch_materializations(key, limit=999).records) for key in keys)


def test_a_killed_wave_shows_what_it_finished() -> None:
    """Partitions, their checks and the summaries are as the ledger says, after one tick."""
    with location() as there:
        jobs = there.here.order(3)
        (request,) = there.dispatch()
        there.killed(dict(request.tags))
        assert [there.failed(key) for key in WAVE] == [set(jobs)] * 3
        assert there.summary(Check.COST) is None

        said, _ = tick(there)

        assert said.startswith("21 events told late")
        assert [there.failed(key) for key in WAVE] == [set()] * 3
        assert [there.materialized(key) for key in WAVE] == [set(jobs)] * 3
        for check in Check:
            assert there.checks(check) == dict.fromkeys(jobs, "SUCCEEDED")
            summary = there.summary(check)
            assert summary is not None
            assert (summary.passed, summary.description) == (True, "3 of 3 jobs pass.")
        (shown,) = there.told(RENDITIONS, jobs[0])
        assert (shown["operations"], shown["key"]) == (3.0, "job-0")
        assert "interrupted" in str(shown["told_late"])


def test_the_page_of_a_killed_run_says_what_became_of_its_jobs() -> None:
    """One sentence, once, from the ledger; a run that spoke for itself is left as it is."""
    with location() as there:
        jobs = there.here.order(3)
        there.here.images.vendor.script.append(NotAccepted(Fault(Family.FIREFLY, 451)))
        (request,) = there.dispatch()
        killed = there.killed(dict(request.tags))
        (bad,) = [one for one in jobs if there.here.row(one).status is Status.REVIEW]
        spoken = there.by_hand([bad]).run_id

        tick(there)
        tick(there)

        said = "This run ended before it could say what became of its jobs. The ledger does: "
        assert there.said(killed) == [
            f"{said}of 3, 2 delivered; 1 in review (mend the request and send it under a new key)."
        ]
        assert there.said(spoken) == []


def test_nothing_is_told_twice() -> None:
    """Neither by the next tick nor by one that lost its cursor."""
    with location() as there:
        there.here.order(2)
        (request,) = there.dispatch()
        there.killed(dict(request.tags))
        _, cursor = tick(there)
        before = events(there)

        assert tick(there, cursor) == ("Dagster shows what the ledger says.", cursor)
        assert tick(there)[0] == "Dagster shows what the ledger says."
        assert events(there) == before == 6


def test_a_done_job_told_again_and_killed_stays_done() -> None:
    """A rerun that dies flips good partitions to failed; the tick sets that right, at no cost."""
    with location() as there:
        jobs = there.here.order(2)
        (request,) = there.dispatch()
        there.run(request)
        there.killed(span(jobs))
        assert there.failed(DELIVERIES) == set(jobs)
        assert there.checks(Check.REVIEW) == {}

        tick(there)

        assert there.failed(DELIVERIES) == set()
        assert there.checks(Check.REVIEW) == dict.fromkeys(jobs, "SUCCEEDED")
        assert [one["operations"] for one in there.told(BASE_IMAGES, jobs[0])] == [0.0, 0.5]


def test_checks_that_were_cut_off_are_told() -> None:
    """A run that died between its materializations and their checks leaves no check open."""
    with location() as there:
        jobs = there.here.order(1)
        (request,) = there.dispatch()
        there.run(request)
        there.killed(span(jobs))
        for key in WAVE:
            made = dg.AssetMaterialization(key, partition=jobs[0])
            there.instance.report_runless_asset_event(made)
        before = events(there)

        said, _ = tick(there)

        assert said.startswith("6 events")
        assert events(there) == before
        assert there.checks(Check.TAGGING) == {jobs[0]: "SUCCEEDED"}


def test_a_failed_job_shows_what_it_made_and_stays_failed() -> None:
    """Its picture is there; what it never came to is red, as it should be."""
    with location() as there:
        (job,) = there.here.order(1)
        there.here.documents.vendor.script += [NotAccepted(Fault(Family.PHOTOSHOP, 402))] * 3
        (request,) = there.dispatch()
        there.killed(dict(request.tags))
        assert there.here.row(job).status is Status.DLQ

        said, cursor = tick(there)

        assert said.startswith("4 events")
        assert there.failed(BASE_IMAGES) == set()
        assert there.failed(RENDITIONS) == there.failed(DELIVERIES) == {job}
        assert there.checks(Check.COST) == {job: "PLANNED"}
        assert tick(there, cursor)[0].startswith("Dagster shows")


def test_a_tick_is_bounded_and_the_next_goes_on() -> None:
    """So many jobs at a time, whatever the wave's size; the summary comes with the last."""
    with location() as there:
        jobs = there.here.order(5)
        (request,) = there.dispatch()
        there.killed(dict(request.tags))
        place, left = Place(), []

        for _ in range(3):
            place = Projector(there.instance, there.here.shop, most=2).tick(
                Place.read(place.write())
            )
            left.append((len(there.failed(DELIVERIES)), there.summary(Check.COST) is None))

        assert left == [(3, True), (1, True), (0, False)]
        assert there.materialized(DELIVERIES) == set(jobs)


def test_the_place_within_a_run_is_that_run_s_alone() -> None:
    """A run that turns up late, by another clock, is looked at from its beginning."""
    with location() as there:
        jobs = there.here.order(2)
        (request,) = there.dispatch()
        there.killed(dict(request.tags))

        Projector(there.instance, there.here.shop).tick(Place(run="another", job="zzz"))

        assert there.materialized(DELIVERIES) == set(jobs)


def test_a_run_whose_wave_is_open_is_waited_for() -> None:
    """Until its jobs are taken back the ledger still moves, and with it what is to be told."""
    with location() as there:
        jobs = there.here.order(1)
        there.dispatch()
        run_id = there.killed(span(jobs))
        (wave,) = there.here.ledger.open_waves()
        until = there.here.clock.now() + timedelta(minutes=1)
        there.here.ledger.start(wave.wave_id, run_id, lease_until=until)

        said, waiting = tick(there)
        there.here.ledger.end(wave.wave_id)
        _, after = tick(there, waiting)

        assert said == "A run has ended badly; its wave is not over yet."
        assert Place.read(waiting) == Place()
        assert list(Place.read(after).seen) == [run_id]


def test_a_wave_that_never_ends_stops_nobody() -> None:
    """Ten minutes after its end a run is looked at, whatever became of its wave."""
    with location() as there:
        (job,) = there.here.order(1)
        there.dispatch()
        run_id = there.killed(span([job]))
        (wave,) = there.here.ledger.open_waves()
        there.here.ledger.start(wave.wave_id, run_id, lease_until=there.here.clock.now())
        later = replace(there.here.shop, clock=Later())

        place = Projector(there.instance, later).tick(Place())

        assert list(place.seen) == [run_id]


def test_one_lost_manifest_keeps_nobody_elses_job_from_view() -> None:
    """A job that can't be told of is left out, and the tick goes on."""
    with location() as there:
        jobs = [*there.here.order(1), *there.here.order(1, prefix="other")]
        (request,) = there.dispatch()
        there.killed(dict(request.tags))
        lost = manifest.place(there.here.row(jobs[0]).input_manifest)
        there.here.objects._objects.pop(lost.key)

        _, cursor = tick(there)

        assert there.materialized(DELIVERIES) == {jobs[1]}
        assert len(Place.read(cursor).seen) == 1
