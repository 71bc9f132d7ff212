"""The main job, end to end: a brief in by both doors, all renditions out, sent twice, paid once.

Belongs here: the course of the demo. Does not: starting the stack (``launching.py``), judging
(``outcome.py``), telling (``report.py``).
"""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

import httpx
import psutil
from botocore.exceptions import BotoCoreError, ClientError

from fireflyassets.core.errors import FactoryError, ServiceDown
from fireflyassets.core.status import ENDED, Status
from fireflyassets.local import pictures, processes
from fireflyassets.local.books import read_books
from fireflyassets.local.customer import Customer, Doors, Job, UnexpectedAnswer, refused_rows
from fireflyassets.local.meter import PeakMeter
from fireflyassets.local.outcome import Outcome
from fireflyassets.local.pictures import Rendition
from fireflyassets.local.sample import CAMPAIGN, CUSTOMER, Sample
from fireflyassets.local.service import pause
from fireflyassets.local.stack import Say, Stack

DEADLINE: Final = timedelta(seconds=300)
LOOK_EVERY_SECONDS: Final = 1.0
DYING_SECONDS: Final = 2.0


class DemoFailed(FactoryError):
    """The demo can't go on."""

    remedy = "Read the logs in the state folder; `fireflyassets demo --fresh` begins anew."


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the demo works with."""

    sample: Sample
    output: Path
    queue: str
    paced_per_minute: Decimal


def run(stack: Stack, plan: Plan, say: Say) -> Outcome:
    """Send the brief, wait, take the renditions away, send it again, and return what was found.

    Raises:
        ServiceDown: A service died; the sentence names it.
        DiskFull: There is too little room to go on.
        DemoFailed: The factory refused the brief, or did not end all jobs in time.
    """
    doors = Doors(
        api_url=stack.access.url("api"),
        token=stack.access.tokens[CUSTOMER],
        aws_url=stack.access.url("aws"),
        queue=plan.queue,
    )
    try:
        with Customer(doors, customer=CUSTOMER, campaign=CAMPAIGN) as customer:
            return _Demo(stack, plan, say, customer).run()
    except UnexpectedAnswer:
        _insist_for_a_while(stack)  # The API fails without what it stands on.
        raise
    except (httpx.HTTPError, BotoCoreError, ClientError) as error:
        _insist_for_a_while(stack)
        raise ServiceDown(f"A service stopped answering ({_asked(error)}).") from error


class _Demo:
    def __init__(self, stack: Stack, plan: Plan, say: Say, customer: Customer) -> None:
        self._stack = stack
        self._plan = plan
        self._say = say
        self._customer = customer
        self._wanted = plan.sample.job_ids()

    def run(self) -> Outcome:
        twin = self._stack.access.url("twin")
        with PeakMeter(self._memory) as meter:
            dead = self._customer.dead_messages()
            before, books_before = self._customer.jobs(self._wanted), read_books(twin)
            started = time.monotonic()
            self._submit()
            jobs = self._wait()
            wall = timedelta(seconds=time.monotonic() - started)
            renditions, books = self._download(jobs), read_books(twin)
        repeated = self._send_again()
        outcome = Outcome(
            sample=self._plan.sample,
            before=before,
            jobs=jobs,
            repeated=repeated,
            renditions=renditions,
            books_before=books_before,
            books=books,
            books_repeated=read_books(twin),
            dead_messages=self._customer.dead_messages() - dead,
            wall=wall,
            pss_bytes=meter.peak_bytes,
            paced_per_minute=self._plan.paced_per_minute,
        )
        self._stack.insist()
        return outcome

    def _submit(self, *, again: str = "") -> None:
        sample = self._plan.sample
        faults = refused_rows(self._customer.post_csv(sample.csv()))
        if faults:
            raise DemoFailed(
                f"The API refused {len(faults)} rows of the brief; the first: {faults[0]} If the "
                "brief was changed since an earlier demo, run `fireflyassets demo --fresh`."
            )
        self._customer.send(sample.by_queue)
        where = f"{len(sample.by_api)} jobs to the API, {len(sample.by_queue)} to the queue"
        self._say(f"Sent {where}{again}.")

    def _wait(self) -> Mapping[str, Job]:
        started = time.monotonic()
        jobs: dict[str, Job] = {}
        told = ""
        while True:
            self._stack.insist()
            open_ones = [each for each in self._wanted if not _has_settled(jobs.get(each))]
            jobs |= self._customer.jobs(open_ones)
            elapsed = time.monotonic() - started
            if (now := self._progress(jobs)) != told:
                told = now
                self._say(f"{elapsed:5.0f} s  {told}")
            if all(_has_settled(jobs.get(each)) for each in self._wanted):
                return jobs
            if elapsed > DEADLINE.total_seconds():
                raise DemoFailed(self._unfinished(jobs))
            pause(LOOK_EVERY_SECONDS)

    def _progress(self, jobs: Mapping[str, Job]) -> str:
        counts = Counter(job.status.value for job in jobs.values())
        counts["not seen yet"] = len(self._wanted) - len(jobs)
        return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()) if count)

    def _unfinished(self, jobs: Mapping[str, Job]) -> str:
        lines = [
            f"    {request.key}: {_standing(jobs.get(job_id))}"
            for job_id, request in self._wanted.items()
            if not _has_settled(jobs.get(job_id))
        ]
        limit = DEADLINE.total_seconds()
        return f"{len(lines)} jobs have not ended after {limit:.0f} s:\n" + "\n".join(lines)

    def _download(self, jobs: Mapping[str, Job]) -> tuple[Rendition, ...]:
        for job_id, job in jobs.items():
            if job.status is not Status.SUCCEEDED:
                self._say(f"Job {self._wanted[job_id].key}: {_standing(job)}")
        return tuple(
            pictures.keep(
                self._customer.output(job_id, aspect),
                job_id=job_id,
                aspect=aspect,
                name=request.key,
                folder=self._plan.output,
            )
            for job_id, request in self._wanted.items()
            if jobs[job_id].status is Status.SUCCEEDED
            for aspect in request.aspects
        )

    def _send_again(self) -> Mapping[str, Job]:
        """Send the whole brief again and return the jobs once the queue is empty.

        A job that would be paid again shows at once: intake writes its row before it answers.
        """
        self._submit(again=" a second time")
        deadline = time.monotonic() + DEADLINE.total_seconds()
        while self._customer.waiting_messages():
            self._stack.insist()
            if time.monotonic() > deadline:
                raise DemoFailed("The queue was not read to its end.")
            pause(LOOK_EVERY_SECONDS)
        return self._customer.jobs(self._wanted)

    def _memory(self) -> int:
        return processes.memory_bytes(
            [psutil.Process(), *processes.of_stack(self._stack.folder.root)]
        )


def _insist_for_a_while(stack: Stack) -> None:
    """Name the service that died; a killed one stops answering a moment before it is dead."""
    until = time.monotonic() + DYING_SECONDS
    while time.monotonic() < until:
        stack.insist()
        pause(DYING_SECONDS / 10)


def _asked(error: Exception) -> str:
    """Say what was asked and how that went, without the URL's query."""
    if isinstance(error, httpx.HTTPStatusError):
        url = error.request.url
        return f"{url.host}:{url.port}{url.path} was answered {error.response.status_code}"
    return type(error).__name__


def _has_settled(job: Job | None) -> bool:
    """Say whether waiting is over: a held job waits for a person."""
    return job is not None and (job.held or job.status in ENDED)


def _standing(job: Job | None) -> str:
    if job is None:
        return "never seen in the ledger"
    state = "held" if job.held else job.status.value
    return f"{state}: {job.reason}" if job.reason else state
