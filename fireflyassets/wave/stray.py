"""One open send without an owner: asked once how it stands, and what becomes of its result.

Belongs here: bind, orphan, failure or loss of a single send. Does not: finding such sends
(``sweeping.py``).
"""

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.failure import Fault, classify
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import Cause, RateCard
from fireflyassets.core.photoshop_step import ComposeStep, PictureStep
from fireflyassets.core.status import CLOSED, Status
from fireflyassets.fence.call import Arrived, StepCall
from fireflyassets.fence.collecting import call_back
from fireflyassets.fence.pacing import BREAK, is_the_organisation_s
from fireflyassets.fence.standing import absence_tells, may_have_expired, settles_at
from fireflyassets.limiter.errors import LimiterError
from fireflyassets.limiter.port import Limiter, item_key
from fireflyassets.ports.entries import Attempt, AttemptState, History
from fireflyassets.ports.paid import Done, EndedBadly, Gone, Output, PollFailed, Working
from fireflyassets.stages import compose, generate
from fireflyassets.stages.bench import (
    Kept,
    Receiver,
    bound,
    rates_of,
    read_request,
    result_of,
)
from fireflyassets.stages.picture_calls import service_of

_log: Final = logging.getLogger("fireflyassets.sweep")
_RUN_AGAIN: Final = frozenset({Status.QUEUED, Status.DLQ})
"""Where a wave still comes to a job that none works on."""


class Found(StrEnum):
    """What became of a send."""

    BOUND = "bound"
    ORPHANED = "orphaned"
    FAILED = "failed"
    LOST = "lost"
    WORKING = "working"
    UNUSABLE = "unusable"
    """Its result is not what was asked for, or no picture; a wave asks for it again and decides."""
    UNKNOWN = "unknown"
    """Only a person, or the wave that waits for its key, can tell."""
    UNREACHED = "unreached"
    """Its credential's time was over; another slice comes to it."""
    STUCK = "stuck"
    """It could not be looked after; the log says why."""


@dataclass(frozen=True, slots=True)
class Step:
    """The recipe's step that a send belongs to."""

    call: StepCall
    made_by: PictureStep | ComposeStep
    aspect: str


def of_step(tools: Receiver, row: JobRow, attempt: Attempt, card: RateCard) -> Step | None:
    """Return a send's step in the campaign, at the prices, that the job pinned."""
    name, _, aspect = attempt.step.partition(".")
    for step in tools.campaign.config.recipe.steps:
        if step.name == name:
            composes = isinstance(step, ComposeStep)
            service = tools.documents if composes else service_of(tools, step)
            call = StepCall(row, attempt.step, service, rates_of(card, step))
            return Step(call, step, aspect)
    _log.error("job %s has an open send of step %s, which is not in its recipe", row.job_id, name)
    return None


def can_be_asked(attempt: Attempt, *, now: datetime) -> bool:
    """Say whether the vendor, or our own key by now, can tell how a send stands."""
    if not attempt.is_unknown:
        return True
    at = settles_at(attempt)
    return at is not None and now >= at


@dataclass(frozen=True, slots=True)
class Stray:
    """An open send of a job that no wave works on."""

    tools: Receiver
    limiter: Limiter
    row: JobRow
    attempt: Attempt
    step: Step

    async def look(self) -> Found:
        """Ask once and write down what the answer means."""
        attempt = self.attempt
        if attempt.is_unknown:
            return await self._settle()
        if self.row.status is Status.CANCELLED:
            await call_back(self.step.call.service, attempt)
        answer = await self.step.call.service.poll(attempt.status_url or "")
        match answer:
            case Done() if await self._has_expired():
                return await self._lost(Fault(attempt.family, 200, "expired_result"))
            case Done(outputs):
                return await self._received(outputs)
            case EndedBadly(fault):
                return await self._refused(fault)
            case Gone():
                return await self._lost(Fault(attempt.family, 404, "unknown_job_id"))
            case Working() | PollFailed():
                return Found.WORKING

    async def _settle(self) -> Found:
        """Decide an unanswered send by its own key.

        A wave that takes the job meanwhile comes to the same end: one key, and one rule.
        """
        tools, key = self.tools, self.attempt.output_key
        if await tools.transfer(tools.objects.exists, key or ""):
            return await self._received((Output(),))
        if not absence_tells(self.attempt, now=tools.clock.now()):
            return Found.UNKNOWN
        await self._close(AttemptState.FAILED, "nothing was written", Cause.POSSIBLE_COST)
        return Found.FAILED

    async def _has_expired(self) -> bool:
        tools, attempt = self.tools, self.attempt
        if not may_have_expired(attempt, now=tools.clock.now()):
            return False
        return not await tools.transfer(tools.objects.exists, attempt.output_key or "")

    async def _lost(self, fault: Fault) -> Found:
        """Leave a send that was taken, and of whose result nothing is left, to a person."""
        await self._close(AttemptState.LOST, fault.sentence(), Cause.ACCEPTED_BUT_FAILED)
        return Found.LOST

    async def _received(self, outputs: tuple[Output, ...]) -> Found:
        took = self.tools.clock.now() - self.attempt.submitted_at
        arrived = Arrived(self.attempt, outputs, took, 1)
        try:
            kept = await self._keep(arrived)
        except errors.RenditionDefect as defect:
            _log.warning("job %s: %s", self.row.job_id, defect)
            return await self._unusable()
        history = await self._history()
        if not self._is_wanted(history):
            late = self.row.status is Status.CANCELLED
            cause = Cause.CANCELLED_LATE if late else Cause.ORPHANED
            await self._close(AttemptState.ORPHANED, self.attempt.fault or "", cause)
            return Found.ORPHANED
        return await self._adopt(arrived, kept)

    async def _keep(self, arrived: Arrived) -> Kept:
        step, call = self.step.made_by, self.step.call
        if isinstance(step, ComposeStep):
            return await compose.receive(self.tools, call, self.step.aspect, arrived)
        return await generate.receive(self.tools, call, step, arrived)

    def _is_wanted(self, history: History) -> bool:
        """Say whether the step waits for just this result; one that is bound to it already does."""
        attempt = self.attempt
        bound = history.steps.get((attempt.step, attempt.generation))
        if bound is not None:
            return bound.n == attempt.n
        return self.row.status not in CLOSED and attempt.generation == self.row.generation

    async def _adopt(self, arrived: Arrived, kept: Kept) -> Found:
        tools, call = self.tools, self.step.call
        booked = bound(call, arrived, tools.clock.now())
        result = result_of(call, arrived, kept)
        if not await tools.offload(tools.ledger.adopt, self.row, result, booked):
            return Found.WORKING  # A wave took the job just now: it asks for the same id.
        return Found.BOUND

    async def _unusable(self) -> Found:
        """Leave a result to whoever runs the job next, where somebody may: it is paid for once.

        The same file may decode the next time; where it does not, the wave ends the job, and sends
        nothing. A send that is closed here would be sent again.
        """
        if self.row.status in _RUN_AGAIN and self._is_wanted(await self._history()):
            return Found.UNUSABLE
        return await self._failed(Fault(self.attempt.family, 200, "unusable_result"))

    async def _refused(self, fault: Fault) -> Found:
        """Keep the vendor's words on the send, and tell all others what befalls them too.

        Told first: who dies in between finds the send still open, and tells it again.
        """
        if is_the_organisation_s(fault, classify(fault)):
            item = item_key(self.attempt.organisation, self.attempt.family)
            try:
                await self.tools.offload(self.limiter.pause, item, BREAK)
            except LimiterError as outage:
                _log.warning("send %s of job %s: %s", self.attempt.step, self.row.job_id, outage)
                return Found.STUCK
        return await self._failed(await self._heard(fault))

    async def _heard(self, fault: Fault) -> Fault:
        try:
            request = await read_request(self.tools, self.row)
        except errors.UnreadableManifest:
            return replace(fault, message="")  # Nobody can say whether it quotes the job's texts.
        return replace(self.step.call, texts=(request.prompt, request.headline)).heard(fault)

    async def _failed(self, fault: Fault) -> Found:
        await self._close(AttemptState.FAILED, fault.record(), Cause.ACCEPTED_BUT_FAILED)
        return Found.FAILED

    async def _history(self) -> History:
        return await self.tools.offload(self.tools.ledger.history, self.row.job_id)

    async def _close(self, state: AttemptState, fault: str, cause: Cause) -> None:
        await self.tools.offload(
            self.tools.ledger.close_attempt,
            self.attempt,
            state,
            fault=fault,
            counts=True,
            operations=self.step.call.operations(self.attempt, cause, self.tools.clock.now()),
        )
