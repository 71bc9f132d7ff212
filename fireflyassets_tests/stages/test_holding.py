"""Holds of files: active once read back, honoured whoever set them, and lost to no race."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core import ids
from fireflyassets.core.job import JobRow
from fireflyassets.core.retention import meeting
from fireflyassets.core.status import HumanReview
from fireflyassets.stages.holding import OTHERS, Holding, HoldNotKept
from fireflyassets_tests.contracts.ledgers import ACME, SPRING, job

ROW = job(human_reviewed=HumanReview.PENDING)
KEY = ids.delivery_key(ACME, SPRING, ROW.job_id, "24x24", "a.jpg")
TAGS = {"customer": ACME, "human-reviewed": "pending", "retention": "standard"}
JOB = (ACME, SPRING, ROW.job_id)


class Approving(MemoryLedger):
    """A ledger whose verdict a test changes."""

    verdict = HumanReview.PENDING

    def job(self, job_id: str) -> JobRow | None:
        row = super().job(job_id)
        return replace(row, human_reviewed=self.verdict) if row else None


class Interleaved(MemoryObjects):
    """A store in which something happens just before the next write of tags."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] = lambda: None

    def retag(self, key: str, tags: Mapping[str, str]) -> bool:
        now, self.meanwhile = self.meanwhile, lambda: None
        now()
        return super().retag(key, tags)


def later(holding: Holding) -> Holding:
    """Return the same a minute later."""
    return replace(holding, clock=FakeClock(holding.clock.now() + timedelta(minutes=1)))


def world() -> tuple[Holding, Interleaved, Approving]:
    ledger, objects = Approving(), Interleaved()
    ledger.record([ROW])
    for key in (KEY, ids.sidecar_key(KEY)):
        objects.put(key, b"picture", media_type="image/jpeg", tags=TAGS)
    return Holding(ledger, objects, FakeClock()), objects, ledger


def test_a_hold_takes_files_and_sidecars_out_of_every_rule() -> None:
    """And its release puts them back as they were; both are on record with their reasons."""
    holding, objects, _ = world()

    assert holding.hold(*JOB, by="counsel", why="matter 7") == [KEY, ids.sidecar_key(KEY)]
    for key in (KEY, ids.sidecar_key(KEY)):
        assert meeting(key, objects.tags(key) or {}) == []
        assert (objects.tags(key) or {})["legal-hold"] == "true"

    later(holding).release(*JOB, by="counsel", why="settled")
    assert objects.tags(KEY) == TAGS
    told = [(one.what, one.by, one.why) for one in holding.records(ACME, ROW.job_id)]
    assert told == [("held", "counsel", "matter 7"), ("released", "counsel", "settled")]


def test_an_approval_that_races_a_hold() -> None:
    """The approval read before the hold and writes behind it: it sees the record and repeats."""
    holding, objects, ledger = world()
    ledger.verdict = HumanReview.APPROVED
    objects.meanwhile = lambda: holding.hold(*JOB, by="counsel", why="matter 7")

    holding.retag(KEY)

    tags = objects.tags(KEY) or {}
    assert meeting(KEY, tags) == []
    assert tags["human-reviewed"] == "approved"


def test_a_hold_that_races_an_approval() -> None:
    """The hold read the older verdict and writes behind the approval: neither loses the other."""
    holding, objects, ledger = world()

    def approve() -> None:
        ledger.verdict = HumanReview.APPROVED
        holding.retag(KEY)

    objects.meanwhile = approve
    holding.hold(*JOB, by="counsel", why="matter 7")

    tags = objects.tags(KEY) or {}
    assert (tags["human-reviewed"], tags["legal-hold"]) == ("approved", "true")
    assert meeting(KEY, tags) == []


@pytest.mark.parametrize("name", ["legal-hold", "Legal-Hold"])
def test_a_hold_that_others_tagged_is_honoured(name: str) -> None:
    """All files of the job are held then, and a verdict does not take the hold off again."""
    holding, objects, ledger = world()
    objects.retag(KEY, TAGS | {name: "True"})

    assert holding.reconcile([KEY]) == 1
    ledger.verdict = HumanReview.APPROVED
    holding.retag(KEY)

    for key in (KEY, ids.sidecar_key(KEY)):
        assert meeting(key, objects.tags(key) or {}) == []
    (record,) = holding.records(ACME, ROW.job_id)
    assert record.by == OTHERS
    assert holding.reconcile([KEY, ids.sidecar_key(KEY)]) == 0


def test_a_verdict_alone_keeps_a_hold_of_others() -> None:
    """Even before any reconcile has seen it."""
    holding, objects, ledger = world()
    objects.retag(KEY, TAGS | {"legal-hold": "true"})
    ledger.verdict = HumanReview.REJECTED

    found = holding.retag(KEY) or {}

    assert (found["human-reviewed"], found["legal-hold"]) == ("rejected", "true")
    assert meeting(KEY, found) == []


def test_tags_that_others_took_away_come_back() -> None:
    """Only a release ends a hold: whoever writes a whole set over it does not."""
    holding, objects, _ = world()
    holding.hold(*JOB, by="counsel", why="matter 7")
    objects.retag(KEY, TAGS)

    assert holding.reconcile([KEY]) == 1
    assert meeting(KEY, objects.tags(KEY) or {}) == []


def test_a_release_that_died_is_finished() -> None:
    """Its record stands, and the tags follow."""
    holding, objects, _ = world()
    holding.hold(*JOB, by="counsel", why="matter 7")
    held = objects.tags(KEY) or {}
    later(holding).release(*JOB, by="counsel", why="settled")
    objects.retag(KEY, held)

    assert holding.reconcile([KEY]) == 1
    assert objects.tags(KEY) == TAGS


def test_files_of_a_job_whose_row_has_expired_are_held() -> None:
    """Rows go after ninety days, files after a year."""
    holding, objects, _ = world()
    orphaned = replace(holding, ledger=MemoryLedger())

    orphaned.hold(*JOB, by="counsel", why="matter 7")

    assert meeting(KEY, objects.tags(KEY) or {}) == []


def test_files_that_a_review_moved_are_held() -> None:
    holding, objects, _ = world()
    moved = f"rejected/{KEY}"
    objects.put(moved, b"picture", media_type="image/jpeg", tags=TAGS)

    assert moved in holding.hold(*JOB, by="counsel", why="matter 7")
    assert meeting(moved, objects.tags(moved) or {}) == []


class Deaf(MemoryObjects):
    """A store that takes tags and does not keep them."""

    def retag(self, key: str, tags: Mapping[str, str]) -> bool:
        assert tags
        return self.exists(key)


def test_a_hold_that_is_not_read_back_is_none() -> None:
    """Whoever asked hears that the file could still expire."""
    objects = Deaf()
    objects.put(KEY, b"picture", media_type="image/jpeg", tags=TAGS)

    with pytest.raises(HoldNotKept):
        Holding(MemoryLedger(), objects, FakeClock()).hold(*JOB, by="counsel", why="matter 7")
