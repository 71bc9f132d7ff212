"""The chaos bench's judge: how each job stands, against the table that was written before.

Belongs here: states, losses, what a replay was worth. Does not: billed calls against rows
(``fence_judge.py``), alarms (``chaos_alarms.py``).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from hashlib import sha256

from chaos_plan import ABSENT, BY_FENCE, DONE, End, Plan, Planned
from fence_books import Kill, Row, when

from fireflyassets.core import ids


@dataclass(frozen=True)
class Look:
    """How every job stood at one moment."""

    ends: Mapping[str, End]
    """Job id -> how it stands."""
    rows: Mapping[str, Row]

    def of(self, job: Planned) -> End:
        """Return how a job stands."""
        return self.ends.get(job.job_id, ABSENT)


def look(rows: Sequence[Row]) -> Look:
    """Return how the jobs of *rows* stand."""
    return Look({row["jobId"]: end_of(row) for row in rows}, {row["jobId"]: row for row in rows})


def end_of(row: Row) -> End:
    """Return how a row stands."""
    hold = row.get("hold")
    return End(row["status"], row.get("failure"), hold["by"] if hold else None)


def rests(row: Row, *, later: datetime) -> bool:
    """Say whether nothing more happens to a job before *later*."""
    waits = "hold" in row or ("notBefore" in row and when(row["notBefore"]) > later)
    return row["status"] != "running" and (row["status"] != "queued" or waits)


def progress(plan: Plan, now: Look) -> float:
    """Return which part of the mixed jobs has ended, or is held."""
    mine = [job for job in plan.jobs if job.in_mix]
    ended = [job for job in mine if now.of(job).status not in {"queued", "running", "absent"}]
    held = [job for job in mine if now.of(job).held_by]
    return (len(ended) + len(held)) / len(mine)


def inside(kills: Sequence[Kill]) -> set[str]:
    """Return the jobs that were inside a submit when their process was killed."""
    return {job for kill in kills for job, _, _ in kill.died}


def lost(plan: Plan, last: Look) -> Iterator[str]:
    """Yield a sentence for each job that no row answers for, or that nobody works on."""
    for job in plan.jobs:
        row = last.rows.get(job.job_id)
        if row is None and job.fault.mended != ABSENT:
            yield f"{_name(job)} has no row"
        elif row is not None and row["status"] in {"queued", "running"} and "hold" not in row:
            yield f"{_name(job)} never came to an end: {row['status']}, {row.get('reason')}"


def wrong(plan: Plan, first: Look, last: Look, killed: set[str]) -> Iterator[str]:
    """Yield a sentence for each job that did not end as the table says, or that nobody sent."""
    for job in plan.jobs:
        may_hold = {BY_FENCE} if job.job_id in killed else set[End]()
        for at, expected, found in (
            ("then", job.fault.end, first.of(job)),
            ("at the end", job.fault.mended, last.of(job)),
        ):
            if found not in {expected} | may_hold:
                yield f"{_name(job)} stands as {found} {at}, not {expected}: {_why(job, last)}"
                break
    for job_id in set(last.rows) - {job.job_id for job in plan.jobs}:
        yield f"job {job_id} is nobody's"


def without_snapshot(plan: Plan, first: Look, keys: set[str]) -> Iterator[str]:
    """Yield a sentence for each job that ended by a fault and left no snapshot."""
    for job in plan.jobs:
        if first.of(job).status not in {"dlq", "review"}:
            continue
        if ids.snapshot_key(job.customer, "bench", job.job_id) not in keys:
            yield f"{_name(job)} left no snapshot"


def recoverable(plan: Plan, first: Look) -> list[Planned]:
    """Return the jobs that the replay has to bring to their end."""
    waiting = {"dlq", "absent"}
    return [
        job
        for job in plan.jobs
        if job.fault.mended == DONE and job.fault.end != DONE and first.of(job).status in waiting
    ]


def share(jobs: Sequence[Planned], last: Look) -> float:
    """Return which part of *jobs* has succeeded."""
    return sum(last.of(job) == DONE for job in jobs) / len(jobs) if jobs else 0.0


def wasted(jobs: Sequence[Planned], billed: Sequence[Row], *, since: datetime) -> Decimal:
    """Return what was billed since then for anything but one picture for each of *jobs*."""
    due = Counter(sha256(job.prompt.encode()).hexdigest() for job in jobs)
    total = Decimal(0)
    for call in billed:
        if when(call["at"]) <= since:
            continue
        if due[call["prompt_sha256"]] > 0:
            due[call["prompt_sha256"]] -= 1
        else:
            total += Decimal(call["operations"])
    return total


def table(plan: Plan, first: Look, last: Look) -> Iterator[str]:
    """Yield a line for each class: how many, how they stood, and how they stand."""
    yield f"{'fault':18}{'jobs':>5}  {'with the fault':46}at the end"
    for name in sorted({job.fault.name for job in plan.jobs}):
        mine = [job for job in plan.jobs if job.fault.name == name]
        then = Counter(str(first.of(job)) for job in mine)
        now = Counter(str(last.of(job)) for job in mine)
        yield f"{name:18}{len(mine):>5}  {_counted(then):46}{_counted(now)}"


def summed(look: Look) -> str:
    """Return how many jobs stand how."""
    return _counted(Counter(map(str, look.ends.values())))


def _counted(ends: Counter[str]) -> str:
    return ", ".join(f"{count} {end}" for end, count in ends.most_common())


def _name(job: Planned) -> str:
    return f"job {job.job_id} ({job.customer} {job.n}, {job.fault.name})"


def _why(job: Planned, last: Look) -> object:
    return last.rows.get(job.job_id, {}).get("reason")
