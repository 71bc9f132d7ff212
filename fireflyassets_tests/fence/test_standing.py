"""The rule by history: what may be sent, must be collected, or is nobody's to repeat."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.failure import Family
from fireflyassets.core.money import Cause
from fireflyassets.fence.standing import (
    SETTLED_AFTER,
    TELLS_UNTIL,
    MaySend,
    MustCollect,
    MustSettle,
    Undecidable,
    absence_tells,
    awaits_person,
    standing,
)
from fireflyassets.ports.entries import Attempt, AttemptState

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
FIRST = Attempt(
    job_id="job",
    step="art",
    generation=1,
    n=1,
    family=Family.FIREFLY,
    organisation="ORG",
    wave_id="w",
    epoch=1,
    submitted_at=NOON,
    output_key=None,
    cause=Cause.FIRST_TRY,
)
OPEN = {AttemptState.SUBMITTING, AttemptState.LOST, AttemptState.ACCEPTED}


def stand(*attempts: Attempt, replay: int = 0) -> object:
    """Return how the step of `FIRST` stands."""
    return standing(attempts, step="art", generation=1, replay=replay)


def test_a_fresh_step_may_be_sent() -> None:
    """Without a history the first send is number one and a first try."""
    assert stand() == MaySend(1, 0, Cause.FIRST_TRY)


def test_an_accepted_send_is_collected() -> None:
    """A stored id is polled, never sent again."""
    accepted = replace(FIRST, state=AttemptState.ACCEPTED, vendor_id="v")
    assert stand(accepted) == MustCollect(accepted)


def test_an_unanswered_generate_is_undecidable() -> None:
    """A row without an id means that the call may have run, and nothing of ours can tell."""
    assert stand(FIRST) == Undecidable(FIRST)


def test_an_unanswered_composite_is_settled_later() -> None:
    """Its own key tells, once nothing can still be writing to it."""
    composite = replace(FIRST, output_key="_tmp/x", state=AttemptState.LOST)
    assert stand(composite) == MustSettle(composite, NOON + SETTLED_AFTER)


def test_absent_file_proves_something_for_a_while_and_without_an_id() -> None:
    """Only then is an unknown send settled without a person."""
    composite = replace(FIRST, output_key="_tmp/x", state=AttemptState.LOST)
    last = NOON + TELLS_UNTIL
    late = last + timedelta(seconds=1)

    assert absence_tells(composite, now=last)
    assert not absence_tells(composite, now=late)
    assert not absence_tells(replace(composite, vendor_id="v"), now=NOON)

    assert not awaits_person(composite, now=last)
    assert awaits_person(composite, now=late)
    assert awaits_person(replace(composite, vendor_id="v"), now=NOON)
    assert awaits_person(FIRST, now=NOON)
    assert not awaits_person(replace(FIRST, state=AttemptState.FAILED), now=late)


def test_forgiven_sends_cost_no_try() -> None:
    """N counts every send; the budget only those that count, and causes follow it."""
    throttled = replace(FIRST, state=AttemptState.REFUSED, counts=False)
    assert stand(throttled) == MaySend(2, 0, Cause.FIRST_TRY)
    refused = replace(FIRST, n=2, state=AttemptState.REFUSED)
    assert stand(throttled, refused) == MaySend(3, 1, Cause.RETRY)


def test_a_replay_has_a_budget_of_its_own() -> None:
    """After a replay n goes on and the tries begin anew."""
    spent = [replace(FIRST, n=n, state=AttemptState.FAILED) for n in (1, 2, 3)]
    assert stand(*spent, replay=1) == MaySend(4, 0, Cause.RETRY)


def test_a_regenerate_is_not_a_retry() -> None:
    """Another generation begins at one with its own cause, whatever the first one did."""
    done = replace(FIRST, state=AttemptState.ACCEPTED, vendor_id="v")
    assert standing([done], step="art", generation=2, replay=0) == MaySend(1, 0, Cause.REGENERATE)


attempts = st.builds(
    replace,
    st.just(FIRST),
    n=st.integers(1, 6),
    state=st.sampled_from(AttemptState),
    output_key=st.sampled_from([None, "_tmp/x"]),
    counts=st.booleans(),
)


@given(st.lists(attempts, max_size=6, unique_by=lambda one: one.n), st.randoms())
def test_nothing_is_sent_while_a_send_is_open(history: list[Attempt], order: object) -> None:
    """In any order of rows: a new send is allowed only if every earlier one is closed."""
    shuffled = list(history)
    order.shuffle(shuffled)  # pyright: ignore[reportAttributeAccessIssue]
    answer = stand(*shuffled)
    is_open = any(one.state in OPEN for one in history)
    assert isinstance(answer, MaySend) is not is_open
    if isinstance(answer, MaySend):
        assert answer.n == max((one.n for one in history), default=0) + 1
