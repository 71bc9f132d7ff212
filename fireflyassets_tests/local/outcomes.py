"""A demo that went as promised, for tests that then let one thing go wrong."""

import hashlib
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from fireflyassets.core import ids
from fireflyassets.core.request import RawRequest
from fireflyassets.local.books import Books
from fireflyassets.local.customer import Job
from fireflyassets.local.figures import Call
from fireflyassets.local.outcome import Outcome
from fireflyassets.local.pictures import Rendition
from fireflyassets.local.sample import CUSTOMER, split

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ASPECTS = ("1920x1080", "1080x1080")
REQUESTS = [RawRequest(f"k{n}", "prompt", "en-GB", "headline", ASPECTS) for n in range(2)]
JOBS = [ids.job_id(CUSTOMER, request.key) for request in REQUESTS]


def job(job_id: str, *, status: str = "succeeded", cost: str | None = "2.5") -> Job:
    return Job.model_validate(
        {"jobId": job_id, "status": status, "costEstimate": "2.5", "costActual": cost}
    )


def calls(first: int = 0) -> tuple[Call, ...]:
    """Return what two jobs need: a generate and two composites each."""
    kinds = ["generate", "composite", "composite"] * 2
    return tuple(
        Call(
            call_id=f"call-{first + n}",
            at=NOON + timedelta(seconds=n),
            kind=kind,
            status=202,
            accepted=True,
            operations=Decimal("0.5") if kind == "generate" else Decimal(1),
            polls=2,
        )
        for n, kind in enumerate(kinds)
    )


def rendition(job_id: str, aspect: str) -> Rendition:
    width, height = ids.parse_aspect(aspect)
    name = f"{job_id}-{aspect}"
    looks = hashlib.sha256(name.encode()).hexdigest()
    return Rendition(job_id, aspect, Path(name), Path(name), width, height, looks)


def as_promised() -> Outcome:
    """Return a demo on an empty state, all of it as promised."""
    books = Books(calls(), 0, "5.0")
    jobs = {job_id: job(job_id) for job_id in JOBS}
    return Outcome(
        sample=split(REQUESTS),
        before={},
        jobs=jobs,
        repeated=jobs,
        renditions=tuple(rendition(each, aspect) for each in JOBS for aspect in ASPECTS),
        books_before=Books((), 0, "0"),
        books=books,
        books_repeated=books,
        dead_messages=0,
        wall=timedelta(seconds=41),
        pss_bytes=900_000_000,
        paced_per_minute=Decimal(20),
    )
