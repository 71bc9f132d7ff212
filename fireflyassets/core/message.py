"""The bodies of the job queue: full requests from producers, and our own wake-ups.

Belongs here: the formats, written and read. Does not: receiving, deleting, deciding.

    {"version": 1, "customer": …, "campaign": …, "idempotencyKey": …, "prompt": …, "locale": …,
     "headline": …, "aspects": […]}
    {"version": 1, "customer": …, "manifest": sha256 of a request that lies under `ids.inbox_key`}
    {"version": 1, "wake": [job ids]}
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from fireflyassets.core import ids
from fireflyassets.core.brief import json_object
from fireflyassets.core.request import KEY_FIELD, Problem, RawRequest, raw_request, sized

VERSION: Final = 1
BODY_LIMIT: Final = 1024 * 1024
"""Bytes in UTF-8: what queues take at most, and many times the longest legal request."""
_IDS_IN_WAKE: Final = 500
"""About 20 kB: far under every bound, with few messages for large briefs."""
_ENVELOPE: Final = frozenset({"version", "customer", "campaign"})
_ENVELOPES: Final = (
    ("SNS", {"Type", "TopicArn", "Message"}, "Turn on raw message delivery for the subscription."),
    ("EventBridge", {"detail-type", "source", "detail"}, "Let the rule send $.detail alone."),
    ("S3", {"Records"}, "Send a request of a job; no notification of a bucket is one."),
)
"""Service, the fields that only its envelope has, and how to be sent without."""


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


@dataclass(frozen=True, slots=True)
class Pointed:
    """A producer's request that lies in the bucket, since the queue did not take it."""

    customer: str
    digest: str


def request_body(request: Requested) -> str:
    """Return a producer's request as a message."""
    raw = request.raw
    said = {
        "version": VERSION,
        "customer": request.customer,
        "campaign": request.campaign,
        KEY_FIELD: raw.key,
        "prompt": raw.prompt,
        "locale": raw.locale,
        "headline": raw.headline,
        "aspects": list(raw.aspects),
        **({"reference": raw.reference} if raw.reference else {}),
    }
    return json.dumps(said, ensure_ascii=False)


def pointer_body(pointed: Pointed) -> str:
    """Return a message that stands for a request in the bucket."""
    return json.dumps(
        {"version": VERSION, "customer": pointed.customer, "manifest": pointed.digest}
    )


def wakes(job_ids: Sequence[str]) -> list[str]:
    """Return the bodies of as few wake-ups as hold all *job_ids*."""
    return [
        json.dumps({"version": VERSION, "wake": list(job_ids[start : start + _IDS_IN_WAKE])})
        for start in range(0, len(job_ids), _IDS_IN_WAKE)
    ]


def parse(body: str) -> Wake | Requested | Pointed | tuple[Problem, ...]:
    """Return what a body says, or why it says nothing."""
    if len(body.encode("utf-8", "surrogatepass")) > BODY_LIMIT:
        return (Problem("", "size", f"The message is over {sized(BODY_LIMIT)}.", "Shorten it."),)
    fields = json_object(body)
    if isinstance(fields, Problem):
        return (fields,)
    if wrapped := _wrapped(fields):
        return (wrapped,)
    version = fields.get("version")
    if isinstance(version, bool) or version != VERSION:
        sentence = f"Only messages of version {VERSION} are known."
        return (Problem("version", "version", sentence, f'Send "version": {VERSION}.'),)
    if "wake" in fields:
        return _wake(fields)
    return _pointed(fields) if "manifest" in fields else _requested(fields)


def _wrapped(fields: Mapping[str, object]) -> Problem | None:
    """Return the problem of a message that some service has put into an envelope of its own."""
    for service, names, fix in _ENVELOPES:
        if names <= set(fields):
            sentence = f"The message came in an envelope of {service}."
            return Problem("", "envelope", sentence, fix)
    return None


def _pointed(fields: Mapping[str, object]) -> Pointed | tuple[Problem, ...]:
    customer, digest = fields.get("customer"), fields["manifest"]
    named = isinstance(customer, str) and ids.SLUG.fullmatch(customer)
    told = isinstance(digest, str) and ids.DIGEST.fullmatch(digest)
    if not named or not told or set(fields) != {"version", "customer", "manifest"}:
        sentence = "A pointer holds a version, a customer and the sha256 of a stored request."
        fix = 'Send {"version": 1, "customer": "…", "manifest": "64 hex digits"}.'
        return (Problem("manifest", "type", sentence, fix),)
    return Pointed(str(customer), str(digest))


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
