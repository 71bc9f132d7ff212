"""Queue: what producers sent to the job queue passes the same intake, a bounded slice at a time.

In: messages of the job queue. Out: ledger rows; messages that are durable or hopeless leave.
Spends: nothing.

A message is deleted only once the ledger holds its job; whatever stops this before that brings
the message back, and the idempotency key absorbs the repeat. A message that can't be read or that
intake refuses goes to the dead-letter queue with the reason, so that it holds up nobody; and
nothing that one message meets, a queue that refuses it included, costs its neighbours their turn.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from typing import Final

from fireflyassets.core import ids
from fireflyassets.core.brief import Row
from fireflyassets.core.errors import Refused, ServiceDown, StoreUnavailable, UnknownCampaign
from fireflyassets.core.message import (
    BODY_LIMIT,
    Pointed,
    Requested,
    Wake,
    parse,
)
from fireflyassets.core.request import KEY_FIELD, Problem
from fireflyassets.ports.entries import Conflict, Recorded
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.queue import MAX_RECEIVES, JobQueue, Message
from fireflyassets.stages.admission import Overloaded
from fireflyassets.stages.budgeting import Unaffordable
from fireflyassets.stages.intake import Answer, Intake, Invalid

BUDGET: Final = timedelta(seconds=20)
"""A third of the minute after which a sensor's tick is killed."""
_SLICE: Final = 50
"""Messages taken at once: what a failing ledger can bring closer to the dead-letter queue."""
_EMPTY_LOOKS: Final = 2
"""One empty answer is not proof of an empty queue."""
_NO_KEY: Final = "-"
"""Of no object: what is asked is whether the bucket answers."""
_REASON_LIMIT: Final = 1_000
SENDER_RULE: Final = "sender"
_OUTAGES: Final = (StoreUnavailable, ServiceDown, ConnectionError)
"""No fault of any message: another try in this slice meets it as well."""


@dataclass(frozen=True, slots=True)
class Drained:
    """What one drain did. All but what raised or waits is off the queue."""

    recorded: int = 0
    """Jobs that are new in the ledger."""
    repeated: int = 0
    """Requests that the ledger knew."""
    wakes: int = 0
    quarantined: int = 0
    waiting: int = 0
    """Messages that come back by themselves: their campaign is out of service just now."""

    @property
    def received(self) -> int:
        """Return how many messages were dealt with."""
        return self.recorded + self.repeated + self.wakes + self.quarantined + self.waiting

    def __add__(self, other: "Drained") -> "Drained":
        return Drained(
            self.recorded + other.recorded,
            self.repeated + other.repeated,
            self.wakes + other.wakes,
            self.quarantined + other.quarantined,
            self.waiting + other.waiting,
        )


Senders = Mapping[str, Sequence[str]]
"""Sender -> the customers it may name. Empty: whoever may write to the queue may name any."""


def drain(
    queue: JobQueue,
    intake: Intake,
    *,
    most: int,
    senders: Senders | None = None,
    budget: timedelta = BUDGET,
) -> Drained:
    """Take up to *most* messages off the queue; no new slice begins once *budget* is spent.

    Raises:
        StoreUnavailable: The ledger or the bucket is away: no message was touched, or one slice
            comes back.
    """
    # Each receive brings a message closer to the dead-letter queue, whoever is at fault.
    intake.ledger.ready()
    intake.objects.exists(_NO_KEY)
    until = intake.clock.now() + budget
    total = Drained()
    empty = 0
    while total.received < most and empty < _EMPTY_LOOKS and intake.clock.now() < until:
        messages = queue.receive(most=min(_SLICE, most - total.received))
        empty = 0 if messages else empty + 1
        total += _pass_on(queue, intake, messages, senders or {})
    return total


def _pass_on(
    queue: JobQueue, intake: Intake, messages: Sequence[Message], senders: Senders
) -> Drained:
    """Deal with each message of a slice, whatever the others meet; then raise what the first met.

    Raises:
        Exception: Whatever it was; the messages that met it come back.
    """
    apart = _Apart(queue, intake)
    read = [(message, apart.read(message, senders)) for message in messages]
    woken = [message for message, said in read if isinstance(said, Wake)]
    total = apart.delete(woken, Drained(wakes=len(woken)))
    for message, said in read:
        if isinstance(said, tuple):
            total += apart.put_aside(message, reason_of(said))
    requested = [(message, said) for message, said in read if isinstance(said, Requested)]
    for _, group in groupby(sorted(requested, key=_slug), key=_slug):
        total += apart.record(list(group))
    if apart.failures:
        raise apart.failures[0]
    return total


def believed(
    message: Message, objects: ObjectStore, senders: Senders
) -> Wake | Requested | tuple[Problem, ...]:
    """Return what a message says, or a problem where its sender may not say that."""
    said = parse(message.body)
    if isinstance(said, Wake | tuple):
        return said  # A wake-up names jobs that are in the ledger anyway.
    if senders and said.customer not in senders.get(message.sender, ()):
        sentence = "This sender may not ask for jobs of this customer."
        fix = "Let FIREFLYASSETS_QUEUE_SENDERS name both."
        return (Problem("customer", SENDER_RULE, sentence, fix),)
    return _fetched(said, objects) if isinstance(said, Pointed) else said


def _fetched(pointed: Pointed, objects: ObjectStore) -> Requested | tuple[Problem, ...]:
    """Return the request that a message points to, of that customer and unchanged."""
    key = ids.inbox_key(pointed.customer, pointed.digest)
    content = objects.get(key, part=(0, BODY_LIMIT + 1))
    if content is None:
        sentence = "What the message points to is not there."
        fix = "Store the request before its message is sent."
        return (Problem("manifest", "gone", sentence, fix),)
    said = parse(content.decode(errors="replace"))
    if isinstance(said, tuple):
        return said
    same = hashlib.sha256(content).hexdigest() == pointed.digest
    if not same or not isinstance(said, Requested) or said.customer != pointed.customer:
        sentence = "What the message points to is not the request that it names."
        return (Problem("manifest", "type", sentence, "Send the request anew."),)
    return said


def _slug(item: tuple[Message, Requested]) -> tuple[str, str]:
    return item[1].customer, item[1].campaign


@dataclass(frozen=True, slots=True)
class _Apart:
    """The boundary round each message of a slice: what one meets costs none of the others."""

    queue: JobQueue
    intake: Intake
    failures: list[Exception] = field(default_factory=list[Exception])

    def read(
        self, message: Message, senders: Senders
    ) -> Wake | Requested | tuple[Problem, ...] | None:
        """Return what a message says; None where that can't be told now."""
        try:
            return believed(message, self.intake.objects, senders)
        except Exception as error:  # noqa: BLE001 - the boundary.
            self.failures.append(error)
            return None

    def delete(self, messages: Sequence[Message], told: Drained) -> Drained:
        """Delete what is dealt with; what stays comes back and is a repeat then."""
        try:
            self.queue.delete(messages)
        except Exception as error:  # noqa: BLE001 - the boundary.
            self.failures.append(error)
        return told

    def put_aside(self, message: Message, reason: str) -> Drained:
        """Make a message a dead letter."""
        try:
            self.queue.quarantine(message, reason=reason)
        except Exception as error:  # noqa: BLE001 - the boundary.
            self.failures.append(error)
            return Drained()
        return Drained(quarantined=1)

    def record(self, group: Sequence[tuple[Message, Requested]]) -> Drained:
        """Record requests of one campaign together, or each alone where one of them fails."""
        (message, said), *others = group
        rows = [Row(None, said.raw) for _, said in group]
        try:
            answers = self.intake.accept(
                rows, customer=said.customer, campaign=said.campaign, partial=True, wake=False
            )
        except _OUTAGES as error:
            self.failures.append(error)
            return Drained()
        except Exception as error:  # noqa: BLE001 - the boundary.
            if others:
                return sum((self.record([one]) for one in group), Drained())
            return self._put_off(message, error)
        return self._settle([message for message, _ in group], answers)

    def _put_off(self, message: Message, error: Exception) -> Drained:
        """Deal with a message that a fault of ours stops, such as a campaign out of service.

        Files that are mended or copied whole in time lose nothing: it comes back. The last time it
        would end in the dead-letter queue by itself, without the reason; so it goes with it.
        """
        if not isinstance(error, Refused):
            self.failures.append(error)
        if not isinstance(error, UnknownCampaign) and message.receives < MAX_RECEIVES:
            return Drained(waiting=1)
        reason = f"It failed here {message.receives} times, with {type(error).__name__}."
        if isinstance(error, Refused):
            reason = f"{error} {error.remedy}"
        return self.put_aside(message, reason[:_REASON_LIMIT])

    def _wait(self, message: Message, after: timedelta, reason: str) -> Drained:
        """Let a request come back when there is likely room; its last time it is a dead letter.

        From there `dlq replay --letters` makes its job once intake takes it.
        """
        if message.receives >= MAX_RECEIVES:
            return self.put_aside(message, reason)
        try:
            self.queue.put_off(message, after=after)
        except Exception as error:  # noqa: BLE001 - the boundary.
            self.failures.append(error)
        return Drained(waiting=1)

    def _settle(self, messages: Sequence[Message], answers: Sequence[Answer]) -> Drained:
        total = Drained()
        durable: list[Message] = []
        for message, answer in zip(messages, answers, strict=True):
            reason = refusal(answer)
            if isinstance(answer, Overloaded) and answer.over.after is not None:
                total += self._wait(message, answer.over.after, reason or "")
                continue
            if reason is None:
                durable.append(message)
                new = isinstance(answer, Recorded)
                total += Drained(recorded=1) if new else Drained(repeated=1)
            else:
                total += self.put_aside(message, reason)
        return self.delete(durable, total)


def refusal(answer: Answer) -> str | None:
    """Return why intake did not take a request; None where it did."""
    if isinstance(answer, Invalid):
        return reason_of(answer.problems)
    if isinstance(answer, Conflict):
        return (
            f"{KEY_FIELD}: another request was recorded under this key, as job {answer.row.job_id}."
        )
    if isinstance(answer, Unaffordable | Overloaded):
        return reason_of([answer.problem()])
    return None


def reason_of(problems: Iterable[Problem]) -> str:
    """Return one line with each fault and its cure, and no more of the request than names it."""
    told = (
        f"{problem.field or 'message'} ({problem.rule}): {problem.message} {problem.fix}"
        for problem in problems
    )
    return " ".join(told)[:_REASON_LIMIT]
