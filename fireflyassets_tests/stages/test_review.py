"""Decisions of people: who may decide on what, what is refused and how it is told."""

import itertools
from datetime import timedelta

from fireflyassets.adapters.word_lists import WordList, WordLists, WordRule
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.core.review import Code, Move, is_sampled
from fireflyassets.core.status import HumanReview
from fireflyassets.stages.review import MOST, Outcome, Pick, Reviews, Ruling, code_of
from fireflyassets_tests.api.desk_clerk import finish
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    FixedCatalogue,
    FrontDoor,
    asked,
    config,
    front_door,
)

KEEP = timedelta(days=90)
APPROVE = Ruling(Move.APPROVE, "ann")
REJECT = Ruling(Move.REJECT, "bob", Code.QUALITY)


def reviewed(jobs: int) -> tuple[FrontDoor, Reviews, list[JobRow]]:
    """Return a door behind which so many jobs wait for a review."""
    door = front_door(FixedCatalogue(config(review=ReviewMode.REQUIRED), config(customer="bolt")))
    numbers = itertools.count(1)
    reviews = Reviews(door.ledger, door.clock, lambda _: KEEP, lambda: f"act-{next(numbers)}")
    rows = [asked(key=f"job-{number}") for number in range(jobs)]
    door.intake.accept(rows, customer=CUSTOMER, campaign=CAMPAIGN)
    for row in door.ledger.rows():
        finish(door, row.job_id)
    return door, reviews, door.ledger.unreviewed(CUSTOMER, CAMPAIGN, after=None, most=1000)


def pick(row: JobRow) -> Pick:
    """Return a job as it was seen."""
    return Pick(row.job_id, row.epoch)


def decided(outcome: Outcome | tuple[Problem, ...]) -> Outcome:
    """Return what came of an act that was right."""
    assert isinstance(outcome, Outcome)
    return outcome


def test_a_selection_is_approved_at_once() -> None:
    """Each job is approved, settled rows expire, and nothing waits for a review any more."""
    door, reviews, rows = reviewed(3)

    outcome = decided(reviews.judge(CUSTOMER, CAMPAIGN, [pick(row) for row in rows], APPROVE))

    assert {row.human_reviewed for row in outcome.rows} == {HumanReview.APPROVED}
    assert {row.ttl for row in outcome.rows} == {door.clock.now() + KEEP}
    assert outcome.refused == ()
    assert door.ledger.unreviewed(CUSTOMER, CAMPAIGN, after=None, most=9) == []


def test_who_is_late_hears_who_was_first() -> None:
    """A second decision on what was seen before is refused, with name, verdict and time."""
    _, reviews, (row,) = reviewed(1)
    reviews.judge(CUSTOMER, CAMPAIGN, [pick(row)], REJECT)

    late = decided(reviews.judge(CUSTOMER, CAMPAIGN, [pick(row)], APPROVE))

    assert late.rows == ()
    assert "bob has rejected it (R-QUALITY) at 12:00:00 UTC" in late.refused[0].reason


def test_what_is_decided_is_decided_again_only_after_an_undo() -> None:
    """Seeing the verdict is not enough to overturn it by a click; an undo is noted by itself."""
    door, reviews, (row,) = reviewed(1)
    (approved,) = decided(reviews.judge(CUSTOMER, CAMPAIGN, [pick(row)], APPROVE)).rows

    double = decided(reviews.judge(CUSTOMER, CAMPAIGN, [pick(approved)], APPROVE))
    undo = Ruling(Move.UNDO, "ann")
    (undone,) = decided(reviews.judge(CUSTOMER, CAMPAIGN, [pick(approved)], undo)).rows
    (rejected,) = decided(reviews.judge(CUSTOMER, CAMPAIGN, [pick(undone)], REJECT)).rows

    assert double.refused[0].reason == "Its review is approved: it can't be approved."
    assert undone.human_reviewed is HumanReview.PENDING
    assert undone.ttl is None
    assert rejected.human_reviewed is HumanReview.REJECTED
    history = [one.move for one in door.ledger.judgements(row.job_id)]
    assert history == [Move.APPROVE, Move.UNDO, Move.REJECT]


def test_a_superseded_version_is_refused() -> None:
    """What was made anew since the page was shown is not what the person saw."""
    _, reviews, (row,) = reviewed(1)

    outcome = decided(reviews.judge(CUSTOMER, CAMPAIGN, [Pick(row.job_id, row.epoch - 1)], APPROVE))

    assert outcome.refused[0].reason.startswith("Its outputs are other ones by now")


def test_a_job_of_another_tenant_or_campaign_is_not_there() -> None:
    """No answer tells whether it exists, and nothing is decided."""
    door, reviews, (row,) = reviewed(1)

    for customer, campaign in (("bolt", CAMPAIGN), (CUSTOMER, "other")):
        outcome = decided(reviews.judge(customer, campaign, [pick(row)], APPROVE))
        assert outcome.refused[0].reason == "There is no such job in this campaign."

    assert door.ledger.job(row.job_id) == row
    assert door.ledger.acts("bolt", since=row.created_at) == []


def test_a_cluster_draws_a_second_look() -> None:
    """A tenth of it stays open, to be looked at by itself; the act says which were drawn."""
    door, reviews, rows = reviewed(20)
    whole = Ruling(Move.APPROVE, "ann", is_cluster=True)

    outcome = decided(reviews.judge(CUSTOMER, CAMPAIGN, [pick(row) for row in rows], whole))

    left = door.ledger.unreviewed(CUSTOMER, CAMPAIGN, after=None, most=99)
    (act,) = door.ledger.acts(CUSTOMER, since=door.clock.now())
    assert len(outcome.rows) == 20
    assert len(left) == 2
    assert {row.job_id for row in left} == set(act.sampled)
    assert {row.judged.move for row in left if row.judged} == {Move.SECOND_LOOK}
    again = decided(reviews.judge(CUSTOMER, CAMPAIGN, [pick(row) for row in left], APPROVE))
    assert {row.human_reviewed for row in again.rows} == {HumanReview.APPROVED}


def test_an_escalated_job_stays_open_and_says_so() -> None:
    """Whoever looks next sees since when it waits for somebody else."""
    door, reviews, (row,) = reviewed(1)
    escalate = Ruling(Move.ESCALATE, "ann", note="Is this our bottle?")

    (escalated,) = decided(reviews.judge(CUSTOMER, CAMPAIGN, [pick(row)], escalate)).rows

    assert escalated.human_reviewed is HumanReview.PENDING
    assert escalated.judged is not None
    assert (escalated.judged.move, escalated.judged.note) == (Move.ESCALATE, "")
    assert door.ledger.judgements(row.job_id)[0].note == "Is this our bottle?"


def test_an_act_that_is_not_right_decides_nothing() -> None:
    """No job, too many, no code, a code too many, a long note: each is named."""
    door, reviews, (row,) = reviewed(1)
    many = [Pick(f"job-{n}", 1) for n in range(MOST + 1)]
    acts = [
        ([], APPROVE, "jobs"),
        (many, APPROVE, "jobs"),
        ([pick(row)], Ruling(Move.REJECT, "ann"), "code"),
        ([pick(row)], Ruling(Move.APPROVE, "ann", Code.QUALITY), "code"),
        ([pick(row)], Ruling(Move.APPROVE, "ann", note="x" * 501), "note"),
    ]

    for picks, ruling, field in acts:
        told = reviews.judge(CUSTOMER, CAMPAIGN, picks, ruling)
        assert isinstance(told, tuple)
        assert [one.field for one in told] == [field]

    assert door.ledger.job(row.job_id) == row


def test_an_unknown_code_is_told_which_there_are() -> None:
    """A typing error does not become a verdict."""
    told = code_of("R-UGLY")

    assert isinstance(told, Problem)
    assert "R-QUALITY" in told.fix
    assert code_of("R-QUALITY") is Code.QUALITY
    assert code_of("") is None


def test_the_pace_is_told_by_person() -> None:
    """Deciding twice within half a minute is flagged."""
    door, reviews, (one, other) = reviewed(2)
    reviews.judge(CUSTOMER, CAMPAIGN, [pick(one)], APPROVE)
    reviews.judge(CUSTOMER, CAMPAIGN, [pick(other)], APPROVE)

    (pace,) = reviews.paces(CUSTOMER)

    assert (pace.by, pace.acts, pace.hasty, pace.is_flagged) == ("ann", 2, 1, True)
    assert door.clock.now() - one.created_at < timedelta(hours=1)


def test_a_sampled_review_asks_for_its_share_and_always_the_same() -> None:
    """A tenth waits for a person, and anybody can draw it again by the campaign's name."""
    sampled = config(review=ReviewMode.SAMPLED)
    door = front_door(FixedCatalogue(sampled))
    rows = [asked(key=f"job-{number}") for number in range(300)]

    door.intake.accept(rows, customer=CUSTOMER, campaign=CAMPAIGN)

    found = door.ledger.rows()
    waiting = {one.job_id for one in found if one.human_reviewed is HumanReview.PENDING}
    drawn = {
        one.job_id
        for one in found
        if is_sampled(one.job_id, seed=f"{CUSTOMER}/{CAMPAIGN}", share=0.1)
    }
    assert waiting == drawn
    assert 10 < len(waiting) < 60


def test_a_flagged_review_asks_for_what_a_rule_rewrote() -> None:
    """What was sent as it was written is published unseen."""
    rule = WordRule(rule="glass", fix="Say glass.", words=("bottle",), replace_with="glass")
    lists = WordLists([WordList(rules=(rule,))])
    door = front_door(FixedCatalogue(config(review=ReviewMode.FLAGGED)), guardrail=lists)
    rows = [asked(key="plain", prompt="A meadow"), asked(key="changed", prompt="A bottle")]

    door.intake.accept(rows, customer=CUSTOMER, campaign=CAMPAIGN)

    found = {row.idempotency_key: row.human_reviewed for row in door.ledger.rows()}
    assert found == {"plain": HumanReview.NOT_REQUIRED, "changed": HumanReview.PENDING}
