"""What the fence is handed and what it hands back.

Belongs here: the paid call, the wave's lease, the arrival. Does not: the protocol.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, Protocol

from fireflyassets.core.failure import REFUSED_LOCALLY, Fault
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import FOR_A_RESULT, Cause, Charge
from fireflyassets.core.quoting import quotes
from fireflyassets.limiter.port import Parked, Ticket
from fireflyassets.ports.clock import T
from fireflyassets.ports.entries import Attempt, Claim, History, Operation, unnamed
from fireflyassets.ports.paid import NotAccepted, Output, PaidService, Submission

LEASE_MARGIN: Final = timedelta(seconds=5)
HEARTBEAT_LOOK: Final = timedelta(milliseconds=250)
"""How often a send that does not fit the lease looks whether a heartbeat has moved it."""


class Tickets(Protocol):
    """The pacer of one API family, shared by all jobs of a wave."""

    early: timedelta
    """How long before its due time a ticket is handed out."""

    async def take(self) -> Ticket | Parked:
        """Wait for the next right to call, or learn that none is within reach."""
        ...

    async def fires(self, ticket: Ticket) -> bool:
        """Wait until *ticket* is due, and say whether the call may be made now."""
        ...

    async def refused(self, retry_after: timedelta | None) -> object:
        """Tell everybody that the service answered 429."""
        ...

    async def answered(self) -> None:
        """Tell everybody, should they wait for that, that the service took a call."""
        ...


@dataclass(slots=True)
class Lease:
    """The wave's right to submit; its heartbeat moves *until*."""

    until: datetime
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the wave stops: nothing new is sent, nobody waits on, what is out is asked once."""

    @property
    def closing(self) -> bool:
        """Say whether the wave stops."""
        return self.closed.is_set()

    def covers(self, span: timedelta, *, now: datetime) -> bool:
        """Say whether a call of at most *span* ends safely within the lease."""
        return now + span + LEASE_MARGIN < self.until

    async def unless_closed(
        self, work: Coroutine[Any, Any, T], *, nor: asyncio.Event | None = None
    ) -> T | None:
        """Return what *work* returns; None, with *work* cancelled, once the wave stops.

        The same once *nor* happens.
        """
        if self.closing or (nor and nor.is_set()):
            work.close()
            return None
        working = asyncio.ensure_future(work)
        ends = [asyncio.ensure_future(one.wait()) for one in (self.closed, nor) if one]
        try:
            await asyncio.wait({working, *ends}, return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            for one in (working, *ends):
                one.cancel()


@dataclass(frozen=True, slots=True)
class Rates:
    """What one send of a step costs, and by which card."""

    charges: Callable[[Cause], tuple[Charge, ...]]
    """Why the send is made -> what each output that it orders costs, and why."""
    card: str

    @property
    def price(self) -> Decimal:
        """Return the operations of the whole send."""
        return sum((one.operations for one in self.charges(Cause.FIRST_TRY)), Decimal(0))


@dataclass(frozen=True, slots=True)
class StepCall:
    """A paid step of a job: what it costs and who is asked about it."""

    row: JobRow
    step: str
    service: PaidService
    rates: Rates
    texts: tuple[str, ...] = field(default=(), repr=False, kw_only=True)
    """Of the job: no record of a send may quote them."""

    def operations(self, attempt: Attempt, cause: Cause, booked_at: datetime) -> list[Operation]:
        """Return one row for each output that a send orders."""
        return operations_of(self.row, attempt, self.rates, cause, booked_at)

    def heard(self, fault: Fault) -> Fault:
        """Return a vendor's fault without words that quote the job's texts.

        They may have been cut anywhere: a stretch is enough.
        """
        if fault.code == REFUSED_LOCALLY or not any(
            quotes(fault.message, one) for one in self.texts
        ):
            return fault
        return replace(fault, message="")


def operations_of(
    row: JobRow, attempt: Attempt, rates: Rates, cause: Cause, booked_at: datetime
) -> list[Operation]:
    """Return one row for each output that a send orders; without a vendor id the send names them.

    A further output has a cause of its own only where it is bound as one.
    """
    charges = rates.charges(cause)
    if cause not in FOR_A_RESULT:
        charges = tuple(replace(charge, cause=cause) for charge in charges)
    return [
        Operation(
            job_id=row.job_id,
            vendor_id=attempt.vendor_id or unnamed(attempt.step, attempt.generation, attempt.n),
            output=charge.output,
            step=attempt.step,
            generation=attempt.generation,
            n=attempt.n,
            customer=row.customer_id,
            campaign=row.campaign_id,
            operations=charge.operations,
            rate_card=rates.card,
            cause=charge.cause,
            booked_at=booked_at,
        )
        for charge in charges
    ]


@dataclass(frozen=True, slots=True)
class PaidCall(StepCall):
    """A step of a job in a wave, ready to be sent any number of times."""

    claim: Claim
    history: History
    learns: str
    """Name under which latencies are learned: a step's, whatever the aspect."""
    ready: Callable[[], Coroutine[Any, Any, NotAccepted | None]]
    """Has what a send needs before anything is spent on it; None, or why it can't be had."""
    submit: Callable[[str | None], Awaitable[Submission]]
    """Builds a request that writes to the attempt's own key; to await the answer sends it, once."""
    output_key: Callable[[int], str] | None
    """n -> the attempt-unique key the vendor writes to, if it writes to ours."""
    tries: int
    timeout: timedelta
    """From the submit to the remote job's end."""
    resubmits: int
    """Sends that may follow one of unknown outcome without a person's word."""
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the job is to be cancelled: nothing new is sent, what is out is called back."""
    stale: set[int] = field(default_factory=set[int])
    """Sends of this turn that met an expired reference."""

    def attempt(self, n: int, cause: Cause, organisation: str, at: datetime) -> Attempt:
        """Return the row of send *n*, before it is sent."""
        return Attempt(
            job_id=self.row.job_id,
            step=self.step,
            generation=self.row.generation,
            n=n,
            family=self.service.family,
            organisation=organisation,
            wave_id=self.claim.wave_id,
            epoch=self.claim.epoch,
            submitted_at=at,
            output_key=self.output_key(n) if self.output_key else None,
            cause=cause,
            replay=self.row.replays,
        )

    def is_stale_again(self, n: int) -> bool:
        """Note that send *n* met an expired reference, and say whether one had before.

        Each send signs its references anew. Where that did not help once, it does not help.
        """
        again = bool(self.stale)
        self.stale.add(n)
        return again


@dataclass(frozen=True, slots=True)
class Arrived:
    """A remote job that is done; its result still lies with the vendor or under a temporary key."""

    attempt: Attempt
    outputs: tuple[Output, ...]
    took: timedelta
    polls: int
