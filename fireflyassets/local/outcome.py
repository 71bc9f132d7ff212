"""What a demo found, and whether it is what the demo promises.

Belongs here: the collected findings, the figures worked out from them, and the promises, each with
its own sentence. Does not: collecting (``demo.py``), printing (``report.py``).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Final

from fireflyassets.core.status import Status
from fireflyassets.local import figures, pictures
from fireflyassets.local.books import Books
from fireflyassets.local.customer import Job
from fireflyassets.local.pictures import Rendition
from fireflyassets.local.sample import Sample

Figure = int | float | None

LEAST_LIMITER_USE: Final = 0.90


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Everything a demo looked at."""

    sample: Sample
    before: Mapping[str, Job]
    """The sample's jobs that existed when the demo began."""
    jobs: Mapping[str, Job]
    repeated: Mapping[str, Job]
    """The same jobs after the whole brief was sent again."""
    renditions: tuple[Rendition, ...]
    books_before: Books
    books: Books
    books_repeated: Books
    dead_messages: int
    """Raw messages of this demo that the factory set aside."""
    wall: timedelta
    """From the first submit to the end of the last job."""
    pss_bytes: int
    paced_per_minute: Decimal

    @property
    def worked_on(self) -> tuple[Job, ...]:
        """Return the jobs whose cost this demo accounts for.

        Those that were not done before. Where an earlier demo broke off in the middle, what it
        had paid by then cannot be told apart by job: then all of them, and all calls there are.
        """
        if self._resumes:
            return tuple(self.jobs.values())
        return tuple(job for job_id, job in self.jobs.items() if job_id not in self.before)

    @property
    def calls(self) -> tuple[figures.Call, ...]:
        """Return the paid calls that `worked_on` stands for."""
        return figures.since(self.books.calls, () if self._resumes else self.books_before.calls)

    @property
    def _resumes(self) -> bool:
        return any(job.status is not Status.SUCCEEDED for job in self.before.values())

    @property
    def estimate(self) -> Decimal:
        """Return the operations estimated for all jobs."""
        return sum((job.cost_estimate for job in self.jobs.values()), Decimal(0))

    @property
    def actual(self) -> Decimal:
        """Return the operations that all jobs certainly cost, whenever they ran."""
        return _cost(self.jobs.values())

    @property
    def possible(self) -> Decimal:
        """Return the operations that may have been billed besides."""
        return sum((job.cost_possible or Decimal(0) for job in self.jobs.values()), Decimal(0))

    @property
    def paid_again(self) -> Decimal:
        """Return the operations that sending the brief a second time cost."""
        return figures.billed(figures.since(self.books_repeated.calls, self.books.calls))

    def figures(self) -> dict[str, Figure]:
        """Return the flat figures by name."""
        use = figures.limiter_use(self.calls, paced_per_minute=self.paced_per_minute)
        return {
            "jobs": sum(job.status is Status.SUCCEEDED for job in self.jobs.values()),
            "renditions": len(self.renditions),
            "distinct_pictures": pictures.distinct(self.renditions),
            "operations": float(self.actual),
            "operations_difference": float(_cost(self.worked_on) - figures.billed(self.calls)),
            "second_run_operations": float(self.paid_again),
            "calls": sum(figures.accepted_by_kind(self.calls).values()),
            "polls_per_call": float(figures.polls_per_call(self.calls)),
            "http_429": self.books_repeated.http_429 - self.books_before.http_429,
            "wall_s": round(self.wall.total_seconds(), 1),
            "pss_mb": round(self.pss_bytes / 1e6),
            "limiter_use": None if use is None else float(use),
        }


def broken_promises(outcome: Outcome) -> list[str]:
    """Return a sentence for each promise that the demo did not keep."""
    return [sentence for sentence, kept in _promises(outcome) if not kept]


def _promises(outcome: Outcome) -> Iterator[tuple[str, bool]]:
    values = outcome.figures()
    asked = outcome.sample.all
    wanted = {
        (job, aspect) for job, each in outcome.sample.job_ids().items() for aspect in each.aspects
    }
    made = {(each.job_id, each.aspect) for each in outcome.renditions}
    calls = figures.accepted_by_kind(outcome.calls)
    expected = _expected_calls(outcome)
    yield (
        f"{values['jobs']} of {len(asked)} jobs succeeded.",
        all(job.status is Status.SUCCEEDED for job in outcome.jobs.values())
        and len(outcome.jobs) == len(asked),
    )
    yield f"{len(wanted - made)} of {len(wanted)} renditions are missing.", wanted == made
    misfits = [
        f"{each.file.name} is {each.width}x{each.height}"
        for each in outcome.renditions
        if not each.fits
    ]
    yield f"Renditions have the wrong size: {', '.join(misfits)}.", not misfits
    yield (
        f"Only {values['distinct_pictures']} of {len(made)} renditions look different.",
        values["distinct_pictures"] == len(made),
    )
    yield f"Adobe accepted {calls} and {expected} were needed.", calls == expected
    yield (
        f"We account for {values['operations_difference']} operations more than Adobe billed.",
        values["operations_difference"] == 0,
    )
    yield f"{outcome.possible} operations may have been billed besides.", not outcome.possible
    yield (
        f"Sending the same brief again cost {values['second_run_operations']} operations.",
        values["second_run_operations"] == 0,
    )
    yield (
        "Sending the same brief again changed a job.",
        {job: each.status for job, each in outcome.repeated.items()}
        == {job: each.status for job, each in outcome.jobs.items()},
    )
    set_aside = (
        f"{outcome.dead_messages} raw messages were refused and are in the dead-letter queue; a "
        "key that stood for another request before is the usual cause: run with --fresh."
    )
    yield set_aside, not outcome.dead_messages
    yield f"Adobe refused {values['http_429']} calls with 429.", values["http_429"] == 0
    use = values["limiter_use"]
    slow = f"Generate calls used {use} of their paced rate, below {LEAST_LIMITER_USE}."
    yield slow, use is None or use >= LEAST_LIMITER_USE


def _expected_calls(outcome: Outcome) -> dict[str, int]:
    requests = outcome.sample.job_ids()
    aspects = [len(requests[job.job_id].aspects) for job in outcome.worked_on]
    if not aspects:
        return {}
    return {figures.GENERATE: len(aspects), figures.COMPOSITE: sum(aspects)}


def _cost(jobs: Iterable[Job]) -> Decimal:
    return sum((job.cost_actual or Decimal(0) for job in jobs), Decimal(0))
