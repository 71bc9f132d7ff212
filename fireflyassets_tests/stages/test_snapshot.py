"""Snapshots of jobs that ended by a fault. Here: what they hold, and that none is lost."""

import json
from collections.abc import Sequence
from dataclasses import replace

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core import ids
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.failure import FailureClass, Family, Fault
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.stages.retries import Retries, Spent
from fireflyassets.stages.snapshot import write_owed
from fireflyassets_tests.floor import Floor, floor
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER

WORDS = "Prompt 'a bottle 0' refused; see https://vendor/x?sig=SECRET"
UNSAFE = NotAccepted(Fault(Family.FIREFLY, 422, "prompt_unsafe", message=WORDS))


def retries(here: Floor) -> Retries:
    """Return what tells how much jobs have tried."""
    return Retries(here.shop.pins, 3)


async def refused(here: Floor) -> str:
    """Return a job whose picture was refused as unsafe."""
    (job,) = here.order(1)
    here.images.vendor.script.append(UNSAFE)
    await here.work([job])
    return job


def test_a_terminal_fault_leaves_one_file_and_a_word() -> None:
    """Manifest, steps and errors; no text of the request, no address, none of a vendor's words."""

    async def scenario() -> None:
        here = floor()
        job = await refused(here)
        told: list[tuple[JobRow, str]] = []

        def tell(row: JobRow, key: str, _: Sequence[Spent]) -> None:
            told.append((row, key))

        assert write_owed(here.ledger, here.objects, retries(here), most=10, tell=tell) == 1
        assert write_owed(here.ledger, here.objects, retries(here), most=10, tell=tell) == 0

        key = f"review/{CUSTOMER}/{CAMPAIGN}/{job}/snapshot.json"
        assert [(row.job_id, at) for row, at in told] == [(job, key)]
        content = here.objects.get(key) or b""
        said = json.loads(content)
        assert (said["status"], said["failureClass"]) == ("review", "unsafe-content")
        assert said["manifest"]["key"] == here.row(job).input_manifest
        assert [one["error"] for one in said["sends"]] == ["firefly 422 prompt_unsafe"]
        assert said["retries"]["art"] == {"spent": 1, "limit": 5}
        assert "Say it in other words" in said["guidance"]
        for secret in (b"SECRET", b"a bottle", b"https://", b"Spring 0"):
            assert secret not in content

    run(scenario)


class NoBucket(MemoryObjects):
    """A bucket that is not there for a while."""

    gone = True

    def put(self, key: str, content: bytes, **said: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self.gone:
            raise StoreUnavailable("S3", "NoSuchBucket")
        super().put(key, content, **said)  # pyright: ignore[reportArgumentType]


def test_a_missing_bucket_delays_a_snapshot_and_loses_none() -> None:
    """Nobody is told of a file that is not there; once it can be written, it is."""

    async def scenario() -> None:
        here = floor()
        job = await refused(here)
        bucket = NoBucket()
        told: list[str] = []

        def tell(row: JobRow, _: str, __: Sequence[Spent]) -> None:
            told.append(row.job_id)

        assert write_owed(here.ledger, bucket, retries(here), most=10, tell=tell) == 0
        assert told == []
        bucket.gone = False
        assert write_owed(here.ledger, bucket, retries(here), most=10, tell=tell) == 1
        assert told == [job]
        assert bucket.exists(ids.snapshot_key(CUSTOMER, CAMPAIGN, job))

    run(scenario)


def test_a_fault_while_the_snapshot_is_written_owes_its_own() -> None:
    """What ended again in between is not taken for written."""

    async def scenario() -> None:
        here = floor()
        job = await refused(here)
        (owed,) = here.ledger.owed(most=1)
        (ended,) = [here.row(job)]
        assert (ended.status, ended.failure) == (Status.REVIEW, FailureClass.UNSAFE_CONTENT)

        assert not here.ledger.snapped(replace(owed, since=owed.since.replace(year=2020)))

        assert here.ledger.owed(most=1) == [owed]

    run(scenario)
