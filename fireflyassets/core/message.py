"""The bodies of the job queue: full requests from producers, and our own wake-ups.

Belongs here: both formats, written and read. Does not: receiving, deleting, deciding.

    {"version": 1, "customer": …, "campaign": …, "idempotencyKey": …, "prompt": …, "locale": …,
     "headline": …, "aspects": […]}
    {"version": 1, "wake": [job ids]}
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from fireflyassets.core import ids
from fireflyassets.core.brief import json_object
from fireflyassets.core.request import Problem, RawRequest, raw_request

VERSION: Final = 1
BODY_LIMIT: Final = 256 * 1024
"""Bytes in UTF-8: the smallest bound that queues have had."""
_IDS_IN_WAKE: Final = 500
"""About 20 kB: far under every bound, with few messages for large briefs."""
_ENVELOPE: Final = frozenset({"version", "customer", "campaign"})


@dataclass(frozen=True, slots=True)
class Wake:
    """A hint that these jobs are in the ledger. Losing it loses nothing."""

    job_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Requested:
    """A producer's request, its envelope believed and its fields not yet."""

    customer: str
    campaign: str
    raw: RawRequest


def wakes(job_ids: Sequence[str]) -> list[str]:
    """Return the bodies of as few wake-ups as hold all *job_ids*."""
    return [
        json.dumps({"version": VERSION, "wake": list(job_ids[start : start + _IDS_IN_WAKE])})
        for start in range(0, len(job_ids), _IDS_IN_WAKE)
    ]


def parse(body: str) -> Wake | Requested | tuple[Problem, ...]:
    """Return what a body says, or why it says nothing."""
    if len(body.encode("utf-8", "surrogatepass")) > BODY_LIMIT:
        return (Problem("", "size", f"The message is over {BODY_LIMIT} bytes.", "Shorten it."),)
    fields = json_object(body)
    if isinstance(fields, Problem):
        return (fields,)
    version = fields.get("version")
    if isinstance(version, bool) or version != VERSION:
        sentence = f"Only messages of version {VERSION} are known."
        return (Problem("version", "version", sentence, f'Send "version": {VERSION}.'),)
    if "wake" in fields:
        return _wake(fields)
    return _requested(fields)


def _wake(fields: Mapping[str, object]) -> Wake | tuple[Problem, ...]:
    named = fields["wake"]
    texts = cast("list[object]", named) if isinstance(named, list) else [None]
    if set(fields) != {"version", "wake"} or not all(isinstance(text, str) for text in texts):
        sentence = "A wake-up holds a version and a list of job ids, nothing else."
        return (Problem("wake", "type", sentence, 'Send {"version": 1, "wake": ["…"]}.'),)
    return Wake(tuple(cast("list[str]", texts)))


def _requested(fields: Mapping[str, object]) -> Requested | tuple[Problem, ...]:
    raw = raw_request({name: value for name, value in fields.items() if name not in _ENVELOPE})
    faults = tuple(_slug_faults(fields))
    if faults or isinstance(raw, tuple):
        return (*faults, *(raw if isinstance(raw, tuple) else ()))
    return Requested(str(fields["customer"]), str(fields["campaign"]), raw)


def _slug_faults(fields: Mapping[str, object]) -> Iterator[Problem]:
    for name in ("customer", "campaign"):
        value = fields.get(name)
        if not isinstance(value, str) or not ids.SLUG.fullmatch(value):
            sentence = f"{name} is missing, or not the name of one."
            yield Problem(name, "slug", sentence, f"Send the {name}'s name: a-z, 0-9 and hyphens.")
