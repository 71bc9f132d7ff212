"""Carrying accepted jobs out, beside the answers to polls.

Belongs here: the one task per job: make the bytes, wait out the drawn latency, write or keep the
outputs, end the job and settle its bill; cancelling; finishing early on a clean stop.
Does not belong here: what the bytes are (`firefly.py`, `photoshop.py`).
"""

import asyncio
import base64
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from fireflyassets.twin.effects import Effects
from fireflyassets.twin.endpoints import Family
from fireflyassets.twin.failures import JobFailedError
from fireflyassets.twin.fault_language import (
    BadOutput,
    CancelPending,
    EndsAs,
    FewerOutputs,
    PartialFailure,
)
from fireflyassets.twin.firefly_pictures import generated
from fireflyassets.twin.jobs import UNBILLED_WORDS, Job, Output
from fireflyassets.twin.plans import Produce
from fireflyassets.twin.simulator import Simulator
from fireflyassets.twin.spoiling import spoiled, spoils
from fireflyassets.twin.transfer import UnreachableError

log = logging.getLogger(__name__)

_CANCEL_LATENCY = timedelta(seconds=0.5)  # Divided by the speed, as all remote latency.


class Worker:
    """Runs one task per open job."""

    def __init__(self, simulator: Simulator) -> None:
        self._sim = simulator
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._cancels: set[asyncio.Task[None]] = set()
        self._hurry = asyncio.Event()

    def start(self, job: Job, produce: Produce) -> None:
        """Begin to carry *job* out."""
        task = asyncio.create_task(self._carry_out(job, produce))
        self._tasks[job.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(job.id, None))

    def resume(self) -> None:
        """Take up jobs that a restart found open: draw what can be drawn again, fail the rest."""
        for job in list(self._sim.jobs):
            if job.word is not None:
                continue
            if job.outputs and all(output.recipe for output in job.outputs):
                self.start(job, self._redraw(job.outputs))
            else:
                job.ends_at = self._sim.clock.now()
                self._end(job, "failed", *_internal_error(job))
            if job.word is None and job.cancel_requested_at is not None:
                self.cancel(job)

    def cancel(self, job: Job) -> None:
        """Begin to cancel *job*; until it takes hold the job may still end by itself."""
        job.cancel_requested_at = self._sim.clock.now()
        self._sim.keep_job(job)
        task = asyncio.create_task(self._cancel(job))
        self._cancels.add(task)
        task.add_done_callback(self._cancels.discard)

    async def drain(self, patience: timedelta) -> None:
        """Finish open jobs now, without waiting out their latency; give up after *patience*.

        What is finished early still shows as running until its time has come.
        """
        self._hurry.set()
        endless = {job.id for job in self._sim.jobs if job.ends_at is None}
        open_tasks = [task for key, task in self._tasks.items() if key not in endless]
        if open_tasks:
            await asyncio.wait(open_tasks, timeout=patience.total_seconds())
        left = [*self._tasks.values(), *self._cancels]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _redraw(self, outputs: Sequence[Output]) -> Produce:
        async def produce(_: Effects) -> list[bytes]:
            return [
                await self._sim.pool.run(generated, output.recipe)
                for output in outputs
                if output.recipe is not None
            ]

        return produce

    async def _carry_out(self, job: Job, produce: Produce) -> None:
        try:
            contents = await self._made(job, produce)
            await self._wait_for_end(job)
            await self._deliver(job, contents)
        except JobFailedError as failure:
            await self._wait_for_end(job)
            self._end(job, "failed", failure.code, failure.message)
        except Exception:
            # The border of one job: a bug in drawing it must not leave it running for ever.
            log.exception("Job %s broke.", job.id)
            self._end(job, "failed", *_internal_error(job))

    async def _made(self, job: Job, produce: Produce) -> list[bytes]:
        wish = job.effects.find(EndsAs)
        if wish is not None:
            return []
        contents = await self._produced(job, produce)
        how = spoils(job.effects)
        if how is not None:
            contents = [await self._sim.pool.run(spoiled, content, how) for content in contents]
        if how is not None or job.effects.spoils("nothing_written"):
            for output in job.outputs:
                output.recipe = None  # Or a download would draw it as it should have been.
        fewer = job.effects.find(FewerOutputs)
        if fewer is not None:
            self._sim.jobs.set_outputs(job, job.outputs[: fewer.count])
        return contents[: len(job.outputs)]

    async def _produced(self, job: Job, produce: Produce) -> list[bytes]:
        """Return the bytes; in a hurry leave out what a download can draw as well."""
        if not all(output.recipe for output in job.outputs) or job.effects.all_of(BadOutput):
            return list(await produce(job.effects))
        making = asyncio.ensure_future(produce(job.effects))
        hurry = asyncio.ensure_future(self._hurry.wait())
        try:
            await asyncio.wait({making, hurry}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hurry.cancel()
            left_out = not making.done()
            if left_out:
                making.cancel()
        return [] if left_out else list(await making)

    async def _wait_for_end(self, job: Job) -> None:
        while job.ends_at is None:
            await self._sim.clock.sleep(timedelta(hours=1))  # Stuck, until cancelled.
        remaining = (job.ends_at - self._sim.clock.now()).total_seconds()
        if remaining > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), remaining)

    async def _deliver(self, job: Job, contents: Sequence[bytes]) -> None:
        wish = job.effects.find(EndsAs)
        if wish is not None:
            self._end(job, wish.status or "", wish.error_code, wish.message)
            return
        partial = job.effects.find(PartialFailure)
        written = len(contents) if partial is None else partial.written
        if not job.effects.spoils("nothing_written"):
            for output, content in list(zip(job.outputs, contents, strict=False))[:written]:
                await self._write(output, content)
        if partial is None:
            self._end(job, "succeeded")
        else:
            self._end(job, "failed", *_internal_error(job))

    async def _write(self, output: Output, content: bytes) -> None:
        destination = output.destination or {}
        if "url" in destination:
            azure = destination.get("storageType") == "azure"
            try:
                await self._sim.transfer.put(
                    str(destination["url"]), content, output.media_type, azure=azure
                )
            except UnreachableError as error:
                message = f"outputs.destination.url: the output cannot be written: {error}"
                raise JobFailedError("422404", message) from error
        elif "embedded" in destination:
            output.extra["content"] = _embedded(content, str(destination["embedded"]))
        elif output.recipe is not None:
            self._sim.store.cache(output.id, content)
        else:
            self._sim.store.keep(output.id, content)

    async def _cancel(self, job: Job) -> None:
        pending = job.effects.find(CancelPending)
        if pending is None:
            await self._sim.clock.sleep(_CANCEL_LATENCY / self._sim.settings.latency.speed)
        elif pending.seconds is None:
            self._stop(job)
            job.ends_at = None
            return
        else:
            await self._sim.clock.sleep(timedelta(seconds=pending.seconds))
            if pending.then == "succeeded":
                return
        if not job.has_ended(self._sim.clock.now()):
            self._stop(job)
            job.ends_at = self._sim.clock.now()
            self._end(job, "cancelled")

    def _stop(self, job: Job) -> None:
        task = self._tasks.pop(job.id, None)
        if task is not None:
            task.cancel()

    def _end(
        self, job: Job, word: str, error_code: str | None = None, message: str | None = None
    ) -> None:
        job.word, job.error_code, job.message = word, error_code, message
        job.ends_at = _later(job.ends_at, self._sim.clock.now(), hurried=self._hurry.is_set())
        counts = self._sim.settings.bill_failures or word not in UNBILLED_WORDS
        billed = counts and bool(job.outputs)
        self._sim.bills.settle(job.name, outputs=len(job.outputs), billed=billed)
        self._sim.keep_job(job)


def _later(planned: datetime | None, now: datetime, *, hurried: bool) -> datetime:
    if planned is None:
        return now
    return planned if hurried and planned > now else max(planned, now)


def _internal_error(job: Job) -> tuple[str, str]:
    if job.endpoint.family is Family.PHOTOSHOP:
        return "500600", "Internal error."
    return "runtime_error", "Internal error."


def _embedded(content: bytes, form: str) -> object:
    if form == "base64":
        return base64.b64encode(content).decode()
    text = content.decode("utf-8", "replace")
    return json.loads(text) if form == "json" else text
