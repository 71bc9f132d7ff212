"""What may be decided on outputs, and what follows from it."""

from datetime import UTC, datetime, timedelta

import pytest

from fireflyassets.core.event import EventType
from fireflyassets.core.review import (
    ACTIONS,
    Act,
    Code,
    Move,
    is_sampled,
    paces,
    second_look,
    told_as,
    verdict,
)
from fireflyassets.core.status import HumanReview

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
PENDING, APPROVED, REJECTED = HumanReview.PENDING, HumanReview.APPROVED, HumanReview.REJECTED
UNREVIEWED = HumanReview.NOT_REQUIRED


@pytest.mark.parametrize(
    ("review", "move", "after"),
    [
        (PENDING, Move.APPROVE, APPROVED),
        (PENDING, Move.REJECT, REJECTED),
        (PENDING, Move.ESCALATE, PENDING),
        (APPROVED, Move.UNDO, PENDING),
        (REJECTED, Move.UNDO, PENDING),
        (APPROVED, Move.RECALL, REJECTED),
        (UNREVIEWED, Move.RECALL, REJECTED),
        (APPROVED, Move.APPROVE, None),
        (APPROVED, Move.REJECT, None),
        (REJECTED, Move.RECALL, None),
        (PENDING, Move.RECALL, None),
        (PENDING, Move.UNDO, None),
        (UNREVIEWED, Move.APPROVE, None),
    ],
)
def test_a_move_leads_where_the_drawing_says(
    review: HumanReview, move: Move, after: HumanReview | None
) -> None:
    """What is decided is decided anew only after an undo."""
    assert verdict(review, None, move) is after


def test_a_recall_cannot_be_undone() -> None:
    """Whoever was told to stop using a file is not told the opposite by a click."""
    assert verdict(REJECTED, Move.RECALL, Move.UNDO) is None


def test_undoing_an_approval_recalls_what_was_told() -> None:
    """A customer who was told of an approval hears that it holds no longer."""
    assert told_as(APPROVED, Move.UNDO) is EventType.ASSET_RECALLED
    assert told_as(REJECTED, Move.UNDO) is None
    assert told_as(PENDING, Move.ESCALATE) is None


def test_every_code_has_its_action() -> None:
    """A reason that nobody acts on is no use to the next job."""
    assert set(ACTIONS) == set(Code)


def test_a_second_look_is_drawn_by_its_seed_alone() -> None:
    """An auditor draws the same jobs again, in whatever order they are listed."""
    jobs = [f"job-{number}" for number in range(40)]

    drawn = second_look(jobs, "act-1")

    assert drawn == second_look(jobs[::-1], "act-1") != second_look(jobs, "act-2")
    assert len(drawn) == 4
    assert len(second_look(jobs[:3], "act-1")) == 1
    assert second_look(jobs[:2], "act-1") == ()


def test_a_sample_is_about_its_share() -> None:
    """A tenth is a tenth: not the first ones, and not by chance of the day."""
    sampled = [n for n in range(5000) if is_sampled(f"job-{n}", seed="acme/spring", share=0.1)]

    assert 400 < len(sampled) < 600
    assert not is_sampled("job-1", seed="acme/spring", share=0)
    assert is_sampled("job-1", seed="acme/spring", share=1)


def test_haste_is_counted_by_acts() -> None:
    """A cluster is one decision, an undo none; more than a hundred an hour are too many."""
    slow = [_act("ann", minutes=n) for n in range(50)]
    quick = [_act("bob", minutes=0, seconds=n * 31) for n in range(101)]
    nervous = [_act("cid", minutes=0), _act("cid", minutes=0, seconds=29)]
    undoing = [_act("dan", minutes=0, move=Move.UNDO)]

    found = paces([*slow, *quick, *nervous, *undoing], now=NOON + timedelta(minutes=55))

    assert [(one.by, one.acts, one.hasty, one.is_flagged) for one in found] == [
        ("ann", 50, 0, False),
        ("bob", 101, 0, True),
        ("cid", 2, 1, True),
    ]


def test_what_is_an_hour_old_is_no_haste() -> None:
    """A flag goes away by itself."""
    assert paces([_act("ann", minutes=0)], now=NOON + timedelta(hours=1)) == ()


def _act(by: str, *, minutes: int, seconds: int = 0, move: Move = Move.APPROVE) -> Act:
    at = NOON + timedelta(minutes=minutes, seconds=seconds)
    return Act(f"{by}-{at}", "acme", "spring", by, at, move, 200)
