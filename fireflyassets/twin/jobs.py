"""Job records and what they look like at an instant.

Belongs here: the record, its life from accepted to ended, finding it by id, forgetting it.
Does not belong here: doing the work (`work.py`), or the words of a service's answer.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from uuid import uuid4

from fireflyassets.twin.effects import Effects
from fireflyassets.twin.endpoints import Endpoint, Family
from fireflyassets.twin.recipes import Recipe
from fireflyassets.twin.settings import LatencySetting

PENDING_SHARE = 0.1  # Of a job's time, spent as `pending`; the rest as `running`.
UNBILLED_WORDS = frozenset({"failed", "cancelled", "canceled", "timeout"})
_IDENTIFIER = re.compile(r"[A-Za-z0-9._:-]{1,200}")


@dataclass(kw_only=True)
class Output:
    """One file of a job. `recipe` tells how to draw it again; without one its bytes are kept."""

    id: str
    media_type: str
    seed: int | None = None
    recipe: Recipe | None = None
    lifetime: timedelta | None = None  # Hosted by the twin for so long; None: the usual life.
    destination: dict[str, object] | None = None  # As asked for, when not hosted by the twin.
    extra: dict[str, object] = field(default_factory=dict[str, object])


@dataclass(kw_only=True)
class Job:
    """One accepted call.

    `word` is the status word the job ended with ("" for an answer that lacks it); before it is
    set, and until `ends_at`, the job is shown as pending, running or cancel_pending. `ends_at`
    None: the job never ends by itself.
    """

    id: str
    name: str
    call_id: str
    organisation: str
    endpoint: Endpoint
    accepted_at: datetime
    ends_at: datetime | None
    effects: Effects = field(default_factory=Effects)
    word: str | None = None
    error_code: str | None = None
    message: str | None = None
    cancel_requested_at: datetime | None = None
    outputs: list[Output] = field(default_factory=list[Output])
    answer: dict[str, object] = field(default_factory=dict[str, object])
    answers_given: int = 0

    def status_at(self, now: datetime) -> str:
        """Return the status word a poll sees at *now*."""
        if self.word is not None and self.ends_at is not None and now >= self.ends_at:
            return self.word
        if self.cancel_requested_at is not None:
            return "cancel_pending"
        if self.ends_at is None:
            return "running"
        running_at = self.accepted_at + (self.ends_at - self.accepted_at) * PENDING_SHARE
        return "pending" if now < running_at else "running"

    def has_ended(self, now: datetime) -> bool:
        """Return whether the job is over at *now*."""
        return self.word is not None and self.ends_at is not None and now >= self.ends_at


def draw_latency(latency: LatencySetting, family: Family, *, dice: Random) -> timedelta:
    """Return the remote time of one job: lognormal around the family's median, over speed."""
    photoshop = family is Family.PHOTOSHOP
    median = latency.photoshop_median if photoshop else latency.firefly_median
    spread = math.exp(dice.gauss(0.0, latency.sigma))
    return median * (spread / latency.speed)


def is_identifier(text: str) -> bool:
    """Return whether *text* could be a job id; anything else is a malformed one."""
    return _IDENTIFIER.fullmatch(text) is not None


def job_identity(family: Family) -> tuple[str, str]:
    """Return a new bare id and the name handed out: a URN for Firefly, the bare id for Photoshop.

    Not drawn from the seed: a twin started afresh must never know an id of its predecessor.
    """
    bare = str(uuid4())
    return bare, bare if family is Family.PHOTOSHOP else f"urn:ff:jobs:twin:{bare}"


class Jobs:
    """All records younger than the retention time."""

    def __init__(self, retention: timedelta) -> None:
        self._retention = retention
        self._jobs: dict[str, Job] = {}
        self._by_output: dict[str, Output] = {}

    def add(self, job: Job) -> None:
        """Keep a new record."""
        self._jobs[job.id] = job
        for output in job.outputs:
            self._by_output[output.id] = output

    def set_outputs(self, job: Job, outputs: list[Output]) -> None:
        """Give *job* its outputs and make them findable."""
        job.outputs = outputs
        for output in outputs:
            self._by_output[output.id] = output

    def find(self, name: str, *, photoshop: bool, organisation: str) -> Job | None:
        """Return the record called *name* (URN or bare id), if that organisation has it."""
        job = self._jobs.get(name.rpartition(":")[2])
        if job is None or job.organisation != organisation:
            return None
        return job if (job.endpoint.family is Family.PHOTOSHOP) == photoshop else None

    def output(self, output_id: str) -> Output | None:
        """Return one output of a record that is still kept."""
        return self._by_output.get(output_id)

    def forget_old(self, now: datetime) -> list[Output]:
        """Drop records past retention; return their outputs, whose bytes can go too."""
        gone: list[Output] = []
        # Records are kept in the order of acceptance: only the oldest has to be looked at.
        while (oldest := next(iter(self._jobs.values()), None)) is not None:
            if oldest.accepted_at > now - self._retention:
                break
            del self._jobs[oldest.id]
            gone.extend(oldest.outputs)
        for output in gone:
            self._by_output.pop(output.id, None)
        return gone

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs.values())

    def __len__(self) -> int:
        return len(self._jobs)
