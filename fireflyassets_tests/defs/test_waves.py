"""Runs as Dagster sees them: waves that a sensor launched, and runs that a person started."""

from collections.abc import Sequence
from dataclasses import replace

import dagster as dg
import pytest

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core import ids
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.defs import names
from fireflyassets.ports.entries import WaveState
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.stages.dispatch import take_over
from fireflyassets.wave.beginning import NOT_WHOLE
from fireflyassets.wave.reports import Check
from fireflyassets_tests.defs.location import (
    BASE_IMAGES,
    CAMPAIGN,
    CUSTOMER,
    DELIVERIES,
    RENDITIONS,
    WAVE,
    Location,
    location,
)
from fireflyassets_tests.floor import ASPECTS, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue, config

TEMPLATES = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
RECOVERABLE = NotAccepted(Fault(Family.PHOTOSHOP, 401, "401013"))
UNSAFE = NotAccepted(Fault(Family.FIREFLY, 451, "prompt_unsafe"))


def test_a_wave_shows_each_job_as_a_partition() -> None:
    """Due jobs become one run; each partition has three materializations and no failure."""
    with location() as there:
        jobs = there.here.order(4)

        (request,) = there.dispatch()
        result = there.run(request)

        assert result.success
        assert request.tags[names.JOBS_TAG] == "4"
        for key in (BASE_IMAGES, RENDITIONS, DELIVERIES):
            assert there.materialized(key) == set(jobs)
        assert {there.here.row(job).run_id for job in jobs} == {result.run_id}
        wave = there.here.ledger.wave(request.tags[names.WAVE_TAG])
        assert wave is not None
        assert wave.state is WaveState.ENDED


def test_one_bad_job_fails_its_own_partition_only() -> None:
    """The run is red with a sentence, and exactly the refused job shows as failed."""
    with location() as there:
        jobs = there.here.order(4)
        there.here.images.vendor.script.append(UNSAFE)

        (request,) = there.dispatch()
        result = there.run(request)

        bad = {job for job in jobs if there.here.row(job).status is Status.REVIEW}
        assert len(bad) == 1
        assert not result.success
        failure = result.failure_data_for_node("wave__acme__spring_launch")
        assert failure is not None
        assert failure.user_failure_data is not None
        assert failure.user_failure_data.description == (
            "Of 4 jobs 1 failed: 1 in review (mend the request and send it under a new key); "
            "3 delivered."
        )
        assert there.failed(DELIVERIES) == bad
        assert there.materialized(DELIVERIES) == set(jobs) - bad
        (shown,) = result.get_asset_observation_events()
        said = shown.asset_observation_data.asset_observation
        assert {said.partition} == bad
        assert said.metadata["held_by"].value == "review"
        assert "needs attention" in str(said.metadata["reason"].value)
        assert "new key" in str(said.metadata["lifted_by"].value)


def test_a_second_run_of_a_wave_does_nothing() -> None:
    """The same run request, launched twice, ends green and emits nothing."""
    with location() as there:
        there.here.order(2)
        (request,) = there.dispatch()
        there.run(request)
        sent = there.here.images.vendor.sent

        again = there.run(request)

        assert again.success
        assert again.get_asset_materialization_events() == []
        assert there.here.images.vendor.sent == sent


def test_a_person_may_run_a_done_job_again_for_nothing() -> None:
    """A finished partition is told again, marked as reused, with its checks, and costs nothing."""
    with location() as there:
        jobs = there.here.order(2)
        (request,) = there.dispatch()
        there.run(request)
        sent = there.here.images.vendor.sent

        result = there.by_hand(jobs[:1])

        events = result.get_asset_materialization_events()
        assert result.success
        assert {event.partition for event in events} == set(jobs[:1])
        assert all(event.materialization.metadata["reused"].value for event in events)
        assert there.here.images.vendor.sent == sent
        assert {one.partition for one in result.get_asset_check_evaluations()} == {jobs[0], None}


def test_a_person_may_run_queued_and_done_jobs_together() -> None:
    """A range over both: the queued one is claimed and paid, the done one is told again."""
    with location() as there:
        done = there.here.order(1)
        (request,) = there.dispatch()
        there.run(request)
        queued = there.here.order(1, prefix="later")
        there.instance.add_dynamic_partitions("jobs_acme_spring-launch", queued)

        result = there.by_hand([*done, *queued])

        assert result.success
        assert there.here.row(queued[0]).status is Status.SUCCEEDED
        assert there.here.images.vendor.sent == 2
        tags = there.instance.get_run_by_id(result.run_id)
        assert tags is not None
        assert tags.tags[names.CAMPAIGN_TAG] == CAMPAIGN
        assert tags.tags[names.CUSTOMER_TAG] == CUSTOMER


def test_a_failed_job_run_by_hand_is_not_paid_without_a_mended_input() -> None:
    """A job in review is named with its reason and left alone."""
    with location() as there:
        (job,) = there.here.order(1)
        there.here.images.vendor.script.append(UNSAFE)
        (request,) = there.dispatch()
        there.run(request)
        sent = there.here.images.vendor.sent

        there.by_hand([job])

        assert there.here.row(job).status is Status.REVIEW
        assert there.here.images.vendor.sent == sent
        assert there.failed(DELIVERIES) == {job}


def test_a_run_without_partitions_is_refused() -> None:
    """Nobody pays for a whole campaign with one click on "materialize"."""
    with location() as there:
        there.here.order(1)

        result = there.run(tags={})

        assert not result.success
        assert there.here.images.vendor.sent == 0


def test_checks_count_for_their_own_partition() -> None:
    """Each job has three checks of its own with a target, and the wave one summary of each."""
    with location() as there:
        jobs = there.here.order(3)
        (request,) = there.dispatch()

        result = there.run(request)

        evaluations = result.get_asset_check_evaluations()
        own = [one for one in evaluations if one.partition is not None]
        assert len(own) == 9
        assert {one.partition for one in own} == set(jobs)
        assert all(one.target_materialization_data is not None for one in own)
        summaries = [one for one in evaluations if one.partition is None]
        assert sorted(one.check_name for one in summaries) == [
            "cost_is_within_the_estimate_across_the_wave",
            "every_rendition_is_tagged_across_the_wave",
            "review_is_settled_across_the_wave",
        ]
        assert {one.description for one in summaries} == {"3 of 3 jobs pass."}


def test_large_campaigns_have_summary_checks_alone() -> None:
    """Above the bound the partitioned rows are left out; the summary still speaks for all."""
    here = floor(clock=SystemClock(), partitioned_checks_up_to=1)
    with location(here) as there:
        here.order(2)
        (request,) = there.dispatch()

        result = there.run(request)

        evaluations = result.get_asset_check_evaluations()
        assert [one.partition for one in evaluations] == [None] * 3


@pytest.mark.parametrize("count", [1, 7])
def test_scattered_jobs_go_into_one_run(count: int) -> None:
    """Keys that stand apart in the set are put last, as one slice that reads back whole."""
    with location() as there:
        first = there.here.order(3)
        (request,) = there.dispatch()
        there.run(request)
        later = there.here.order(count, prefix="later")

        (request,) = there.dispatch()

        keys = there.instance.get_dynamic_partitions("jobs_acme_spring-launch")
        start = keys.index(request.tags[names.RANGE_START_TAG])
        end = keys.index(request.tags[names.RANGE_END_TAG])
        assert set(keys[start : end + 1]) == set(later)
        assert set(keys) == {*first, *later}


def older_version(there: Location, job: str) -> str:
    """Record a job like *job* that was priced under another version of the campaign."""
    here = there.here
    row = here.row(job)
    content = here.objects.get(ids.campaign_key(CUSTOMER, CAMPAIGN, row.campaign_version))
    assert content is not None
    here.objects.put(
        ids.campaign_key(CUSTOMER, CAMPAIGN, "older"), content, media_type="application/json"
    )
    (other,) = here.order(1, prefix="older")
    changed = replace(here.row(other), campaign_version="older")
    here.ledger._rows[other] = changed  # What intake wrote when the campaign was another.
    return other


def test_a_run_by_hand_claims_a_wave_when_its_turn_comes() -> None:
    """Two versions are two waves: while the first is at work, the second's jobs are nobody's."""
    with location() as there:
        (first,) = there.here.order(1)
        second = older_version(there, first)
        there.instance.add_dynamic_partitions("jobs_acme_spring-launch", [first, second])
        seen: list[tuple[Status, str | None]] = []
        there.here.images.vendor.watch = lambda: seen.append(
            (there.here.row(second).status, there.here.row(second).wave)
        )

        result = there.by_hand([first, second])

        assert result.success
        assert seen[0] == (Status.QUEUED, None)
        assert {there.here.row(job).status for job in (first, second)} == {Status.SUCCEEDED}


def test_a_run_by_hand_names_what_was_taken_meanwhile() -> None:
    """The dispatcher takes a job before its turn: the run ends red and the table says so."""
    with location() as there:
        (first,) = there.here.order(1)
        second = older_version(there, first)
        there.instance.add_dynamic_partitions("jobs_acme_spring-launch", [first, second])
        ledger, now = there.here.ledger, there.here.clock.now()
        there.here.images.vendor.watch = lambda: ledger.claim(second, CUSTOMER, "w-x", now=now)

        result = there.by_hand([first, second])

        failure = result.failure_data_for_node("wave__acme__spring_launch")
        assert failure is not None
        assert failure.user_failure_data is not None
        table = failure.user_failure_data.metadata["jobs"].value.records
        assert [(row.data["job"], row.data["reason"]) for row in table] == [
            (second, "another wave took it, it came into another line, or its campaign is on hold")
        ]
        assert there.here.row(first).status is Status.SUCCEEDED


def test_done_jobs_are_told_again_after_the_work() -> None:
    """What costs nothing waits: by then every lease of the run is over."""
    with location() as there:
        done = there.here.order(1)
        (request,) = there.dispatch()
        there.run(request)
        queued = there.here.order(1, prefix="later")
        there.instance.add_dynamic_partitions("jobs_acme_spring-launch", queued)

        result = there.by_hand([*done, *queued])

        told = [event.partition for event in result.get_asset_materialization_events()]
        assert told == [*queued * 3, *done * 3]


def test_jobs_that_are_taken_away_in_mid_wave_end_the_run_red() -> None:
    """A takeover under a run that still lives: it says so, instead of ending green."""
    with location() as there:
        (job,) = there.here.order(1)
        (request,) = there.dispatch()
        wave_id = request.tags[names.WAVE_TAG]

        def take_away() -> None:
            wave = there.here.ledger.wave(wave_id)
            assert wave is not None
            take_over(there.here.ledger, wave, now=there.here.clock.now())

        there.here.images.vendor.watch = take_away

        result = there.run(request)

        assert not result.success
        assert there.failed(DELIVERIES) == {job}


def test_a_run_s_range_holds_its_own_jobs_alone() -> None:
    """A key that another writer adds in between is in no run; what was shrunk away is queued."""
    with location() as there:
        jobs = there.here.order(3)
        crowded = replace(there, instance=Crowded(there.instance))

        requests = crowded.dispatch()

        keys = list(there.instance.get_dynamic_partitions("jobs_acme_spring-launch"))
        asked: set[str] = set()
        for request in requests:
            start = keys.index(request.tags[names.RANGE_START_TAG])
            end = keys.index(request.tags[names.RANGE_END_TAG])
            asked |= set(keys[start : end + 1])
        assert "foreign" in keys
        running = {job for job in jobs if there.here.row(job).status is Status.RUNNING}
        assert asked == running
        assert {there.here.row(job).wave for job in set(jobs) - running} <= {None}


class Crowded:
    """An instance where somebody else adds a key just after each of our own additions."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance

    def __getattr__(self, name: str) -> object:
        return getattr(self._instance, name)

    def add_dynamic_partitions(self, name: str, keys: Sequence[str]) -> None:
        """Add the keys, and one that is nobody's here."""
        self._instance.add_dynamic_partitions(name, [*keys, "foreign"])


def test_a_job_that_fails_after_generate_shows_its_picture() -> None:
    """Its base image is there with picture, cost, model and seed; only what is missing is red."""
    with location() as there:
        (job,) = there.here.order(1)
        there.here.documents.vendor.script += [UNSAFE] * 3
        (request,) = there.dispatch()

        result = there.run(request)

        assert not result.success
        assert there.failed(DELIVERIES) == {job}
        (shown,) = there.told(BASE_IMAGES, job)
        assert (shown["operations"], shown["model"]) == (0.5, "image3")
        assert str(shown["seed"]).isdecimal()
        assert f"/assets/{CUSTOMER}/{CAMPAIGN}/{job}/art" in str(shown["preview"])
        assert there.failed(BASE_IMAGES) == set()
        assert there.failed(RENDITIONS) == there.failed(DELIVERIES) == {job}


def test_operations_add_up_over_all_events() -> None:
    """However often a job is told again, the sum over its events is what was paid."""
    with location() as there:
        (job,) = there.here.order(1)
        there.here.documents.vendor.script += [RECOVERABLE] * 6
        (request,) = there.dispatch()
        there.run(request)
        assert there.here.row(job).status is Status.DLQ

        there.by_hand([job])
        there.by_hand([job])

        pictures, renditions = there.told(BASE_IMAGES, job), there.told(RENDITIONS, job)
        assert [one["operations"] for one in pictures] == [0.0, 0.0, 0.5]
        assert {one["operations_in_all"] for one in pictures} == {0.5}
        assert [one["operations"] for one in renditions] == [0.0, 3.0]


def test_tables_name_jobs_by_the_customers_key() -> None:
    """Beside the id stands the key that the customer gave, in failures and in checks."""
    required = config(
        review=ReviewMode.REQUIRED, aspects=ASPECTS, templates=TEMPLATES, recipe=recipe()
    )
    with location(floor(clock=SystemClock(), catalogue=FixedCatalogue(required))) as there:
        jobs = there.here.order(2)
        there.here.images.vendor.script.append(UNSAFE)
        (request,) = there.dispatch()

        result = there.run(request)

        failure = result.failure_data_for_node("wave__acme__spring_launch")
        assert failure is not None
        assert failure.user_failure_data is not None
        (failed,) = failure.user_failure_data.metadata["jobs"].records
        pending = there.summary(Check.REVIEW)
        assert pending is not None
        (waits,) = pending.metadata["jobs_not_passed"].records
        keys = dict(zip(jobs, ("job-0", "job-1"), strict=True))
        assert failed.data["key"] == keys[failed.data["job"]]
        assert waits.data["key"] == keys[waits.data["job"]]
        assert pending.description == (
            "1 of 1 jobs do not pass. "
            "They are delivered and not handed out until a person approves them. "
            "1 more did not come so far: the run says why."
        )


def test_only_what_was_selected_is_told_again() -> None:
    """One asset of a done job: no other is told, and the checks of the others still count."""
    with location() as there:
        (job,) = there.here.order(1)
        (request,) = there.dispatch()
        there.run(request)

        result = there.by_hand([job], assets=[RENDITIONS])

        told = [event.asset_key for event in result.get_asset_materialization_events()]
        assert told == [RENDITIONS]
        assert {one.asset_key for one in result.get_asset_check_evaluations()} == {RENDITIONS}
        assert [there.checks(check) for check in Check] == [{job: "SUCCEEDED"}] * 3


def test_an_early_stage_alone_pays_for_nothing() -> None:
    """A job is made whole: without its deliveries selected it is left alone, and named."""
    with location() as there:
        (job,) = there.here.order(1)
        there.instance.add_dynamic_partitions("jobs_acme_spring-launch", [job])

        result = there.by_hand([job], assets=[BASE_IMAGES])

        assert not result.success
        assert (there.here.images.vendor.sent, there.here.documents.vendor.sent) == (0, 0)
        assert there.here.row(job).status is Status.QUEUED
        failure = result.failure_data_for_node("wave__acme__spring_launch")
        assert failure is not None
        assert failure.user_failure_data is not None
        (row,) = failure.user_failure_data.metadata["jobs"].records
        assert row.data["reason"] == NOT_WHOLE


def test_deliveries_alone_tell_everything_that_was_made_for_them() -> None:
    """Upstream is made and paid for, so it is shown, and every check counts."""
    with location() as there:
        (job,) = there.here.order(1)
        there.instance.add_dynamic_partitions("jobs_acme_spring-launch", [job])

        result = there.by_hand([job], assets=[DELIVERIES])

        assert result.success
        assert [there.materialized(key) for key in WAVE] == [{job}] * 3
        assert [there.checks(check) for check in Check] == [{job: "SUCCEEDED"}] * 3


def test_a_wave_that_can_not_begin_says_so_in_a_sentence() -> None:
    """Not a trace alone: what is wrong stands in the table and with the job."""
    with location() as there:
        (job,) = there.here.order(1)
        (request,) = there.dispatch()
        version = there.here.row(job).campaign_version
        there.here.objects._objects.pop(ids.campaign_key(CUSTOMER, CAMPAIGN, version))

        result = there.run(request)

        failure = result.failure_data_for_node("wave__acme__spring_launch")
        assert failure is not None
        assert failure.user_failure_data is not None
        assert "1 left alone" in (failure.user_failure_data.description or "")
        (record,) = failure.user_failure_data.metadata["jobs"].value.records
        assert "There is no campaign" in record.data["reason"]
        assert "There is no campaign" in (there.here.row(job).reason or "")
