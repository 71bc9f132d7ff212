"""Why a job waits, as a table of facts: each cause where it counts, and an answer to everything."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core import cause
from fireflyassets.core.cause import Cause, HeldBy
from fireflyassets.core.failure import Family
from fireflyassets.core.job import CAMPAIGN, FACTORY, FENCE, Cancel, Hold, JobRow
from fireflyassets.core.status import ENDED, HumanReview, Status
from fireflyassets.core.why import Facts, Item, Turn, why
from fireflyassets_tests.contracts.ledgers import job

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SOON = NOON + timedelta(minutes=10)
ITEM = Item(Family.FIREFLY, NOON)
BLOCKED = replace(ITEM, blocked_until=SOON)
CAUSES = [one for one in vars(cause).values() if isinstance(one, type) and issubclass(one, Cause)]


def row(status: Status = Status.QUEUED, **changes: object) -> JobRow:
    """Return a row as it stands."""
    return job("one", status=status, updated_at=NOON, **changes)


def held(by: str) -> JobRow:
    """Return a row that somebody holds."""
    return row(hold=Hold("look at it.", NOON, by))


TABLE = [
    (Facts(held(FACTORY), NOON), cause.OnHold, HeldBy.HOLD),
    (Facts(held(FENCE), NOON), cause.OutcomeUnknown, HeldBy.INCIDENT),
    (Facts(held(CAMPAIGN), NOON), cause.CampaignOnHold, HeldBy.HOLD),
    (Facts(row(), NOON, campaign_hold=Hold("x", NOON, "b")), cause.CampaignOnHold, HeldBy.HOLD),
    (Facts(row(), NOON, fault="1x1.psd changed"), cause.FilesUnusable, HeldBy.TEMPLATE),
    (Facts(row(), NOON, items=[BLOCKED]), cause.ServicePaused, HeldBy.LIMIT),
    (
        Facts(row(), NOON, items=[replace(BLOCKED, opened_at=NOON)]),
        cause.BreakerOpen,
        HeldBy.INCIDENT,
    ),
    (Facts(row(), NOON, items=[replace(ITEM, quota=9000)]), cause.DayQuotaUsed, HeldBy.LIMIT),
    (
        Facts(row(not_before=SOON), NOON, items=[replace(ITEM, slowed_until=SOON)]),
        cause.SlowedByHand,
        HeldBy.LIMIT,
    ),
    (Facts(row(not_before=SOON), NOON), cause.Interrupted, HeldBy.INCIDENT),
    (Facts(row(not_before=SOON, parked_for=HeldBy.LIMIT), NOON), cause.PaceUsed, HeldBy.LIMIT),
    (Facts(row(not_before=SOON, parked_for=HeldBy.SHARE), NOON), cause.NotItsTurn, HeldBy.SHARE),
    (Facts(row(not_before=NOON), NOON), cause.InLine, HeldBy.SHARE),
    (Facts(row(Status.RUNNING), NOON, turn=Turn.BEGINS), cause.Beginning, HeldBy.NOTHING),
    (Facts(row(Status.RUNNING), NOON, turn=Turn.WARM), cause.WarmWave, HeldBy.SHARE),
    (Facts(row(Status.RUNNING), NOON, turn=Turn.WORKS), cause.InProduction, HeldBy.NOTHING),
    (
        Facts(row(Status.RUNNING, cancel=Cancel("me", timedelta(1))), NOON),
        cause.BeingCancelled,
        HeldBy.NOTHING,
    ),
    (Facts(row(Status.DLQ), NOON), cause.CanRunAgain, HeldBy.INCIDENT),
    (Facts(row(Status.DLQ), NOON, over_budget="no room"), cause.BudgetFull, HeldBy.BUDGET),
    (Facts(row(Status.REVIEW), NOON), cause.NeedsMending, HeldBy.REVIEW),
    (
        Facts(row(Status.SUCCEEDED, human_reviewed=HumanReview.PENDING), NOON),
        cause.ReviewOpen,
        HeldBy.REVIEW,
    ),
    (
        Facts(row(Status.SUCCEEDED, human_reviewed=HumanReview.REJECTED), NOON),
        cause.Rejected,
        HeldBy.REVIEW,
    ),
    (Facts(row(Status.CANCELLED), NOON), cause.Ended, HeldBy.NOTHING),
]


@pytest.mark.parametrize(("facts", "kind", "held_by"), TABLE)
def test_each_cause_counts_where_it_holds(facts: Facts, kind: type[Cause], held_by: HeldBy) -> None:
    """Of its kind, with since when, and a sentence with one full stop."""
    found = why(facts).cause

    assert type(found) is kind
    assert found.held_by is held_by
    assert found.since == NOON
    assert found.sentence.endswith(".")
    assert ".." not in found.sentence
    assert "{" not in found.sentence


def test_every_cause_is_in_the_table_and_says_who_lifts_it() -> None:
    """A cause that nothing leads to would be words for nobody."""
    assert {kind for _, kind, _ in TABLE} == {*CAUSES} - {Cause}
    assert all(one.lifted_by.endswith(".") for one in CAUSES)


def test_of_several_causes_the_one_that_outlasts_the_others_counts() -> None:
    """A hold before a pause, a template before a line."""
    both = Facts(held(FACTORY), NOON, fault="gone", items=[BLOCKED])

    assert type(why(both).cause) is cause.OnHold
    assert type(why(replace(both, row=row())).cause) is cause.FilesUnusable


def test_the_start_is_told_where_nobody_has_to_act() -> None:
    """The later of its own time, its turn and the pause; unknown where a person must come first."""
    line = Facts(row(), NOON, ahead=3, beside=True, starts_at=SOON)
    parked = Facts(row(not_before=SOON + timedelta(minutes=1)), NOON, starts_at=SOON)
    paused = Facts(row(), NOON, items=[replace(BLOCKED, blocked_until=SOON)], starts_at=NOON)

    assert why(line).expected_start == SOON
    assert why(line).cause.sentence == "3 of your jobs go first; others take turns."
    assert why(parked).expected_start == SOON + timedelta(minutes=1)
    assert why(paused).expected_start == SOON
    assert why(Facts(held(FACTORY), NOON, starts_at=SOON)).expected_start is None


def test_words_of_others_are_quoted_and_never_read() -> None:
    """Braces in a reason stay braces."""
    odd = Facts(row(hold=Hold("{since} {0} {}", NOON, FACTORY)), NOON)

    assert why(odd).cause.sentence == "It is on hold: {since} {0} {}."


@given(
    st.sampled_from(Status),
    st.sampled_from(HumanReview),
    st.sampled_from([None, *Turn]),
    st.sampled_from([None, FACTORY, FENCE, CAMPAIGN, "somebody"]),
    st.sampled_from([None, NOON - timedelta(hours=1), SOON]),
    st.sampled_from([(), (ITEM,), (BLOCKED,), (replace(ITEM, quota=1),)]),
    st.sampled_from([None, *HeldBy]),
)
def test_everything_has_an_answer(
    status: Status,
    review: HumanReview,
    turn: Turn | None,
    by: str | None,
    due: datetime | None,
    items: tuple[Item, ...],
    parked_for: HeldBy | None,
) -> None:
    """Whatever a row and the world say together, there is one cause in words."""
    hold = Hold("x", NOON, by) if by else None
    shown = row(status, human_reviewed=review, hold=hold, not_before=due, parked_for=parked_for)

    found = why(Facts(shown, NOON, turn=turn, items=items))

    assert found.cause.sentence
    assert found.cause.lifted_by
    assert status not in ENDED or found.expected_start is None
