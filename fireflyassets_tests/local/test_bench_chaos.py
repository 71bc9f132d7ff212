"""The judge of `make bench-chaos`: whatever is not as the table says is named."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from hashlib import sha256
from types import ModuleType, SimpleNamespace

import pytest

from fireflyassets.core.ids import snapshot_key
from fireflyassets_tests.front_door import NOON


@pytest.fixture
def bench(bench_module: Callable[[str], ModuleType]) -> SimpleNamespace:
    """Return the bench's plan and judge."""
    return SimpleNamespace(
        **{name: bench_module(f"chaos_{name}") for name in ("judge", "plan", "alarms")}
    )


def rows(bench: SimpleNamespace, plan: SimpleNamespace, *, mended: bool) -> list[dict[str, object]]:
    """Return the rows of jobs that all stand as the table says."""
    told: list[dict[str, object]] = []
    for job in plan.jobs:
        end = job.fault.mended if mended else job.fault.end
        if end == bench.plan.ABSENT:
            continue
        row: dict[str, object] = {"jobId": job.job_id, "status": end.status}
        row |= {"failure": end.failure} if end.failure else {}
        row |= {"hold": {"by": end.held_by}} if end.held_by else {}
        told.append(row)
    return told


def test_a_plan_has_each_fault_and_a_tenth_of_its_jobs_has_one(bench: SimpleNamespace) -> None:
    """The same seed plans the same; no two jobs share a prompt. Storm and burst are not counted."""
    plan = bench.plan.drawn(7, 300)

    burst = [job for job in plan.jobs if job.in_burst]
    befallen = [job for job in plan.jobs if job.fault.name != "none" and job.in_mix]

    assert sum(job.in_mix or job.calm for job in plan.jobs) == 300
    assert len({job.prompt for job in plan.jobs}) == len(plan.jobs)
    assert len({job.customer for job in burst}) == 1
    assert len(befallen) == 30
    assert {job.fault.name for job in befallen} == {one.name for one in bench.plan.FAULTS}
    assert not any(job.calm for job in befallen)
    assert [job.prompt for job in plan.jobs] == [
        job.prompt for job in bench.plan.drawn(7, 300).jobs
    ]


def test_jobs_that_stand_as_the_table_says_are_right(bench: SimpleNamespace) -> None:
    plan = bench.plan.drawn(1, 60)
    first = bench.judge.look(rows(bench, plan, mended=False))
    last = bench.judge.look(rows(bench, plan, mended=True))

    assert list(bench.judge.wrong(plan, first, last, set())) == []
    assert list(bench.judge.lost(plan, last)) == []
    assert bench.judge.share(bench.judge.recoverable(plan, first), last) == 1


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("unsafe", {"status": "succeeded"}),
        ("quota", {"status": "review"}),
        ("auth", {"failure": "transient"}),
        ("lost-answer", {"hold": {"by": "factory"}}),
        ("none", {"status": "dlq", "failure": "storage"}),
    ],
)
def test_a_job_that_stands_otherwise_is_named(
    bench: SimpleNamespace, name: str, changed: dict[str, object]
) -> None:
    plan = bench.plan.drawn(1, 60)
    job = next(one for one in plan.jobs if one.fault.name == name)
    told = rows(bench, plan, mended=False)
    (row,) = (one for one in told if one["jobId"] == job.job_id)
    row.update(changed)
    last = bench.judge.look(rows(bench, plan, mended=True))

    (said,) = bench.judge.wrong(plan, bench.judge.look(told), last, set())

    assert job.job_id in said


def test_a_job_may_be_held_for_a_kill_and_for_nothing_else(bench: SimpleNamespace) -> None:
    plan = bench.plan.drawn(1, 60)
    job = next(one for one in plan.jobs if one.fault.name == "none")
    looks = []
    for mended in (False, True):
        told = rows(bench, plan, mended=mended)
        (row,) = (one for one in told if one["jobId"] == job.job_id)
        row |= {"status": "queued", "hold": {"by": "fence"}}
        looks.append(bench.judge.look(told))

    assert len(list(bench.judge.wrong(plan, *looks, set()))) == 1
    assert list(bench.judge.wrong(plan, *looks, {job.job_id})) == []


def test_a_job_without_a_row_or_an_end_is_lost(bench: SimpleNamespace) -> None:
    plan = bench.plan.drawn(1, 60)
    told = rows(bench, plan, mended=True)
    done = [row for row in told if row["status"] == "succeeded"]
    done[0]["status"] = "running"
    told.remove(done[1])

    assert len(list(bench.judge.lost(plan, bench.judge.look(told)))) == 2


def test_a_missing_snapshot_is_named(bench: SimpleNamespace) -> None:
    plan = bench.plan.drawn(1, 60)
    first = bench.judge.look(rows(bench, plan, mended=False))
    ended = [job for job in plan.jobs if first.of(job).status in {"dlq", "review"}]
    keys = {snapshot_key(job.customer, "bench", job.job_id) for job in ended}

    assert list(bench.judge.without_snapshot(plan, first, keys)) == []
    assert len(list(bench.judge.without_snapshot(plan, first, set()))) == len(ended)


def test_a_replay_wastes_what_is_no_picture_of_its_jobs(bench: SimpleNamespace) -> None:
    """The first picture of each replayed job is due; a second, or anybody else's, is waste."""
    plan = bench.plan.drawn(1, 60)
    one, other = plan.jobs[:2]

    def call(job: SimpleNamespace, after: int) -> dict[str, object]:
        digest = sha256(job.prompt.encode()).hexdigest()
        at = (NOON + timedelta(seconds=after)).isoformat()
        return {"at": at, "prompt_sha256": digest, "operations": "0.5"}

    billed = [call(one, -5), call(other, -5), call(one, 5)]

    assert bench.judge.wasted([one], billed, since=NOON) == 0
    assert bench.judge.wasted([one], [*billed, call(one, 6)], since=NOON) == Decimal("0.5")
    assert bench.judge.wasted([one], [*billed, call(other, 6)], since=NOON) == Decimal("0.5")


def test_each_fault_is_in_the_language_of_the_simulated_adobe(bench: SimpleNamespace) -> None:
    from fireflyassets.twin.fault_language import FAULT_REQUESTS  # noqa: PLC0415

    said = [one for fault in bench.plan.FAULTS if (one := fault.scripted())]

    assert len(FAULT_REQUESTS.validate_python(said)) == len(said)
    assert replace(bench.plan.FAULTS[0], rule=None).scripted() is None


class Silent:
    """A CloudWatch that was sent nothing but what it is told here."""

    def __init__(self, sums: dict[str, int] | None = None) -> None:
        self.levels = sums or {}

    def list_metrics(self, **asked: object) -> dict[str, object]:
        tokens = str(asked["MetricName"]).startswith("token")
        labels = [{"Name": "credential", "Value": "main"}]
        return {"Metrics": [{"Dimensions": labels}] if tokens else []}

    def get_metric_statistics(self, **asked: object) -> dict[str, object]:
        said = SimpleNamespace(**asked)
        level = self.levels.get(said.MetricName)
        at, points = said.StartTime, []
        while level is not None and at < said.EndTime:
            points.append({"Timestamp": at, "Maximum": level, "Sum": level})
            at += timedelta(seconds=said.Period)
        return {"Datapoints": points}


def test_a_storm_is_many_refusals_without_a_pause(bench: SimpleNamespace) -> None:
    """Where they paused, or were few, nobody has to be called for them."""
    refused = [NOON + timedelta(seconds=n / 2) for n in range(40)]

    assert bench.alarms.is_storm(refused)
    assert not bench.alarms.is_storm(refused[:12] + refused[20:32])
    assert not bench.alarms.is_storm(refused[::2])
    assert not bench.alarms.is_storm([])


def told(bench: SimpleNamespace, client: Silent, mints: object) -> SimpleNamespace:
    """Return what the alarms did in two minutes, a scaled hour, of which the second had faults."""
    end = NOON + timedelta(seconds=120)
    faults_at = NOON + timedelta(seconds=60)
    return bench.alarms.judge(client, mints, begun=NOON, faults_at=faults_at, ended=end)


@pytest.mark.parametrize(("made", "false"), [(10, set()), (9, {"token_cache"})])
def test_new_tokens_are_no_fault_where_the_vendor_has_made_them(
    bench: SimpleNamespace, made: int, false: set[str]
) -> None:
    """Ten of 300 are over 1 %, and right; what is told beyond the vendor's own count is not."""
    mints = bench.alarms.Mints()
    mints.note(5, NOON - timedelta(seconds=60))
    mints.note(5, NOON + timedelta(seconds=30))
    mints.note(5 + made, NOON + timedelta(seconds=31))
    counted = Silent({"stalled": 0, "token_uses": 300, "token_misses": 10})

    assert told(bench, counted, mints).false == false


def test_an_alarm_that_is_missed_or_stays_on_is_named(bench: SimpleNamespace) -> None:
    """Dead letters all the time: the alarm is on before any fault, and at the very end."""
    always = {"dlq_depth", "no_progress", "breaker_open", "refused_calls", "broken_jobs"}
    dead = {"dlq_depth": 3, "stalled": 0}

    def judged(client: Silent) -> SimpleNamespace:
        return told(bench, client, bench.alarms.Mints())

    assert judged(Silent({"stalled": 0})).missed == always
    assert judged(Silent({"stalled": 0})).false == set()
    assert judged(Silent(dead)).false == {"dlq_depth"}
    assert judged(Silent()).false == {"no_progress"}
