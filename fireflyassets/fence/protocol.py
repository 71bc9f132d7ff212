"""The protocol of a paid call: send, or collect what was sent before.

Belongs here: tickets, attempt rows, submits and the meaning of their answers.
Does not: polling (``collecting.py``), the rule by history (``standing.py``).
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.failure import ACTIONS, Action, FailureClass, Family, Fault, classify
from fireflyassets.core.money import Cause
from fireflyassets.fence import pacing
from fireflyassets.fence.call import HEARTBEAT_LOOK, Arrived, Lease, PaidCall, Tickets
from fireflyassets.fence.collecting import Collector
from fireflyassets.fence.standing import (
    MaySend,
    MustCollect,
    MustSettle,
    Undecidable,
    absence_tells,
    standing,
)
from fireflyassets.fence.step_run import UNPACED_PARK, StepRun, Unpaced
from fireflyassets.limiter.errors import LimiterError
from fireflyassets.limiter.port import Parked, Ticket
from fireflyassets.ports.clock import Clock, Offload
from fireflyassets.ports.entries import Attempt, AttemptState, Decision, Operation, Verdict
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.paid import Accepted, NotAccepted, OutcomeLost, Output

CAMPAIGN_RULE: Final = "campaign"
"""Who decides, where a campaign allows a send after one of unknown outcome."""
RETRY_WAIT: Final = timedelta(seconds=2)
LONGEST_WAIT: Final = timedelta(seconds=60)
"""In a turn; who is asked to wait longer is parked until then."""
MOST_EARLY: Final = timedelta(seconds=5)
"""How early a ticket is taken at most; more would leave more rows that a kill makes unknown."""


@dataclass(slots=True)
class Fence:
    """Carries paid calls for one wave. Used by one event loop."""

    ledger: JobLedger
    objects: ObjectStore
    clock: Clock
    offload: Offload
    """One that goes on until the ledger has what it is told: that is money."""
    transfer: Offload
    tickets: Mapping[Family, Tickets]
    organisation: str
    lease: Lease
    submit_timeout: timedelta
    jitter: Callable[[], float]  # Chance in [0, 1), handed in.
    ticketed: Callable[[str], None]
    """Hears the job id of each ticket taken."""
    collector: Collector

    async def carry(self, call: PaidCall) -> Arrived:
        """Bring the step's remote job to its end, sending only what was certainly never taken.

        Raises:
            StepRefused: The vendor refuses for good, or the tries are spent.
            Throttled: No ticket is within reach, or the step met too many 429s.
            ServiceUnavailable: The service, or what hands out its tokens, does not answer.
            Unpaced: The limiter does not answer.
            Stopped: The wave ends first, or the job is cancelled.
            AwaitingOutcome, OutcomeUnknown: A send is open that must not be repeated.
            OwnershipLost: The lease or the row is not ours any more.
        """
        turn = StepRun([one for one in call.history.attempts if one.step == call.step])
        try:
            while not isinstance(reached := await self._advance(call, turn), Arrived):
                turn.put(reached)
        except errors.StepRefused as refused:
            # Told at the call, or only by the remote job's end.
            if pacing.is_the_organisation_s(refused.fault, refused.failure):
                await self._pause(call, pacing.BREAK)
            raise
        return reached

    async def _advance(self, call: PaidCall, turn: StepRun) -> Arrived | Attempt:
        row = call.row
        stand = standing(
            turn.attempts, step=call.step, generation=row.generation, replay=row.replays
        )
        match stand:
            case Undecidable(attempt):
                if turn.decided(by=CAMPAIGN_RULE, generation=row.generation) < call.resubmits:
                    return await self._resubmit(call, attempt)
                why = "got no answer" if attempt.vendor_id is None else "is denied by the vendor"
                raise errors.OutcomeUnknown(call.step, f"send {attempt.n} {why}")
            case MustSettle(attempt, at):
                return await self._settle(call, attempt, at)
            case MustCollect(attempt):
                return await self.collector.collect(call, attempt, self.lease)
            case MaySend():
                return await self._send(call, stand, turn)

    async def _send(self, call: PaidCall, may: MaySend, turn: StepRun) -> Attempt:
        if may.tries_spent >= call.tries:
            fault = Fault(call.service.family, None, "tries_spent")
            raise errors.StepRefused(call.step, fault, failure=FailureClass.TRANSIENT)
        await self._ready(call, turn)
        ticket = await self._ticket(call)
        attempt = call.attempt(may.n, may.cause, self.organisation, self.clock.now())
        if not await self._begun(attempt):
            raise errors.OwnershipLost(f"Step {call.step}: another worker sends it.")
        covered = await self._covered()
        if not covered or not await self._fires(call, attempt, ticket):
            # The row took its time, and nothing was sent: that much is certain, so it says so.
            closed = await self._unsent(call, attempt)
            if covered:
                turn.outlasted += self.clock.now() > ticket.due_at  # Else a pause moved it.
                return closed
            raise errors.OwnershipLost(f"Step {call.step}: the lease ran out before its send.")
        # Shielded: once bytes may be out, whatever ends this task must not lose the answer.
        return await asyncio.shield(self._submit(call, attempt, turn))

    async def _ready(self, call: PaidCall, turn: StepRun) -> None:
        """Wait until the service can be called: without that no ticket, row or try is spent."""
        while True:
            turn.check(call.step, now=self.clock.now())
            missing = await self.lease.unless_closed(call.ready())
            if missing is None:
                return  # Or the wave stops: no ticket is taken then.
            failure = classify(missing.fault)
            if failure is not FailureClass.THROTTLED and ACTIONS[failure] is not Action.RETRY:
                raise errors.StepRefused(call.step, missing.fault, failure=failure)
            await self._outage(call, turn, missing.retry_after)

    async def _outage(self, call: PaidCall, turn: StepRun, retry_after: timedelta | None) -> None:
        turn.outages += 1
        wait = retry_after or RETRY_WAIT * (1 + self.jitter())
        if wait > pacing.LONGEST_PAUSE:
            await self._pause(call, wait)
            wait = pacing.LONGEST_PAUSE
        if wait > LONGEST_WAIT:
            said = f"Step {call.step}: the service asks for a wait of {wait}."
            raise errors.ServiceUnavailable(said, until=self.clock.now() + wait)
        await self.lease.unless_closed(self.clock.sleep(wait))

    async def _begun(self, attempt: Attempt) -> bool:
        """Create the attempt's row; after an outage the one in the way may be our own."""
        is_new = await self.offload(self.ledger.begin_attempt, attempt)
        took, pacer = self.clock.now() - attempt.submitted_at, self.tickets[attempt.family]
        pacer.early = min(MOST_EARLY, max(pacer.early * 0.9, took * 1.5))
        if is_new:
            return True
        history = await self.offload(self.ledger.history, attempt.job_id)
        return any(one.is_same_send(attempt) for one in history.attempts)

    async def _fires(self, call: PaidCall, attempt: Attempt, ticket: Ticket) -> bool:
        """Wait for the ticket's time, with the row in place; whatever ends that, nothing is out."""
        try:
            due = await self.tickets[call.service.family].fires(ticket)
        except (LimiterError, asyncio.CancelledError) as end:
            await asyncio.shield(self._unsent(call, attempt))
            if isinstance(end, LimiterError):
                raise self._unpaced(call, end) from end
            raise
        covered = self.lease.covers(self.submit_timeout, now=self.clock.now())
        return due and covered and not call.cancelled.is_set()

    async def _ticket(self, call: PaidCall) -> Ticket:
        try:
            taking = self.tickets[call.service.family].take
            ticket = await self.lease.unless_closed(taking(), nor=call.cancelled)
        except LimiterError as outage:
            raise self._unpaced(call, outage) from outage
        if ticket is None:
            why = "the job is cancelled" if call.cancelled.is_set() else "the wave stops"
            raise errors.Stopped(f"Step {call.step}: {why}.", until=self.clock.now())
        if isinstance(ticket, Parked):
            raise pacing.throttled(call.step, ticket)
        if not await self._covered():
            raise errors.OwnershipLost(f"Step {call.step}: the wave's lease is at its end.")
        self.ticketed(call.row.job_id)
        return ticket

    def _unpaced(self, call: PaidCall, outage: LimiterError) -> Unpaced:
        """Return the delay of a call that nobody paces: no fault of the job, and never sent."""
        return Unpaced(f"Step {call.step}: {outage}", until=self.clock.now() + UNPACED_PARK)

    async def _covered(self) -> bool:
        """Say whether a submit fits the lease, if need be after the next heartbeat."""
        while not self.lease.covers(self.submit_timeout, now=self.clock.now()):
            if self.clock.now() >= self.lease.until:
                return False
            await self.clock.sleep(HEARTBEAT_LOOK)
        return True

    async def _submit(self, call: PaidCall, attempt: Attempt, turn: StepRun) -> Attempt:
        try:
            sending = call.submit(attempt.output_key)
        except Exception:
            # Not even built, say because nobody can sign its URLs now: that too is certain.
            await self._unsent(call, attempt)
            raise
        match await sending:
            case Accepted() as answer:
                return await self._accepted(call, attempt, answer)
            case OutcomeLost(fault):
                return await self.collector.close(attempt, AttemptState.LOST, call.heard(fault))
            case NotAccepted() as answer:
                return await self._refused(call, attempt, answer, turn)

    async def _unsent(self, call: PaidCall, attempt: Attempt) -> Attempt:
        fault = Fault(call.service.family, None, "not_sent")
        return await self.collector.close(attempt, AttemptState.REFUSED, fault, counts=False)

    async def _accepted(self, call: PaidCall, attempt: Attempt, answer: Accepted) -> Attempt:
        accepted = replace(
            attempt,
            state=AttemptState.ACCEPTED,
            vendor_id=answer.vendor_id,
            status_url=answer.status_url,
            cancel_url=answer.cancel_url,
        )
        await self.offload(
            self.ledger.accept_attempt,
            attempt,
            vendor_id=answer.vendor_id,
            status_url=answer.status_url,
            cancel_url=answer.cancel_url,
            operations=self._booked(call, accepted, Cause.ACCEPTED_BUT_FAILED),
        )
        await self.tickets[call.service.family].answered()
        return accepted

    def _booked(self, call: PaidCall, attempt: Attempt, cause: Cause) -> list[Operation]:
        return call.operations(attempt, cause, self.clock.now())

    async def _refused(
        self, call: PaidCall, attempt: Attempt, answer: NotAccepted, turn: StepRun
    ) -> Attempt:
        fault, failure = call.heard(answer.fault), classify(answer.fault)
        # Without a token nothing went to the service itself: no try of it, no pause for it.
        tokenless = answer.fault.family is Family.IMS and failure is not FailureClass.AUTH
        throttled = failure is FailureClass.THROTTLED and not tokenless
        # The client dropped the refused token: one more send tells whether that was all.
        stale_token = failure is FailureClass.AUTH and not turn.refreshed
        maybe = self._booked(call, attempt, Cause.POSSIBLE_COST) if answer.possible_cost else ()
        counts = not (throttled or stale_token or tokenless)
        closed = await self.collector.close(
            attempt, AttemptState.REFUSED, fault, counts=counts, operations=maybe
        )
        if pacing.shows_service(fault, failure):
            await self.tickets[call.service.family].answered()
        if throttled:
            turn.throttles += 1
            await self._pause(call, answer.retry_after)
        elif stale_token:
            turn.refreshed = True
        elif failure is FailureClass.STALE_REFERENCE:
            if call.is_stale_again(attempt.n):
                raise errors.StepRefused(call.step, fault, failure=failure)
        elif tokenless or ACTIONS[failure] is Action.RETRY:
            await self._outage(call, turn, answer.retry_after)
        else:
            raise errors.StepRefused(call.step, fault, failure=failure)
        return closed

    async def _pause(self, call: PaidCall, retry_after: timedelta | None) -> None:
        try:
            await self.tickets[call.service.family].refused(retry_after)
        except LimiterError as outage:
            raise self._unpaced(call, outage) from outage

    async def _resubmit(self, call: PaidCall, attempt: Attempt) -> Attempt:
        """Pass over an unknown send by the campaign's rule; what it may have cost is booked."""
        now = self.clock.now()
        decision = Decision(Verdict.RESUBMIT, by=CAMPAIGN_RULE, at=now)
        booked = call.operations(attempt, Cause.POSSIBLE_DUPLICATE, now)
        if not await self.offload(self.ledger.decide, call.row, attempt, decision, None, booked):
            why = f"Step {call.step}: send {attempt.n} was answered or decided just now."
            raise errors.AwaitingOutcome(why, until=now)
        return replace(attempt, decision=decision)

    async def _settle(self, call: PaidCall, attempt: Attempt, at: datetime) -> Arrived | Attempt:
        if self.clock.now() < at:
            why = f"Step {call.step}: send {attempt.n} got no answer; its output key will tell."
            raise errors.AwaitingOutcome(why, until=at)
        if await self.transfer(self.objects.exists, attempt.output_key or ""):
            booked = self._booked(call, attempt, Cause.ACCEPTED_BUT_FAILED)
            await self.offload(self.ledger.book, booked)
            return Arrived(attempt, (Output(),), at - attempt.submitted_at, 0)
        if not absence_tells(attempt, now=self.clock.now()):
            raise errors.OutcomeUnknown(call.step, f"send {attempt.n} left no file that would tell")
        booked = self._booked(call, attempt, Cause.POSSIBLE_COST)
        fault = Fault(call.service.family, None, "nothing_written")
        return await self.collector.close(attempt, AttemptState.FAILED, fault, operations=booked)
