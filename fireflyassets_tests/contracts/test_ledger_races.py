"""What every ledger promises when many ask at once.

Here: threads over one ledger; on DynamoDB's emulator each call is a real request. Not here: what
one caller sees (`test_ledger`, `test_ledger_waves`, `test_ledger_calls`).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

import pytest

from fireflyassets.core.errors import OwnershipLost
from fireflyassets.core.status import Status
from fireflyassets.ports.entries import Duplicate, Recorded, Release
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    MINUTE,
    NOON,
    SPRING,
    WAVE,
    World,
    attempt,
    ending,
    job,
    operation,
    result,
    wave,
)

T = TypeVar("T")


def test_one_of_many_recordings_wins(ledger_world: World) -> None:
    """Twenty callers with one id, each among rows of its own: one is told Recorded."""

    def record(n: int) -> object:
        return ledger_world.ledger.record([job(f"own-{n}"), job("shared")])

    answers = _at_once(20, record)

    own = [answer[0] for answer in answers]
    shared = [answer[1] for answer in answers]
    assert sum(isinstance(answer, Recorded) for answer in shared) == 1
    assert sum(isinstance(answer, Duplicate) for answer in shared) == 19
    assert all(isinstance(answer, Recorded) for answer in own)
    assert len(ledger_world.outbox()) == len(ledger_world.ledger.campaign_jobs(ACME, SPRING)) == 21


def test_one_of_many_claims_wins(ledger_world: World) -> None:
    """Twenty waves that want one job: one gets it, at the next epoch."""
    row = ledger_world.queued()

    claims = _at_once(20, lambda n: ledger_world.ledger.claim(row.job_id, ACME, f"w-{n}", now=NOON))

    (won,) = [claim for claim in claims if claim is not None]
    assert won.epoch == 1
    assert ledger_world.row(won).wave == won.wave_id
    assert ledger_world.events() == [(Status.QUEUED, 1)]


def test_one_of_many_reclaims_wins(ledger_world: World) -> None:
    """Twenty people replay one dead job: it runs once, with one replay counted."""
    ended = ledger_world.ended(Status.DLQ)

    claims = _at_once(
        20, lambda n: ledger_world.ledger.reclaim(ended.job_id, ACME, f"w-{n}", now=NOON)
    )

    assert sum(claim is not None for claim in claims) == 1
    assert ledger_world.row(ended).replays == 1


def test_one_of_many_attempts_begins(ledger_world: World) -> None:
    """Workers that would send the same call: one of them may."""
    claim = ledger_world.running()

    begun = _at_once(20, lambda _: ledger_world.ledger.begin_attempt(attempt(claim)))

    assert begun.count(True) == 1


@pytest.mark.parametrize("runs", [5, 1])
def test_one_of_many_runs_starts_the_wave(ledger_world: World, runs: int) -> None:
    """Five processes of five runs, or of one: one works, four end without a word."""
    ledger_world.ledger.form(wave())
    ledger_world.ledger.formed(WAVE, ["a"])

    started = _at_once(
        5, lambda n: ledger_world.ledger.start(WAVE, f"run-{n % runs}", lease_until=NOON + MINUTE)
    )

    (won,) = [each for each in started if each is not None]
    assert ledger_world.ledger.wave(WAVE) == won


def test_every_launch_has_its_own_number(ledger_world: World) -> None:
    ledger_world.ledger.form(wave())
    ledger_world.ledger.formed(WAVE, ["a"])

    numbers = _at_once(10, lambda _: ledger_world.ledger.launched(WAVE))

    assert sorted(numbers) == list(range(1, 11))


def test_end_and_takeover_exclude_each_other(ledger_world: World) -> None:
    """A worker that ends its job while a sweep takes it over: one of the two happens."""
    for n in range(10):
        claim = ledger_world.running(str(n), wave_id=f"w-{n}")
        moves: list[Callable[[], None]] = [
            lambda claim=claim: ledger_world.ledger.finish(claim, ending()),
            lambda claim=claim: ledger_world.ledger.release(
                claim, Release("run died", crashed=True), now=NOON
            ),
        ]

        happened = _at_once(2, lambda k, moves=moves: _wins(moves[k]))

        assert happened.count(True) == 1
        expected = Status.SUCCEEDED if happened[0] else Status.QUEUED
        assert ledger_world.row(claim).status is expected
        events = [event for event in ledger_world.outbox() if event.job_id == claim.job_id]
        assert [event.status for event in events][1:] == [expected]


def test_bind_and_takeover_exclude_each_other(ledger_world: World) -> None:
    """A result is bound before a takeover or not at all, and its cost with it."""
    for n in range(10):
        claim = ledger_world.running(str(n), wave_id=f"w-{n}")
        moves: list[Callable[[], None]] = [
            lambda claim=claim: ledger_world.ledger.bind(claim, result(claim), [operation(claim)]),
            lambda claim=claim: ledger_world.ledger.release(
                claim, Release("run died", crashed=True), now=NOON
            ),
        ]

        bound, taken = _at_once(2, lambda k, moves=moves: _wins(moves[k]))

        history = ledger_world.ledger.history(claim.job_id)
        assert taken
        assert len(history.steps) == len(history.operations) == int(bound)


def test_bindings_of_one_job_all_arrive(ledger_world: World) -> None:
    """Steps of one job that end at the same moment do not push each other out."""
    claim = ledger_world.running()

    _at_once(
        12,
        lambda n: ledger_world.ledger.bind(
            claim,
            result(claim, f"layout.{n}"),
            [operation(claim, f"urn:{n}", step=f"layout.{n}")],
        ),
    )

    history = ledger_world.ledger.history(claim.job_id)
    assert len(history.steps) == len(history.operations) == 12


def test_three_thousand_jobs_of_a_campaign_are_all_listed(ledger_world: World) -> None:
    """No page of a big campaign is lost."""
    rows = [job(f"{n:04d}", reason="r" * 500) for n in range(3000)]

    answers = _at_once(4, lambda n: ledger_world.ledger.record(rows[n::4]))

    assert sum(isinstance(answer, Recorded) for part in answers for answer in part) == 3000
    listed = ledger_world.ledger.campaign_jobs(ACME, SPRING)
    assert {row.job_id: row for row in listed} == {row.job_id: row for row in rows}
    assert len(listed) == 3000
    assert len(ledger_world.ledger.due("acme-main", ACME, SPRING, now=NOON, most=2999)) == 2999


def _wins(move: Callable[[], None]) -> bool:
    try:
        move()
    except OwnershipLost:
        return False
    return True


def _at_once(callers: int, call: Callable[[int], T]) -> list[T]:
    """Let *callers* threads call at the same moment; answers in their order."""
    barrier = Barrier(callers)

    def together(n: int) -> T:
        barrier.wait()
        return call(n)

    with ThreadPoolExecutor(callers) as pool:
        return list(pool.map(together, range(callers)))
