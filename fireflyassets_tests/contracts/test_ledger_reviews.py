"""Decisions on outputs: one transaction each, one winner, and views that are due until they show.

Every promise is checked over each ledger.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from fireflyassets.core.event import EventType
from fireflyassets.core.job import JobRow
from fireflyassets.core.review import Act, Code, Judgement, Move
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.entries import Place
from fireflyassets.ports.reviews import Judging, View
from fireflyassets_tests.contracts import ledgers, webhooks
from fireflyassets_tests.contracts.ledgers import ACME, MINUTE, NOON, SPRING

LATER = NOON + 5 * MINUTE
KEEP = timedelta(days=90)
PENDING = HumanReview.PENDING


def made(world: ledgers.World, key: str = "one", **changes: object) -> JobRow:
    """Return the row of a job that has succeeded and waits for its review."""
    claim = world.running(key, f"w-{key}", human_reviewed=PENDING, **changes)
    world.ledger.finish(claim, ledgers.ending(outputs=(f"{key}.jpg",), looks=(2**64 - 1, 7)))
    return world.row(claim)


def act(move: Move = Move.APPROVE, by: str = "ann", **changes: object) -> Act:
    """Return an act on one job."""
    return replace(Act(f"act-{by}", ACME, SPRING, by, LATER, move, 1), **changes)


def judging(
    row: JobRow,
    move: Move = Move.APPROVE,
    review: HumanReview = HumanReview.APPROVED,
    *,
    by: str = "ann",
    code: Code | None = None,
) -> Judging:
    """Return a decision on a row as it was read."""
    version = row.epoch + 1
    made_by = Judgement(row.job_id, ACME, version, move, by, LATER, f"act-{by}", code, "fine")
    return Judging(row, made_by, review, None if review is PENDING else LATER + KEEP)


def test_a_decision_is_on_the_row_and_in_the_history(ledger_world: ledgers.World) -> None:
    """The row says who decided what and when; the note is in the history alone."""
    row = made(ledger_world)
    one = judging(row)

    (told,) = ledger_world.ledger.judge(act(), [one])

    stands = ledger_world.ledger.job(row.job_id)
    assert stands == told
    assert stands is not None
    assert (stands.human_reviewed, stands.epoch) == (HumanReview.APPROVED, row.epoch + 1)
    assert stands.judged == replace(one.judgement, note="")
    assert stands.looks == (2**64 - 1, 7)
    assert stands.ttl == LATER + KEEP
    assert ledger_world.ledger.judgements(row.job_id) == [one.judgement]
    assert ledger_world.ledger.acts(ACME, since=NOON) == [act()]


def test_a_decision_on_another_version_writes_nothing(ledger_world: ledgers.World) -> None:
    """Late and double decisions change neither row nor history, and no act is kept."""
    row = made(ledger_world)
    ledger_world.ledger.judge(act(), [judging(row)])

    late = ledger_world.ledger.judge(
        act(Move.REJECT, "bob"), [judging(row, Move.REJECT, HumanReview.REJECTED, by="bob")]
    )

    stands = ledger_world.ledger.job(row.job_id)
    assert late == [None]
    assert stands is not None
    assert stands.human_reviewed is HumanReview.APPROVED
    assert [one.by for one in ledger_world.ledger.judgements(row.job_id)] == ["ann"]
    assert [one.by for one in ledger_world.ledger.acts(ACME, since=NOON)] == ["ann"]


def test_what_has_not_succeeded_is_not_judged(ledger_world: ledgers.World) -> None:
    """A job that is still made has no outputs to approve."""
    claim = ledger_world.running(human_reviewed=PENDING)

    assert ledger_world.ledger.judge(act(), [judging(ledger_world.row(claim))]) == [None]


def test_of_many_those_that_stand_are_judged(ledger_world: ledgers.World) -> None:
    """One job that has moved keeps no other back, beyond what fits one transaction too."""
    rows = [made(ledger_world, f"job-{number}") for number in range(40)]
    moved = rows[5]
    ledger_world.ledger.judge(act(by="bob"), [judging(moved, by="bob")])

    told = ledger_world.ledger.judge(act(asked=40), [judging(row) for row in rows])

    assert [place for place, row in enumerate(told) if row is None] == [5]
    assert ledger_world.ledger.unreviewed(ACME, SPRING, after=None, most=100) == []


def test_of_two_at_once_each_job_has_one_decision(ledger_world: ledgers.World) -> None:
    """Two reviewers on one cluster: whatever they say, nothing is decided twice or not at all."""
    rows = [made(ledger_world, f"job-{number}") for number in range(12)]

    def judge(by: str) -> list[JobRow | None]:
        verdict = HumanReview.APPROVED if by == "ann" else HumanReview.REJECTED
        move = Move.APPROVE if by == "ann" else Move.REJECT
        judgings = [judging(row, move, verdict, by=by) for row in rows]
        return ledger_world.ledger.judge(act(move, by), judgings)

    with ThreadPoolExecutor(2) as pool:
        ann, bob = pool.map(judge, ("ann", "bob"))

    for row, by_ann, by_bob in zip(rows, ann, bob, strict=True):
        (decision,) = ledger_world.ledger.judgements(row.job_id)
        stands = ledger_world.ledger.job(row.job_id)
        assert stands == (by_ann if decision.by == "ann" else by_bob)
        assert (by_ann is None) is not (by_bob is None)


def test_pending_jobs_are_listed_by_creation_once_made(ledger_world: ledgers.World) -> None:
    """What is not made yet, or decided, or of another campaign, is not shown to reviewers."""
    first, second, third = (
        made(ledger_world, key, created_at=NOON + place * MINUTE)
        for place, key in enumerate(("b", "a", "c"))
    )
    made(ledger_world, "other", campaign_id="autumn")
    ledger_world.running("running", human_reviewed=PENDING)
    ledger_world.ended(Status.SUCCEEDED, "unreviewed")
    ledger_world.ledger.judge(act(), [judging(second)])

    listed = ledger_world.ledger.unreviewed(ACME, SPRING, after=None, most=10)
    behind = ledger_world.ledger.unreviewed(
        ACME, SPRING, after=Place(first.created_at, first.job_id), most=10
    )

    assert [row.job_id for row in listed] == [first.job_id, third.job_id]
    assert listed[0] == first
    assert [row.job_id for row in behind] == [third.job_id]
    assert len(ledger_world.ledger.unreviewed(ACME, SPRING, after=None, most=1)) == 1


def test_an_undone_decision_waits_for_a_review_again(ledger_world: ledgers.World) -> None:
    """The row is listed anew and does not expire; the history has both."""
    row = made(ledger_world)
    (approved,) = ledger_world.ledger.judge(act(), [judging(row)])
    assert approved is not None

    ledger_world.ledger.judge(act(Move.UNDO), [judging(approved, Move.UNDO, PENDING)])

    (listed,) = ledger_world.ledger.unreviewed(ACME, SPRING, after=None, most=10)
    assert listed.ttl is None
    assert [one.move for one in ledger_world.ledger.judgements(row.job_id)] == [
        Move.APPROVE,
        Move.UNDO,
    ]


def test_a_decision_is_due_in_each_view_until_it_shows_it(ledger_world: ledgers.World) -> None:
    """Objects first, Dagster then, and a view that showed an older decision owes the newer one."""
    row = made(ledger_world)
    ledger = ledger_world.ledger
    assert ledger.unshown(View.OBJECTS, most=10) == []
    (approved,) = ledger.judge(act(), [judging(row)])
    assert approved is not None

    assert ledger.unshown(View.OBJECTS, most=10) == [approved]
    assert ledger.unshown(View.DAGSTER, most=10) == []
    assert not ledger.shown(row, View.OBJECTS)
    assert ledger.shown(approved, View.OBJECTS)
    assert not ledger.shown(approved, View.OBJECTS)
    assert ledger.unshown(View.DAGSTER, most=10) == [approved]

    (undone,) = ledger.judge(act(Move.UNDO), [judging(approved, Move.UNDO, PENDING)])
    assert undone is not None
    assert not ledger.shown(approved, View.DAGSTER)
    assert ledger.unshown(View.OBJECTS, most=10) == [undone]
    assert ledger.shown(undone, View.OBJECTS)
    assert ledger.shown(undone, View.DAGSTER)
    assert ledger.unshown(View.OBJECTS, most=10) == ledger.unshown(View.DAGSTER, most=10) == []


def test_acts_are_listed_by_customer_and_time(ledger_world: ledgers.World) -> None:
    """Whoever asks how fast people decide gets one entry for each act, in order."""
    rows = [made(ledger_world, f"job-{number}") for number in range(3)]
    times = (LATER, LATER + MINUTE, LATER + 2 * MINUTE)
    for row, at in zip(rows, times, strict=True):
        one = act(at=at, sampled=(row.job_id,), code=Code.QUALITY)
        ledger_world.ledger.judge(one, [judging(row)])

    found = ledger_world.ledger.acts(ACME, since=times[1])

    assert [(one.at, one.sampled, one.code) for one in found] == [
        (times[1], (rows[1].job_id,), Code.QUALITY),
        (times[2], (rows[2].job_id,), Code.QUALITY),
    ]
    assert ledger_world.ledger.acts("bolt", since=NOON) == []


def test_customers_are_told_in_the_same_transaction(webhook_world: webhooks.World) -> None:
    """An approval is told with its number behind that of the job's end; an escalation is not."""
    world = webhook_world.ledger
    approved, rejected, escalated = (made(world, key) for key in ("a", "b", "c"))
    _tell(world, [judging(approved)])
    _tell(world, [judging(rejected, Move.REJECT, HumanReview.REJECTED, code=Code.QUALITY)])
    _tell(world, [judging(escalated, Move.ESCALATE, PENDING)])

    told = {
        event.type: event
        for event in webhook_world.store.pending(most=100)
        if event.type is not EventType.JOB_SUCCEEDED
    }

    assert set(told) == {EventType.ASSET_APPROVED, EventType.ASSET_REJECTED}
    event = told[EventType.ASSET_REJECTED]
    assert (event.job_id, event.campaign, event.facts) == (
        rejected.job_id,
        SPRING,
        {"code": "R-QUALITY"},
    )
    assert event.sequence > 2 * rejected.epoch + 1


def _tell(world: ledgers.World, judgings: Sequence[Judging]) -> None:
    assert None not in world.ledger.judge(act(), judgings)
