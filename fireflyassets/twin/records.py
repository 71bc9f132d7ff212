"""Jobs and calls as lines of the journal, and back.

Belongs here: the mapping, and nothing that decides. Signed URLs are written without their query:
a record read back still shows where an output went, not how to write there.
Does not belong here: files (`journal.py`).
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import cast

from fireflyassets.twin.bills import CallRow
from fireflyassets.twin.effects import Effects
from fireflyassets.twin.endpoints import BY_NAME
from fireflyassets.twin.fault_language import EFFECTS
from fireflyassets.twin.jobs import Job, Output
from fireflyassets.twin.recipes import recipe_from

Row = dict[str, object]


def call_from(row: Row) -> CallRow:
    """Return the call of a journal line."""
    return CallRow(
        id=str(row["id"]),
        at=datetime.fromisoformat(str(row["at"])),
        family=str(row["family"]),
        endpoint=str(row["endpoint"]),
        body_sha256=str(row["body_sha256"]),
        organisation=cast("str | None", row["organisation"]),
        client=cast("str | None", row["client"]),
        status=cast("int | None", row["status"]),
        accepted=bool(row["accepted"]),
        billed=bool(row["billed"]),
        counted=bool(row["counted"]),
        operations=Decimal(str(row["operations"])),
        outputs=cast("int", row["outputs"]),
        rate=cast("str | None", row["rate"]),
        job_id=cast("str | None", row["job_id"]),
        prompt_sha256=cast("str | None", row["prompt_sha256"]),
        faults=cast("list[str]", row["faults"]),
    )


def job_row(job: Job) -> Row:
    """Return the journal line of *job*."""
    return {
        "id": job.id,
        "name": job.name,
        "call_id": job.call_id,
        "organisation": job.organisation,
        "endpoint": job.endpoint.name,
        "accepted_at": job.accepted_at.isoformat(),
        "ends_at": _text(job.ends_at),
        "effects": EFFECTS.dump_python(list(job.effects.struck), mode="json"),
        "word": job.word,
        "error_code": job.error_code,
        "message": job.message,
        "cancel_requested_at": _text(job.cancel_requested_at),
        "outputs": [_output_row(output) for output in job.outputs],
        "answer": job.answer,
    }


def job_from(row: Row) -> Job:
    """Return the job of a journal line."""
    return Job(
        id=str(row["id"]),
        name=str(row["name"]),
        call_id=str(row["call_id"]),
        organisation=str(row["organisation"]),
        endpoint=BY_NAME[str(row["endpoint"])],
        accepted_at=datetime.fromisoformat(str(row["accepted_at"])),
        ends_at=_instant(row["ends_at"]),
        effects=Effects(tuple(EFFECTS.validate_python(row["effects"]))),
        word=cast("str | None", row["word"]),
        error_code=cast("str | None", row["error_code"]),
        message=cast("str | None", row["message"]),
        cancel_requested_at=_instant(row["cancel_requested_at"]),
        outputs=[_output_from(output) for output in cast("list[Row]", row["outputs"])],
        answer=cast("Row", row["answer"]),
    )


def _output_row(output: Output) -> Row:
    return {
        "id": output.id,
        "media_type": output.media_type,
        "seed": output.seed,
        "recipe": None if output.recipe is None else output.recipe.as_json(),
        "lifetime": None if output.lifetime is None else output.lifetime.total_seconds(),
        "destination": None if output.destination is None else _without_query(output.destination),
        "extra": output.extra,
    }


def _output_from(row: Row) -> Output:
    recipe = cast("Row | None", row["recipe"])
    seconds = cast("float | None", row["lifetime"])
    return Output(
        id=str(row["id"]),
        media_type=str(row["media_type"]),
        seed=cast("int | None", row["seed"]),
        recipe=None if recipe is None else recipe_from(recipe),
        lifetime=None if seconds is None else timedelta(seconds=seconds),
        destination=cast("Row | None", row["destination"]),
        extra=cast("Row", row["extra"]),
    )


def _without_query(destination: Row) -> Row:
    url = destination.get("url")
    return destination if not isinstance(url, str) else {**destination, "url": url.split("?")[0]}


def _text(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()


def _instant(value: object) -> datetime | None:
    return None if value is None else datetime.fromisoformat(str(value))
