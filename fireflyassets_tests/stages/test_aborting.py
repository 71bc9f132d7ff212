"""Replays that are aborted: what is taken back, what goes on, and that it is told."""

import json

import pytest

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.stages.aborting import Aborted
from fireflyassets.stages.replay import Choice
from fireflyassets_tests.contracts.ledgers import ACME
from fireflyassets_tests.stages.test_replay import HOUR, Morgue


def replayed(here: Morgue, count: int) -> tuple[list[JobRow], str]:
    """Bring jobs into ``dlq`` and replay them over an hour; return them and the record."""
    rows = [here.dead(f"job-{n}") for n in range(count)]
    assert len(here.go(here.replays.plan(Choice()), spread=HOUR)) == count
    (record,) = here.objects.keys("replays/2")
    return rows, record


def aborted(here: Morgue, record: str) -> Aborted:
    """Abort a replay."""
    return here.replays.abort().of(record, by="bea", why="too early")


def test_what_waits_goes_back_and_what_has_begun_goes_on() -> None:
    """The one that a wave has claimed is named; who aborted and why is on record."""
    here = Morgue()
    rows, record = replayed(here, 3)
    claim = here.world.ledger.claim(rows[0].job_id, ACME, "w-2", now=here.clock.now())
    assert claim is not None

    told = aborted(here, record)

    assert set(told.back) == {row.job_id for row in rows[1:]}
    assert told.gone_on == (rows[0].job_id,)
    assert rows[0].job_id in told.sentence()
    assert [here.row(row).status for row in rows] == [Status.RUNNING, Status.DLQ, Status.DLQ]
    assert {here.row(row).replays for row in rows[1:]} == {0}
    (said,) = json.loads(here.objects.get(record) or b"")["aborted"]
    assert (said["by"], said["why"], set(said["back"])) == ("bea", "too early", set(told.back))


def test_an_abort_takes_each_job_back_once() -> None:
    """Nothing is left for the second, and what was replayed anew is not this record's."""
    here = Morgue()
    rows, record = replayed(here, 2)
    assert len(aborted(here, record).back) == 2
    assert aborted(here, record) == Aborted((), ())
    here.clock.jump(HOUR)
    assert len(here.go(here.replays.plan(Choice()))) == 2

    assert aborted(here, record).back == ()

    assert {here.row(row).status for row in rows} == {Status.QUEUED}


def test_a_replay_that_was_killed_can_be_aborted() -> None:
    """It could not write which it moved: what it planned is looked at, job by job."""
    here = Morgue()
    rows, record = replayed(here, 2)
    said = json.loads(here.objects.get(record) or b"") | {"moved": None}
    here.objects.put(record, json.dumps(said).encode(), media_type="application/json")

    assert len(aborted(here, record).back) == 2
    assert {here.row(row).status for row in rows} == {Status.DLQ}


@pytest.mark.parametrize("record", ["replays/none.json", "manifests/x", ""])
def test_what_is_no_record_is_refused(record: str) -> None:
    with pytest.raises(UnusableArgument):
        aborted(Morgue(), record)


def test_an_abort_beside_the_replay_stops_it() -> None:
    """What it moves in that very moment goes back too, and no later job is moved."""
    here = Morgue()
    rows = [here.dead(f"job-{n}") for n in range(4)]
    moves = here.replays.go(here.replays.plan(Choice()), by="ann", why="a try")
    next(moves.steps)

    assert len(aborted(here, moves.record).back) == 1

    assert list(moves) == []
    assert {here.row(row).status for row in rows} == {Status.DLQ}
    assert {here.row(row).replays for row in rows} == {0}
    told = json.loads(here.objects.get(moves.record) or b"")
    assert [one["by"] for one in told["aborted"]] == ["bea", "the replay itself"]
    assert len(told["moved"]) == 2


class Interrupting(MemoryObjects):
    """A bucket that is asked for a record just as somebody presses Ctrl-C."""

    armed = True

    def get(self, key: str, *, part: tuple[int, int] | None = None) -> bytes | None:
        """Interrupt the first time."""
        if self.armed:
            self.armed = False
            raise KeyboardInterrupt
        return super().get(key, part=part)


def test_an_interrupt_while_the_first_job_moves_can_be_taken_back() -> None:
    """Whether it was moved nobody knows by then: its row is looked at."""
    here = Morgue(objects=Interrupting())
    rows = [here.dead(f"job-{n}") for n in range(2)]
    moves = here.replays.go(here.replays.plan(Choice()), by="ann", why="a try")
    with pytest.raises(KeyboardInterrupt):
        next(moves.steps)
    moves.close()

    assert len(aborted(here, moves.record).back) == 1
    assert {here.row(row).status for row in rows} == {Status.DLQ}
