"""The state machine of a job."""

import pytest

from fireflyassets.core.status import ENDED, KEPT, MOVES, Status, may_move


def test_every_state_has_its_moves() -> None:
    """No state is forgotten, and nothing moves to itself."""
    assert set(MOVES) == set(Status)
    assert all(state not in targets for state, targets in MOVES.items())


def test_closed_states_are_closed() -> None:
    """Failed and cancelled jobs never come back; a new key is a new job."""
    assert MOVES[Status.FAILED] == frozenset()
    assert MOVES[Status.CANCELLED] == frozenset()


def test_only_a_claim_starts_work() -> None:
    """Running is entered from queued alone."""
    assert [state for state in Status if may_move(state, Status.RUNNING)] == [Status.QUEUED]


@pytest.mark.parametrize("state", sorted(KEPT))
def test_what_waits_for_somebody_has_a_way_back(state: Status) -> None:
    """A job that a person or a replay can save goes through the queue again."""
    assert state in ENDED
    assert may_move(state, Status.QUEUED)
