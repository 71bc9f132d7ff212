"""Holding: a job's files are kept, whatever their retention class, until they are released.

In: a job, who asks and why; tags that others set. Out: records of holds, and tags that no
lifecycle rule meets, read back. Spends: nothing.

The truth is an append-only list of records in the bucket: it outlives the ledger's row, and is the
audit. Tags of a delivered file are moved by `Holding.retag` alone, which looks at records and
verdict before its write and behind it: of a hold and an approval at one moment, whichever comes
later sees the other. What a writer that dies leaves in between, `Holding.reconcile` mends.
"""

import json
import logging
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from fireflyassets.core import ids, retention
from fireflyassets.core.errors import FactoryError
from fireflyassets.core.status import HumanReview
from fireflyassets.core.tags import REVIEWED
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore

_log: Final = logging.getLogger(__name__)
HELD, RELEASED = "held", "released"
OTHERS: Final = "a tag that others set"
_AT_ONCE: Final = 16
"""Files that are looked at side by side."""


class HoldNotKept(FactoryError):
    """A hold stands, and a file's tags, read back, would still let it expire."""

    remedy = "Ask again; else look whether the bucket's policy lets us write tags."


@dataclass(frozen=True, slots=True)
class Record:
    """One hold or release, as it was asked for."""

    what: str
    by: str
    why: str
    at: str


@dataclass(frozen=True, slots=True)
class Holding:
    """The use case."""

    ledger: JobLedger
    objects: ObjectStore
    clock: Clock

    def hold(self, customer: str, campaign: str, job_id: str, *, by: str, why: str) -> list[str]:
        """Hold a job's files; return them. Active once this returns; to ask again is safe.

        Files that are delivered later are held by the next `reconcile`.

        Raises:
            HoldNotKept: A file could still expire.
        """
        self._record(customer, job_id, HELD, by, why)
        return self._retag_all(customer, campaign, job_id)

    def release(self, customer: str, campaign: str, job_id: str, *, by: str, why: str) -> list[str]:
        """Give a job's files back to their retention class; return them."""
        self._record(customer, job_id, RELEASED, by, why)
        return self._retag_all(customer, campaign, job_id)

    def is_held(self, customer: str, job_id: str) -> bool:
        """Say whether a hold stands, by the records alone."""
        keys = self.objects.keys(ids.holds_of(customer, job_id))
        return bool(keys) and keys[-1].endswith(f"-{HELD}.json")

    def records(self, customer: str, job_id: str) -> list[Record]:
        """Return all that was asked for a job, the oldest first."""
        keys = self.objects.keys(ids.holds_of(customer, job_id))
        read = (content for key in keys if (content := self.objects.get(key)))
        return [Record(**json.loads(content)) for content in read]

    def retag(self, key: str) -> dict[str, str] | None:
        """Bring a file's tags to its hold and its verdict; return them as read back.

        None where there is no such file. A hold that others tagged becomes one of ours.
        """
        customer, _, job_id = ids.owner_of(key)
        while True:
            held, verdict = self.is_held(customer, job_id), self._verdict(job_id)
            before = self.objects.tags(key)
            if before is None:
                return None
            if not held and retention.is_others(before):
                self._record(customer, job_id, HELD, OTHERS, f"Found on {key}.")
                continue
            wanted = retention.released(before) | ({REVIEWED: verdict.value} if verdict else {})
            wanted = retention.held(wanted) if held else wanted
            if wanted != before:
                self.objects.retag(key, wanted)
            if (self.is_held(customer, job_id), self._verdict(job_id)) == (held, verdict):
                return self.objects.tags(key)

    def reconcile(self, keys: Iterable[str]) -> int:
        """Bring the jobs of files to what the records say; return how many files were not."""
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="holds") as readers:
            return sum(readers.map(self._reconcile, keys))

    def _reconcile(self, key: str) -> bool:
        tags = self.objects.tags(key)
        customer, campaign, job_id = ids.owner_of(key)
        if tags is None or (
            retention.is_ours(tags) == self.is_held(customer, job_id)
            and not retention.is_others(tags)
        ):
            return False
        _log.warning("job %s: the tags of a file do not say what its hold is.", job_id)
        self.retag(key)
        self._retag_all(customer, campaign, job_id)
        return True

    def _verdict(self, job_id: str) -> HumanReview | None:
        """Return the verdict; None where the row has expired, and nobody moves it any more."""
        row = self.ledger.job(job_id)
        return row.human_reviewed if row else None

    def _record(self, customer: str, job_id: str, what: str, by: str, why: str) -> None:
        at = self.clock.now()
        said = {"what": what, "by": by, "why": why, "at": at.isoformat()}
        key = ids.hold_key(customer, job_id, at, what)
        self.objects.put(key, json.dumps(said).encode(), media_type="application/json")

    def _retag_all(self, customer: str, campaign: str, job_id: str) -> list[str]:
        keys = [
            key
            for prefix in ids.deliveries_of(customer, campaign, job_id)
            for key in self.objects.keys(prefix)
        ]
        for key in keys:
            found = self.retag(key)
            if found and self.is_held(customer, job_id) and _expires(key, found):
                raise HoldNotKept(f"Job {job_id}: the tags of {key} would let it expire.")
        return keys


def _expires(key: str, tags: Mapping[str, str]) -> bool:
    return any(rule.expire_days for rule in retention.meeting(key, tags))
