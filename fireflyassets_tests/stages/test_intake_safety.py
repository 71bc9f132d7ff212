"""Intake that is interrupted or raced. Here: nothing is lost, half-written or overwritten."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.core import ids, manifest
from fireflyassets.core.brief import Row
from fireflyassets.core.budget import Block
from fireflyassets.core.errors import ServiceDown
from fireflyassets.core.job import JobRow
from fireflyassets.ports.entries import Duplicate, Recorded, Recording
from fireflyassets.stages.intake import Answer
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    NOON,
    FrontDoor,
    asked,
    front_door,
    stored_manifest,
)


def accept(door: FrontDoor, *rows: Row, partial: bool = False) -> list[Answer]:
    return door.intake.accept(
        rows,
        customer=CUSTOMER,
        campaign=CAMPAIGN,
        partial=partial,
    )


def kinds(answers: Sequence[Answer]) -> list[str]:
    return [type(answer).__name__ for answer in answers]


def woken(door: FrontDoor) -> list[str]:
    bodies = [json.loads(message.body) for message in door.queue.receive(most=100)]
    return [job for body in bodies for job in body["wake"]]


def test_of_many_racing_requests_for_a_key_one_wins_with_its_own_manifest() -> None:
    """Whoever wins, the row's manifest is the winner's text; losers get a conflict."""
    for _ in range(20):
        door = front_door()
        prompts = [f"Picture number {n}" for n in range(8)]
        with ThreadPoolExecutor(8) as callers:
            told = list(callers.map(lambda text: accept(door, asked(prompt=text))[0], prompts))  # noqa: B023 - used up within the turn.

        winners = [
            prompt
            for prompt, answer in zip(prompts, told, strict=True)
            if isinstance(answer, Recorded)
        ]
        row = door.ledger.job(ids.job_id(CUSTOMER, "job-1"))
        assert row is not None
        content = stored_manifest(door, row)
        assert content is not None
        assert [manifest.load(content).prompt] == winners
        assert kinds(told).count("Conflict") == 7


class WatchingLedger(MemoryLedger):
    """A ledger that stops when a row's manifest is not there yet, and may stop after writing."""

    def __init__(self, objects: MemoryObjects, *, dies: bool = False) -> None:
        super().__init__()
        self._objects = objects
        self.dies = dies

    def record(self, rows: Sequence[JobRow], block: Block | None = None) -> list[Recording]:
        assert all(self._objects.exists(manifest.place(row.input_manifest).key) for row in rows)
        told = super().record(rows, block)
        if self.dies:
            raise ConnectionError("The connection broke after the write.")
        return told


def test_a_manifest_is_there_before_its_row() -> None:
    """No wave ever claims a job whose input is missing."""
    door = front_door()
    ledger = WatchingLedger(door.objects)
    intake = replace(door.intake, ledger=ledger)

    told = intake.accept([asked(), asked(key="k2")], customer=CUSTOMER, campaign=CAMPAIGN)

    assert kinds(told) == ["Recorded", "Recorded"]


def test_a_lost_answer_is_mended_by_sending_again() -> None:
    """The write went through and the caller never heard: the repeat gets the same job."""
    door = front_door()
    ledger = WatchingLedger(door.objects, dies=True)
    intake = replace(door.intake, ledger=ledger)
    with pytest.raises(ConnectionError):
        intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)

    ledger.dies = False
    (told,) = intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)

    assert isinstance(told, Duplicate)
    assert len(ledger.outbox) == 1


class DeadQueue(MemoryQueue):
    """A queue that takes nothing."""

    def send(self, bodies: Sequence[str], *, tenant: str | None = None) -> None:
        raise ServiceDown(f"{len(bodies)} messages were not sent.")


def test_a_lost_wake_up_loses_nothing() -> None:
    """The job is durable; dispatch reads the ledger, not the queue."""
    door = front_door()
    queue = DeadQueue(door.clock)
    intake = replace(door.intake, queue=queue)

    (told,) = intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)

    assert isinstance(told, Recorded)
    assert door.ledger.due("acme-main", CUSTOMER, CAMPAIGN, now=NOON, most=10) == [told.row]


class BrokenObjects(MemoryObjects):
    """A store that takes nothing."""

    def put(
        self, key: str, content: bytes, *, media_type: str, tags: Mapping[str, str] | None = None
    ) -> None:
        raise ConnectionError(f"{key} was not written.")


def test_without_its_manifest_no_row_is_written() -> None:
    """A bucket that can't be written to leaves no half-written job."""
    door = front_door()
    intake = replace(door.intake, objects=BrokenObjects())

    with pytest.raises(ConnectionError):
        intake.accept([asked()], customer=CUSTOMER, campaign=CAMPAIGN)
    assert door.ledger.outbox == ()
