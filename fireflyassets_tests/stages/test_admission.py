"""Admission: work that would not be made in time is sent back with when to come again."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from fireflyassets.core.brief import Row
from fireflyassets.core.money import Cost
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Duplicate, Ending, Recorded
from fireflyassets.ports.queue import MAX_RECEIVES
from fireflyassets.stages.admission import BACKLOG, DEADLINE, SOONEST, Admission, Overloaded
from fireflyassets.stages.intake import Answer, Intake, Priced, problems_of
from fireflyassets.stages.queue import Drained, drain
from fireflyassets.stages.waiting import FRESH
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    NOON,
    CountedBacklog,
    FixedCatalogue,
    FrontDoor,
    asked,
    config,
    front_door,
    outlook,
)
from fireflyassets_tests.stages.test_queue import body

HOUR = timedelta(hours=1)
IN_AN_HOUR = 190
"""Pictures at 3.2 a minute, with what a run takes to begin and a picture to be made."""


@dataclass(frozen=True)
class Gate:
    """A door with admission before it."""

    door: FrontDoor
    intake: Intake
    backlog: CountedBacklog

    def send(
        self, count: int, prefix: str = "k", *, partial: bool = False, dry_run: bool = False
    ) -> list[Answer]:
        """Send a brief."""
        rows = [asked(n + 2, key=f"{prefix}-{n}") for n in range(count)]
        return self.intake.accept(
            rows,
            customer=CUSTOMER,
            campaign=CAMPAIGN,
            partial=partial,
            dry_run=dry_run,
            wake=False,
        )


def gate(*, most: timedelta = HOUR, deadline: datetime | None = None) -> Gate:
    """Return a gate before an empty ledger, at the documented limits."""
    door = front_door(FixedCatalogue(config(deadline=deadline)))
    backlog = CountedBacklog(door.ledger)
    admission = Admission(outlook(door, backlog=backlog), most)
    return Gate(door, replace(door.intake, admission=admission), backlog)


def turned_away(answers: list[Answer]) -> list[Overloaded]:
    """Return those that were sent back."""
    return [one for one in answers if isinstance(one, Overloaded)]


def test_what_fits_into_the_hours_that_may_wait_is_taken() -> None:
    """To the job: one more is too many, and then none is written."""
    fits, over = gate(), gate()

    assert all(isinstance(one, Recorded) for one in fits.send(IN_AN_HOUR))
    refused = turned_away(over.send(IN_AN_HOUR + 1))

    assert len(refused) == IN_AN_HOUR + 1
    assert over.door.ledger.rows() == []
    (problem,) = problems_of([Row(2, None)] * len(refused), refused)
    assert (problem.rule, problem.row) == (BACKLOG, None)
    assert f"Send the first {IN_AN_HOUR} now" in problem.fix


def test_part_of_a_brief_is_taken_where_that_is_asked() -> None:
    """The first that fit; each of the others says why, with its row."""
    here = gate()

    answers = here.send(IN_AN_HOUR + 9, partial=True)

    assert [isinstance(one, Recorded) for one in answers].count(True) == IN_AN_HOUR
    assert len(turned_away(answers)) == 9
    rows = [asked(n + 2) for n in range(len(answers))]
    assert next(one.row for one in problems_of(rows, answers)) == IN_AN_HOUR + 2


def test_one_after_another_they_do_not_slip_through_between_two_counts() -> None:
    """What was taken since the last count counts, and known jobs pass however full it is."""
    here = gate()
    taken = [here.send(1, f"single{n}")[0] for n in range(IN_AN_HOUR + 5)]

    assert [isinstance(one, Recorded) for one in taken].count(True) == IN_AN_HOUR
    assert here.backlog.looks == 1
    assert isinstance(here.send(1, "single0")[0], Duplicate)


def test_there_is_room_again_once_work_is_done() -> None:
    """Retry-After is when: by then as much is done as was too much."""
    here = gate()
    here.send(IN_AN_HOUR)
    (refused,) = turned_away(here.send(1, "late"))
    assert refused.over.after == SOONEST
    for row in here.door.ledger.rows()[:5]:
        assert here.door.ledger.close(row, _cancelled())

    here.door.clock.jump(FRESH)

    assert isinstance(here.send(1, "late")[0], Recorded)


def test_a_deadline_is_kept_to_even_where_more_may_wait() -> None:
    """Half an hour before it half as much is taken."""
    here = gate(most=24 * HOUR, deadline=NOON + HOUR / 2)

    refused = turned_away(here.send(IN_AN_HOUR))
    some = here.send(IN_AN_HOUR, partial=True)

    assert {one.over.rule for one in refused} == {DEADLINE}
    assert 90 <= [isinstance(one, Recorded) for one in some].count(True) <= 96


def test_after_its_deadline_a_campaign_takes_nothing_new() -> None:
    """And says so without asking to come again."""
    here = gate(deadline=NOON - timedelta(minutes=1))

    (refused,) = turned_away(here.send(1))

    assert refused.over.after is None
    assert "2026-11-30 11:59 UTC; it has passed" in refused.over.sentence
    assert here.backlog.looks == 0


def test_a_dry_run_tells_the_same() -> None:
    """And holds nothing."""
    here = gate()

    answers = here.send(IN_AN_HOUR + 3, partial=True, dry_run=True)

    assert [isinstance(one, Priced) for one in answers].count(True) == IN_AN_HOUR
    assert len(turned_away(answers)) == 3
    assert here.door.ledger.rows() == []


def test_a_message_waits_in_the_queue_until_there_is_likely_room() -> None:
    """Hidden until there is; received for the last time it is a dead letter with the reason."""
    here = gate(most=timedelta(seconds=60))
    queue = here.door.queue
    queue.send([body(idempotencyKey="one")])
    assert isinstance(here.send(5, partial=True)[0], Recorded)

    for receive in range(1, MAX_RECEIVES + 1):
        drained = drain(queue, here.intake, most=10)
        last = receive == MAX_RECEIVES
        assert drained == (Drained(quarantined=1) if last else Drained(waiting=1))
        assert drain(queue, here.intake, most=10).received == 0
        here.door.clock.jump(SOONEST - timedelta(seconds=1))
        assert queue.receive(most=1) == []
        here.door.clock.jump(timedelta(seconds=1))

    assert "Retry-After" in str([letter.reason for letter in queue.dead])


def test_a_message_that_waited_becomes_its_job() -> None:
    """Once there is room."""
    here = gate(most=timedelta(seconds=60))
    here.door.queue.send([body(idempotencyKey="one")])
    here.send(5, partial=True)
    drain(here.door.queue, here.intake, most=10)
    for row in here.door.ledger.rows():
        assert here.door.ledger.close(row, _cancelled())

    here.door.clock.jump(SOONEST)

    assert drain(here.door.queue, here.intake, most=10).recorded == 1


def _cancelled() -> Ending:
    return Ending(Status.CANCELLED, "Cancelled.", (), Cost(), NOON, None)


@pytest.mark.parametrize("count", [1, 5])
def test_without_admission_everything_is_taken(count: int) -> None:
    """An operator's own tools move what they are told to."""
    here = gate(most=timedelta(seconds=1))
    free = replace(here, intake=here.door.intake)

    assert turned_away(here.send(count))
    assert not turned_away(free.send(count))
