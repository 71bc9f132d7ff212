"""What was under way when an operator let an item begin anew finds nothing that fits.

Here: late writes and late answers, which the epoch and the sequence of a reset keep out, and resets
without them. Not here: what a reset promises (`contracts`).
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from fireflyassets.limiter import arithmetic as law
from fireflyassets.limiter import protocol, rates, reservation
from fireflyassets.limiter.arithmetic import State, micros
from fireflyassets.limiter.known import KnownStates
from fireflyassets_tests.limiter.worlds import NOON, per_minute

NOW = micros(NOON)
BEFORE = law.initial(per_minute(60), NOW)
Plan = Callable[[State, int], protocol.Reset]


def with_the_old_epoch(state: State, now: int) -> protocol.Reset:
    """Plan a reset that leaves the epoch as it was."""
    reset = rates.plan_reset(state, now)
    return replace(reset, state=replace(reset.state, epoch=state.epoch))


def with_the_next_sequence(state: State, now: int) -> protocol.Reset:
    """Plan a reset that counts as one write like any other."""
    reset = rates.plan_reset(state, now)
    return replace(reset, state=replace(reset.state, sequence=state.sequence + 1))


def late_writes_hold(plan: Plan) -> list[protocol.Write]:
    """Return the writes, planned before the reset, that hold when they arrive after it."""
    reset = plan(BEFORE, NOW)
    late: list[protocol.Write] = [reset, protocol.Tally(BEFORE.epoch)]
    late.append(rates.plan_pause(BEFORE, NOW, 9 * law.SECOND_US))
    late.append(rates.plan_override(BEFORE, NOW, rates.Setting(10**7, NOW + 10**9, "ada", "x")))
    after = protocol.apply(BEFORE, reset)
    assert after is not None
    return [write for write in late if protocol.apply(after, write) is not None]


def believed_after(plan: Plan) -> State:
    """Return what a process knows that hears of the reset, then late of a take before it."""
    reset, taken = plan(BEFORE, NOW), BEFORE
    for _ in range(5):  # Taken while the reset is under way: it does not ask for the sequence.
        take = reservation.plan(taken, NOW, reservation.Ask(1))
        held = protocol.apply(taken, take) if isinstance(take, protocol.Take) else None
        assert held is not None
        taken = held
    after, known = protocol.apply(taken, reset), KnownStates()
    assert after is not None
    known.learn("item", after, at=NOW, before=None)
    known.learn("item", taken, at=NOW, before=None)
    found = known.get("item")
    assert found is not None
    return found.state


def test_no_write_of_before_holds_after_a_reset() -> None:
    """Neither a pause nor a rate nor a count nor the same reset once more: the epoch has risen."""
    assert late_writes_hold(rates.plan_reset) == []


def test_a_late_answer_does_not_bring_the_old_law_back() -> None:
    """However many tickets were taken meanwhile, the reset is the newer: the sequence leaps."""
    assert believed_after(rates.plan_reset) == rates.plan_reset(BEFORE, NOW).state


@pytest.mark.parametrize("ahead", [law.DAY_US, 0, -law.DAY_US])
def test_epoch_and_sequence_never_go_back(ahead: int) -> None:
    """Whatever clock the item was made by, a reset by today's is newer than all before it."""
    state = law.initial(per_minute(60), NOW + ahead)

    reset = rates.plan_reset(state, NOW).state

    assert reset.epoch > max(state.epoch, NOW)
    assert reset.sequence >= state.sequence + law.SKIPPED
    assert reset.next_number >= state.next_number + law.SKIPPED


def test_a_reset_without_them_is_caught() -> None:
    """With the old epoch late writes hold; with the next sequence a late answer is believed."""
    assert len(late_writes_hold(with_the_old_epoch)) == 4
    assert believed_after(with_the_next_sequence).sequence == BEFORE.sequence + 5
