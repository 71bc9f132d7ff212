"""The demo's brief: which rows go through which door, and which jobs they become.

Belongs here: reading the sample and splitting it. Does not: sending it (``customer.py``).
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fireflyassets.core import ids
from fireflyassets.core.brief import ASPECT_SEPARATOR, HEADER, read_csv
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.request import RawRequest

CUSTOMER: Final = "acme"
CAMPAIGN: Final = "spring-launch"
BY_QUEUE: Final = 6
"""Rows that come as raw messages; the others are one CSV to the API."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The brief's requests in the file's order, and which of them go by the queue."""

    all: tuple[RawRequest, ...]
    queued_keys: frozenset[str]

    @property
    def by_api(self) -> tuple[RawRequest, ...]:
        """Return the requests that go to the API."""
        return tuple(each for each in self.all if each.key not in self.queued_keys)

    @property
    def by_queue(self) -> tuple[RawRequest, ...]:
        """Return the requests that go by the queue."""
        return tuple(each for each in self.all if each.key in self.queued_keys)

    def job_ids(self) -> dict[str, RawRequest]:
        """Return job id -> request; the id follows from customer and key."""
        return {ids.job_id(CUSTOMER, request.key): request for request in self.all}

    def csv(self) -> str:
        """Return the API's share as the file that an upstream system would send."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(HEADER)
        for each in self.by_api:
            aspects = ASPECT_SEPARATOR.join(each.aspects)
            writer.writerow((each.key, each.prompt, each.locale, each.headline, aspects))
        return text.getvalue()


def load(project: Path) -> Sample:
    """Return the sample of the project.

    Every fourth row goes by the queue, so that both doors carry every locale.

    Raises:
        UnusableConfiguration: The brief is missing or has a fault.
    """
    path = project / "campaigns" / CUSTOMER / CAMPAIGN / "brief.csv"
    try:
        brief = read_csv(path.read_bytes())
    except OSError as error:
        raise UnusableConfiguration(f"{path} cannot be read ({error.strerror}).") from error
    problems = [*brief.problems, *(problem for row in brief.rows for problem in row.problems)]
    if problems:
        first = problems[0]
        raise UnusableConfiguration(f"{path}, row {first.row}: {first.message} {first.fix}")
    return split([row.raw for row in brief.rows if row.raw is not None])


def split(requests: Sequence[RawRequest]) -> Sample:
    """Return *requests* split by door."""
    step = max(1, len(requests) // BY_QUEUE)
    return Sample(tuple(requests), frozenset(each.key for each in requests[::step][:BY_QUEUE]))
