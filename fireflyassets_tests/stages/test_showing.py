"""Objects show the last decision: by tag and by place, whatever came between."""

from collections.abc import Mapping

import pytest

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core import ids, retention
from fireflyassets.core.job import JobRow
from fireflyassets.core.review import Code, Move
from fireflyassets.core.status import HumanReview
from fireflyassets.ports.reviews import View
from fireflyassets.stages.holding import Holding
from fireflyassets.stages.review import Outcome, Reviews, Ruling
from fireflyassets.stages.showing import Showing
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, FrontDoor
from fireflyassets_tests.stages.test_review import APPROVE, REJECT, pick, reviewed

UNDO = Ruling(Move.UNDO, "ann")
RECALL = Ruling(Move.RECALL, "ann")
JPEG = "image/jpeg"


def judge(reviews: Reviews, row: JobRow, ruling: Ruling) -> JobRow:
    """Return a job's row after a decision."""
    outcome = reviews.judge(CUSTOMER, CAMPAIGN, [pick(row)], ruling)
    assert isinstance(outcome, Outcome)
    return outcome.rows[0]


def there(door: FrontDoor, row: JobRow) -> dict[str, str]:
    """Return where each object of a job lies -> its review's tag."""
    mine = {key: one for key, one in door.objects.objects.items() if row.job_id in key}
    return {key: one.tags.get("human-reviewed", "") for key, one in mine.items()}


def test_an_approval_is_a_tag_and_moves_nothing() -> None:
    """The tag says it at once; tags that others wrote stay."""
    door, reviews, (row,) = reviewed(1)
    for key in row.outputs:
        door.objects.retag(key, {"legal-hold": "true", "human-reviewed": "pending"})
    approved = judge(reviews, row, APPROVE)

    showing = Showing(Holding(door.ledger, door.objects, door.clock))
    showing.tag([approved])

    assert there(door, row) == dict.fromkeys(row.outputs, "approved")
    assert door.objects.tags(row.outputs[0]) == {"legal-hold": "true", "human-reviewed": "approved"}
    assert showing.show_due(most=9) == 1
    assert door.ledger.unshown(View.OBJECTS, most=9) == []
    assert door.ledger.unshown(View.DAGSTER, most=9) == [approved]


def test_a_rejection_is_tagged_at_once_and_moved_by_one_process() -> None:
    """Whoever answers a click tags; the one that moves objects does the rest."""
    door, reviews, (row,) = reviewed(1)
    rejected = judge(reviews, row, REJECT)
    showing = Showing(Holding(door.ledger, door.objects, door.clock))

    showing.tag([rejected])
    assert there(door, row) == dict.fromkeys(row.outputs, "rejected")

    assert showing.show_due(most=9) == 1
    assert there(door, row) == {ids.rejected_key(key): "rejected" for key in row.outputs}
    assert showing.show_due(most=9) == 0


def test_an_undo_brings_objects_back() -> None:
    """Rejected, undone, approved: the files are where they were."""
    door, reviews, (row,) = reviewed(1)
    showing = Showing(Holding(door.ledger, door.objects, door.clock))
    rejected = judge(reviews, row, REJECT)
    showing.show_due(most=9)

    undone = judge(reviews, rejected, UNDO)
    showing.show_due(most=9)

    assert there(door, row) == dict.fromkeys(row.outputs, "pending")
    judge(reviews, undone, APPROVE)
    showing.show_due(most=9)
    assert there(door, row) == dict.fromkeys(row.outputs, "approved")


def test_a_recall_quarantines_what_was_published() -> None:
    """What must not be used any more does not lie where it was delivered."""
    door, reviews, (row,) = reviewed(1)
    recalled = judge(reviews, judge(reviews, row, APPROVE), RECALL)

    Showing(Holding(door.ledger, door.objects, door.clock)).show_due(most=9)

    assert recalled.human_reviewed is HumanReview.REJECTED
    assert there(door, row) == {ids.rejected_key(key): "rejected" for key in row.outputs}


def test_a_held_object_is_copied_and_never_deleted() -> None:
    """A legal hold that others set by a tag, in whatever letters, keeps the file where it is."""
    door, reviews, (row,) = reviewed(1)
    held = row.outputs[0]
    door.objects.retag(held, {"Legal-Hold": "TRUE"})
    judge(reviews, row, REJECT)

    Showing(Holding(door.ledger, door.objects, door.clock)).show_due(most=9)

    assert door.objects.exists(held)
    assert door.objects.tags(ids.rejected_key(held)) == {
        "Legal-Hold": "TRUE",
        "human-reviewed": "rejected",
    }
    assert not door.objects.exists(row.outputs[1])


def test_what_lies_beside_a_file_goes_with_it() -> None:
    """A file that is rejected takes with it what is told of it."""
    door, reviews, (row,) = reviewed(1)
    key = row.outputs[0]
    door.objects.put(ids.sidecar_key(key), b"{}", media_type="application/json")
    judge(reviews, row, REJECT)

    Showing(Holding(door.ledger, door.objects, door.clock)).show_due(most=9)

    assert there(door, row)[ids.rejected_key(ids.sidecar_key(key))] == "rejected"
    assert not door.objects.exists(ids.sidecar_key(key))


def test_a_move_that_died_half_way_is_finished() -> None:
    """A copy without the delete behind it leaves nothing to find under the old key."""
    door, reviews, (row,) = reviewed(1)
    judge(reviews, row, REJECT)
    for key in row.outputs:
        door.objects.copy(key, ids.rejected_key(key), tags={"human-reviewed": "rejected"})

    Showing(Holding(door.ledger, door.objects, door.clock)).show_due(most=9)

    assert there(door, row) == {ids.rejected_key(key): "rejected" for key in row.outputs}


def test_a_decision_in_mid_move_is_what_remains() -> None:
    """The row moved while its objects were written: they are written anew, by the last word."""
    door, reviews, (row,) = reviewed(1)
    rejected = judge(reviews, row, REJECT)

    class Interrupted(MemoryObjects):
        """A store in whose first copy somebody else decides anew."""

        done = False

        def copy(self, key: str, to: str, *, tags: Mapping[str, str]) -> bool:
            if not self.done:
                self.done = True
                judge(reviews, judge(reviews, rejected, UNDO), APPROVE)
            return super().copy(key, to, tags=tags)

    store = Interrupted()
    for key in row.outputs:
        store.put(key, b"x", media_type=JPEG)

    assert Showing(Holding(door.ledger, store, door.clock)).show_due(most=9) == 1

    assert {key: one.tags["human-reviewed"] for key, one in store.objects.items()} == dict.fromkeys(
        row.outputs, "approved"
    )


@pytest.mark.parametrize("ruling", [APPROVE, Ruling(Move.REJECT, "ann", Code.COMPETITOR)])
@pytest.mark.parametrize("released", [False, True])
def test_a_hold_or_release_between_reading_and_writing_tags_stands(
    ruling: Ruling, *, released: bool
) -> None:
    """The write undoes its tags; whoever wrote brings them back at once, wherever the file is."""
    door, reviews, (row,) = reviewed(1)

    class Between(MemoryObjects):
        """A store in which a hold is asked for, or ends, just before the first tags are written."""

        done = True

        def _counsel(self) -> None:
            if not self.done:
                self.done = True
                ask = counsel.release if released else counsel.hold
                ask(row.customer_id, row.campaign_id, row.job_id, by="counsel", why="a claim")

        def retag(self, key: str, tags: Mapping[str, str]) -> bool:
            self._counsel()
            return super().retag(key, tags)

        def copy(self, key: str, to: str, *, tags: Mapping[str, str]) -> bool:
            self._counsel()
            return super().copy(key, to, tags=tags)

    store = Between()
    counsel = Holding(door.ledger, store, door.clock)
    for key in row.outputs:
        store.put(key, b"x", media_type=JPEG, tags={"retention": "standard"})
    if released:
        counsel.hold(row.customer_id, row.campaign_id, row.job_id, by="counsel", why="a claim")
    judge(reviews, row, ruling)
    store.done = False
    showing = Showing(counsel)

    showing.show_due(most=9)

    def held() -> set[bool]:
        files = {key: one for key, one in store.objects.items() if not key.startswith("holds/")}
        return {retention.is_ours(one.tags) for one in files.values()}

    assert held() == {not released}
    showing.show_due(most=9)
    assert door.ledger.unshown(View.OBJECTS, most=9) == []
    assert held() == {not released}


class Forgetful(MemoryObjects):
    """A store that keeps no tags."""

    def copy(self, key: str, to: str, *, tags: Mapping[str, str]) -> bool:
        return super().copy(key, to, tags={})


def test_tags_are_read_back() -> None:
    """What the bucket did not keep stays due, and nothing is deleted."""
    door, reviews, (row,) = reviewed(1)
    judge(reviews, row, Ruling(Move.REJECT, "ann", Code.COMPETITOR))
    store = Forgetful()
    for key in row.outputs:
        store.put(key, b"x", media_type=JPEG)

    assert Showing(Holding(door.ledger, store, door.clock)).show_due(most=9) == 0

    assert set(row.outputs) < set(store.objects)
    assert len(door.ledger.unshown(View.OBJECTS, most=9)) == 1


def test_outputs_that_are_gone_do_not_keep_a_decision_due() -> None:
    """The lifecycle has taken them: there is nothing to show it on."""
    door, reviews, (row,) = reviewed(1)
    for key in row.outputs:
        door.objects.delete(key)
    judge(reviews, row, APPROVE)

    assert Showing(Holding(door.ledger, door.objects, door.clock)).show_due(most=9) == 1
