"""Legal holds over real stores: what the store itself shows once many writers are done.

Here: holds and verdicts at one moment, on every object store. Not here: single interleavings
(`stages/test_holding`).
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.core import ids
from fireflyassets.core.job import JobRow
from fireflyassets.core.retention import meeting
from fireflyassets.core.status import HumanReview
from fireflyassets.stages.holding import Holding
from fireflyassets_tests.contracts.ledgers import ACME, SPRING, job
from fireflyassets_tests.contracts.stores import ObjectWorld

TAGS = {"customer": ACME, "human-reviewed": "pending", "retention": "standard"}
JOBS = 12


class Reviewed(MemoryLedger):
    """A ledger in which a verdict appears at once, as a transaction does."""

    def __init__(self) -> None:
        super().__init__()
        self.approved: set[str] = set()

    def job(self, job_id: str) -> JobRow | None:
        row = super().job(job_id)
        verdict = HumanReview.APPROVED if job_id in self.approved else HumanReview.PENDING
        return replace(row, human_reviewed=verdict) if row else None


def test_approvals_that_race_holds(object_world: ObjectWorld) -> None:
    """Whoever writes last: each file is held, approved, and met by no rule."""
    ledger, store = Reviewed(), object_world.store
    rows = [job(f"raced-{number}") for number in range(JOBS)]
    ledger.record(rows)
    keys = {one.job_id: ids.delivery_key(ACME, SPRING, one.job_id, "9x9", "a.jpg") for one in rows}
    for key in keys.values():
        store.put(key, b"picture", media_type="image/jpeg", tags=TAGS)
    holding = Holding(ledger, store, FakeClock())

    def approve(job_id: str) -> None:
        ledger.approved.add(job_id)
        holding.retag(keys[job_id])

    def hold(job_id: str) -> None:
        holding.hold(ACME, SPRING, job_id, by="counsel", why="matter 7")

    with ThreadPoolExecutor(8) as people:
        acts = [people.submit(act, one) for one in keys for act in (approve, hold)]
    for act in acts:
        act.result()

    for key in keys.values():
        tags = store.tags(key) or {}
        assert (tags["human-reviewed"], tags["legal-hold"]) == ("approved", "true")
        assert meeting(key, tags) == []


def test_a_hold_of_others_is_found_among_a_store_s_files(object_world: ObjectWorld) -> None:
    """By a tag that another tool set, in whatever case."""
    store, row = object_world.store, job("theirs")
    key = ids.delivery_key(ACME, SPRING, row.job_id, "9x9", "a.jpg")
    store.put(key, b"picture", media_type="image/jpeg", tags={**TAGS, "Legal-Hold": "True"})

    assert Holding(MemoryLedger(), store, FakeClock()).reconcile(store.keys(f"{ACME}/")) == 1
    assert meeting(key, store.tags(key) or {}) == []
