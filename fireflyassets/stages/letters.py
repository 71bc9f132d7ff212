"""Letters: what lies in the dead-letter queue is matched to the ledger, or put aside with a reason.

In: dead letters, ours and those that SQS made. Out: none of them; those that no job answers for
lie in the bucket, each under a key of its own. Spends: nothing.

The ledger's row of a job is the truth, its message only a shadow: such a message goes. Whatever
goes was written elsewhere first, so that a death in between leaves it twice and never nowhere.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from fireflyassets.core import ids
from fireflyassets.core.brief import Row
from fireflyassets.core.errors import Refused
from fireflyassets.core.job import JobRow
from fireflyassets.core.message import Pointed, Requested, Wake, parse
from fireflyassets.ports.entries import Duplicate, Recorded
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.queue import JobQueue, Message
from fireflyassets.stages.intake import Answer, Intake, Priced
from fireflyassets.stages.queue import SENDER_RULE, Senders, believed, reason_of, refusal

UNREAD: Final = "Nothing is wrong with it: it was received too often and never recorded."


class Kind(StrEnum):
    """Why no job answers for a letter."""

    FOREIGN = "foreign"
    """It is not in our language."""
    UNKNOWN_JOB = "unknown-job"
    """It wakes a job that the ledger does not have."""
    OTHER_TENANT = "other-tenant"
    """It names a customer or a job that is not its sender's."""
    REFUSED = "refused"
    """Intake does not take the request."""
    UNREAD = "unread"
    """Intake would take it: to send it on makes the job."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter that was put aside. *body* may hold a prompt: it is shown to nobody."""

    kind: Kind
    reason: str
    customer: str | None
    campaign: str | None
    found_at: datetime
    body: str

    @property
    def key(self) -> str:
        """Return where it lies; the same body lies there once."""
        return ids.letter_key(hashlib.sha256(self.body.encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class Sorted:
    """What became of one slice of the dead-letter queue."""

    known: int = 0
    put_aside: int = 0


@dataclass(frozen=True, slots=True)
class Letters:
    """The use case, over the ports of intake."""

    queue: JobQueue
    intake: Intake
    senders: Senders

    @property
    def _objects(self) -> ObjectStore:
        return self.intake.objects

    def sort(self, *, most: int) -> Sorted:
        """Take up to *most* letters off the dead-letter queue."""
        known = put_aside = 0
        for message in self.queue.dead_letters(most=most):
            letter = self._judged(message)
            if letter is None:
                known += 1
            else:
                put_aside += 1
                content = json.dumps(asdict(letter), default=str, ensure_ascii=False)
                self._objects.put(letter.key, content.encode(), media_type="application/json")
            self.queue.delete_dead([message])
        return Sorted(known, put_aside)

    def put_aside(self) -> Iterator[Letter]:
        """Yield the letters that lie in the bucket."""
        return put_aside(self._objects)

    def becoming(self) -> Iterator[tuple[Letter, JobRow]]:
        """Yield the letters that intake takes by now, each for itself, with the jobs they become.

        Nothing is written. All of them together may still be more than a budget has room for.
        """
        for letter in self.put_aside():
            said = self._request_of(letter)
            answer = self._answer(said) if said else None
            if isinstance(answer, Priced):
                yield letter, answer.row

    def send_on(self, letter: Letter) -> bool:
        """Make the job of a letter that intake takes by now; False: it stays, or is known.

        Recorded first, deleted then; recorded twice it is one job, by its idempotency key.
        """
        said = self._request_of(letter)
        if said is None or not isinstance(self._answer(said), Priced | Duplicate):
            return False
        row = Row(None, said.raw)
        (answer,) = self.intake.accept(
            [row], customer=said.customer, campaign=said.campaign, partial=True
        )
        if not isinstance(answer, Recorded | Duplicate):
            return False  # Its budget, say, was taken by another since it was asked.
        self._objects.delete(letter.key)
        return isinstance(answer, Recorded)

    def drop(self, keys: Sequence[str], *, by: str, why: str) -> list[str]:
        """Settle letters that become no job, on record first; return the keys of those.

        The record keeps all that is known of each but its body, which may hold a prompt.
        """
        found = [one for one in self.put_aside() if one.key in keys]
        said = [{**asdict(one), "key": one.key, "body": None} for one in found]
        if said:
            self._record({"by": by, "why": why, "dropped": said})
        for one in found:
            self._objects.delete(one.key)
        return [one.key for one in found]

    def _record(self, said: Mapping[str, object]) -> None:
        now = self.intake.clock.now()
        told = json.dumps({"at": now, **said}, indent=2, default=str, ensure_ascii=False).encode()
        key = ids.replay_key(now, hashlib.sha256(told).hexdigest()[:8])
        self._objects.put(key, told, media_type="application/json")

    def send_all_on(self, *, by: str, why: str) -> list[str]:
        """Send on what intake takes by now, on record first; return the keys of new jobs' letters.

        Those whose job is known by now go with them.
        """
        going = [one for one in self.put_aside() if self._request_of(one)]
        self._record({"by": by, "why": why, "letters": [one.key for one in going]})
        return [one.key for one in going if self.send_on(one)]

    def _request_of(self, letter: Letter) -> Requested | None:
        """Return the request of a letter that may become a job.

        Where senders are bound to customers, who sent it has to be known, and it is no more where
        we had put it among the dead letters ourselves.
        """
        if letter.kind is not Kind.UNREAD and (letter.kind is not Kind.REFUSED or self.senders):
            return None
        said = believed(Message("", "", letter.body), self._objects, {})
        return said if isinstance(said, Requested) else None

    def _judged(self, message: Message) -> Letter | None:
        """Return a letter with the reason that no job answers for it; None: a job does."""
        customer, campaign = _addressed(message)
        told = self._told(message)
        if told is None:
            return None
        now = self.intake.clock.now()
        return Letter(told[0], told[1], customer, campaign, now, message.body)

    def _told(self, message: Message) -> tuple[Kind, str] | None:
        if message.reason and message.sender not in self.senders:
            # A bound sender's own word for it would be no reason of ours.
            return Kind.REFUSED, message.reason
        said = believed(message, self._objects, self.senders)
        if isinstance(said, tuple):
            strange = any(one.rule == SENDER_RULE for one in said)
            return Kind.OTHER_TENANT if strange else Kind.FOREIGN, reason_of(said)
        if isinstance(said, Wake):
            return self._of_wake(said, message.tenant)
        if message.tenant not in {None, said.customer}:
            return Kind.OTHER_TENANT, f"It came as {message.tenant}'s and names another customer."
        return self._of_request(said)

    def _of_wake(self, wake: Wake, tenant: str | None) -> tuple[Kind, str] | None:
        for job_id in wake.job_ids:
            row = self.intake.ledger.job(job_id)
            if row is None:
                return Kind.UNKNOWN_JOB, f"It wakes job {job_id[:64]!r}, which is in no ledger."
            if tenant not in {None, row.customer_id}:
                return Kind.OTHER_TENANT, f"It came as {tenant}'s and wakes another's job {job_id}."
        return None

    def _of_request(self, said: Requested) -> tuple[Kind, str] | None:
        match self._answer(said):
            case Duplicate():
                return None
            case Priced():
                return Kind.UNREAD, UNREAD
            case Refused() as refused:
                return Kind.REFUSED, f"{refused} {refused.remedy}"
            case answer:
                return Kind.REFUSED, refusal(answer) or UNREAD

    def _answer(self, said: Requested) -> Answer | Refused:
        """Return what intake says of a request by now; it is not recorded."""
        try:
            (answer,) = self.intake.accept(
                [Row(None, said.raw)],
                customer=said.customer,
                campaign=said.campaign,
                partial=True,
                dry_run=True,
            )
        except Refused as refused:
            return refused
        return answer


def put_aside(objects: ObjectStore) -> Iterator[Letter]:
    """Yield the letters that lie in the bucket; each is read only when it is asked for."""
    for key in objects.keys(ids.LETTERS):
        content = objects.get(key)
        if content is not None:
            said = json.loads(content)
            found_at = datetime.fromisoformat(said.pop("found_at"))
            yield Letter(**{**said, "kind": Kind(said["kind"])}, found_at=found_at)


def _addressed(message: Message) -> tuple[str | None, str | None]:
    """Return the customer and campaign that a letter names, as far as it names any."""
    said = parse(message.body)
    if isinstance(said, Requested):
        return said.customer, said.campaign
    return said.customer if isinstance(said, Pointed) else message.tenant, None
