"""Collecting: from an accepted send to its end, by polling at learned times.

Belongs here: polls, deadlines, and the rows that record a bad end. Does not: sending; results.
A stored id is polled whatever the tickets, waves or breakers say: it is paid for.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.failure import ACTIONS, Action, FailureClass, Fault, classify
from fireflyassets.core.money import Cause
from fireflyassets.core.polling import Latency, next_question
from fireflyassets.fence.call import Arrived, Lease, PaidCall
from fireflyassets.ports.clock import Clock, Offload
from fireflyassets.ports.entries import Attempt, AttemptState, Operation
from fireflyassets.ports.images import ImageGenerator
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.paid import (
    Done,
    EndedBadly,
    Gone,
    PaidService,
    Poll,
    PollFailed,
    Working,
)

_log: Final = logging.getLogger("fireflyassets.wave")
POLL_BACKOFF, MOST_BACKOFF = timedelta(seconds=2), timedelta(seconds=10)
"""After a question that failed and named no time to wait: twice as long each time, up to the most.
"""
AT_ONCE: Final = datetime.min.replace(tzinfo=UTC)
LAST_QUESTIONS: Final = 3
"""A job past its deadline is given up on an answer, or after this many questions without one."""


@dataclass(slots=True, eq=False)
class _Asking:
    """The questions about one job so far."""

    resumed: bool
    """Sent by an earlier claim: it is asked for at once, and teaches nothing."""
    since: datetime
    """From when on the job is at work: how long its submit took says nothing about that."""
    polls: int = 0
    asked_at: timedelta = timedelta(0)
    """After how long the last question was asked."""
    failed: int = 0
    """Questions that failed since the last answer."""
    failed_late: int = 0
    """Questions past the deadline that failed: they do not say that the job took too long."""
    not_before: datetime = AT_ONCE
    """Until when a question that failed asks us to wait."""
    cancels: int = 0
    """How often the vendor was asked to cancel; its end is waited for all the same."""
    cancel_at: datetime | None = AT_ONCE
    """When it may be asked to; None once it has answered."""
    working_at: timedelta = timedelta(0)
    """After how long the last answer said that the job goes on."""


@dataclass(slots=True)
class Collector:
    """Polls accepted jobs to their end. Used by one event loop."""

    ledger: JobLedger
    clock: Clock
    offload: Offload
    """One that goes on until the ledger has what it is told: that is money."""
    latencies: dict[str, Latency] = field(default_factory=dict[str, Latency])
    """Name of a step -> what its remote time is like."""
    in_flight: dict[str, set[_Asking]] = field(default_factory=dict[str, set[_Asking]])
    """Name of a step -> its jobs that are asked for. What they outlast teaches, too."""

    async def collect(self, call: PaidCall, attempt: Attempt, lease: Lease) -> Arrived | Attempt:
        """Poll until the job ends; a bad end that may be retried comes back as the closed attempt.

        Raises:
            StepRefused: It ended for good, or passed its deadline with the id kept.
            Stopped: The wave stops and the job still works. The id is stored: whoever has the job
                next, or the sweep, asks for it.
        """
        resumed = attempt.epoch != call.claim.epoch
        asking = _Asking(resumed, attempt.submitted_at if resumed else self.clock.now())
        beside = self.in_flight.setdefault(call.learns, set())
        beside.add(asking)
        try:
            return await self._until_its_end(call, attempt, asking, lease)
        finally:
            beside.remove(asking)

    async def _until_its_end(
        self, call: PaidCall, attempt: Attempt, asking: _Asking, lease: Lease
    ) -> Arrived | Attempt:
        deadline = attempt.submitted_at + call.timeout
        fault = Fault(call.service.family, None, "timeout")
        while True:
            await self._wait_or_call_back(call, attempt, asking, lease)
            asking.asked_at = self.clock.now() - asking.since
            late = self.clock.now() > deadline
            answer = await call.service.poll(attempt.status_url or "")
            asking.polls += 1
            asking.failed_late += late and isinstance(answer, PollFailed)
            if isinstance(answer, PollFailed):
                fault = answer.fault
                asking.not_before = self._again_at(answer, asking.failed)
                asking.failed += 1
            elif isinstance(answer, Working):
                asking.failed, asking.working_at = 0, asking.asked_at
            else:
                return await self._ended(call, attempt, answer, asking)
            if lease.closing:
                raise errors.Stopped(f"Step {call.step}: the wave stops.", until=self.clock.now())
            if late and (isinstance(answer, Working) or asking.failed_late >= LAST_QUESTIONS):
                # The id stays accepted: whoever runs the job again asks for it first.
                raise errors.StepRefused(call.step, fault, failure=_late(fault))

    async def _wait_or_call_back(
        self, call: PaidCall, attempt: Attempt, asking: _Asking, lease: Lease
    ) -> None:
        """Wait for the next question; where the job is cancelled meanwhile, the vendor hears it.

        A cancel that failed is asked for again with the questions that follow, as they are.
        """
        nor = None if asking.cancels else call.cancelled
        await lease.unless_closed(self._wait(call, asking), nor=nor)
        may = asking.cancel_at is not None and self.clock.now() >= asking.cancel_at
        if not may or not call.cancelled.is_set():
            return
        failed = await call_back(call.service, attempt)
        asking.cancel_at = self._again_at(failed, asking.cancels) if failed else None
        asking.cancels += 1
        wait = asking.not_before - self.clock.now()
        await lease.unless_closed(self.clock.sleep(max(wait, timedelta(0))))

    def _again_at(self, failed: PollFailed, tries: int) -> datetime:
        """Return when to ask again what failed, after so many *tries* before it."""
        backoff = min(POLL_BACKOFF * 2 ** min(tries, 9), MOST_BACKOFF)
        return self.clock.now() + (failed.retry_after or backoff)

    async def close(
        self,
        attempt: Attempt,
        state: AttemptState,
        fault: Fault,
        *,
        counts: bool = True,
        operations: Sequence[Operation] = (),
    ) -> Attempt:
        """Record how a send ended that made nothing, with what it may have cost."""
        said = fault.record()
        await self.offload(
            self.ledger.close_attempt,
            attempt,
            state,
            fault=said,
            counts=counts,
            operations=operations,
        )
        return replace(attempt, state=state, fault=said, counts=counts)

    async def _wait(self, call: PaidCall, asking: _Asking) -> None:
        if asking.resumed and asking.polls == 0:
            return
        while (wait := self._due(call, asking) - self.clock.now()) > timedelta(0):
            await self.clock.sleep(wait)

    def _due(self, call: PaidCall, asking: _Asking) -> datetime:
        """Return when the job is asked for, by what is known now."""
        latency = self.latencies.get(call.learns, Latency())
        age = next_question(latency, asked=asking.asked_at, working=self._working(call))
        return max(asking.since + age, asking.not_before)

    def _working(self, call: PaidCall) -> Iterator[timedelta]:
        """Yield after how long each job of the step was last seen at work."""
        return (one.working_at for one in self.in_flight[call.learns] if not one.resumed)

    async def _ended(
        self, call: PaidCall, attempt: Attempt, answer: Poll, asking: _Asking
    ) -> Arrived | Attempt:
        match answer:
            case Done(outputs):
                took = self.clock.now() - attempt.submitted_at
                if not asking.resumed:
                    known = self.latencies.get(call.learns, Latency())
                    seen = self.clock.now() - asking.since
                    self.latencies[call.learns] = known.learn(
                        seen, after=asking.working_at, working=self._working(call)
                    )
                if asking.cancels:
                    attempt = replace(attempt, cause=Cause.CANCELLED_LATE)
                return Arrived(attempt, outputs, took, asking.polls)
            case EndedBadly(fault):
                return await self._ended_badly(call, attempt, fault)
            case Gone():
                fault = Fault(call.service.family, 404, "unknown_job_id")
                return await self.close(attempt, AttemptState.LOST, fault)
            case Working() | PollFailed():
                raise AssertionError("A job that goes on has not ended.")

    async def _ended_badly(self, call: PaidCall, attempt: Attempt, fault: Fault) -> Attempt:
        fault, failure = call.heard(fault), classify(fault)
        # Booked with its id, as accepted and failed: nothing is left to say about its cost.
        closed = await self.close(attempt, AttemptState.FAILED, fault)
        stale_again = failure is FailureClass.STALE_REFERENCE and call.is_stale_again(attempt.n)
        if stale_again or ACTIONS[failure] is not Action.RETRY:
            raise errors.StepRefused(call.step, fault, failure=failure)
        return closed


async def call_back(service: PaidService, attempt: Attempt) -> PollFailed | None:
    """Ask the vendor to cancel a job, where it can be asked; only its end says what came of it.

    Returns what went wrong where it was not heard.
    """
    if attempt.cancel_url is None or not isinstance(service, ImageGenerator):
        return None
    answer = await service.cancel(attempt.cancel_url)
    failed = answer if isinstance(answer, PollFailed) else None
    said = failed.fault.sentence() if failed else answer
    _log.info("job %s, step %s: cancel: %s", attempt.job_id, attempt.step, said)
    return failed


def _late(fault: Fault) -> FailureClass:
    """Return why a job that is past its deadline was not heard of; no refused input can be it."""
    failure = classify(fault)
    passes = ACTIONS[failure] in {Action.REVIEW, Action.RETRY}
    return FailureClass.TRANSIENT if passes else failure
