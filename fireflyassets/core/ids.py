"""Identities: how jobs, waves, attempts, objects and partitions are named, and what is legal.

Belongs here: every rule for a name that is stored or sent. Does not: who hands the parts in.
"""

import re
from datetime import datetime
from typing import Final
from uuid import UUID, uuid5

NAMESPACE: Final = UUID("6f1f3b52-5d0e-4b53-9a57-0a1c6b6f8f5e")
"""Root of all job ids. Changing it makes every known idempotency key a new job: never."""

KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
ASPECT: Final = re.compile(r"[1-9][0-9]{0,4}x[1-9][0-9]{0,4}")
DIGEST: Final = re.compile(r"[0-9a-f]{64}")
INBOX: Final = "inbox/"
"""Where messages lie that are too large for the job queue."""
LETTERS: Final = "dead-letters/"
"""Where dead letters lie that no job answers for."""
REFERENCE: Final = re.compile(
    r"(?P<sha256>[0-9a-f]{64})-(?P<width>[1-9][0-9]{0,4})x(?P<height>[1-9][0-9]{0,4})"
    r"-(?P<bytes>[1-9][0-9]{0,8})\.(?P<suffix>jpg|png|webp)"
)
"""What a picture that a customer sent is called: all that is known of it without reading it."""
STEP: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


def job_id(tenant: str, key: str) -> str:
    """Return the job id that *tenant*'s idempotency *key* stands for, always the same one."""
    return str(uuid5(uuid5(NAMESPACE, tenant), key))


def wave_id(formed_at: datetime, chance: str) -> str:
    """Return an id that sorts by time; *chance* (hex) keeps two of one second apart."""
    return f"w-{formed_at:%Y%m%d-%H%M%S}-{chance}"


def attempt_key(job: str, step: str, generation: int, n: int) -> str:
    """Return the append-only key of the *n*-th send of a step."""
    return f"{job}#{step}#{generation}#{n}"


def partitions_name(customer: str, campaign: str) -> str:
    """Return the name of a campaign's dynamic partitions; slugs hold no ``_``, so it is unique."""
    return f"jobs_{customer}_{campaign}"


def parse_aspect(aspect: str) -> tuple[int, int]:
    """Return (width, height) in pixels of an aspect such as ``1080x1920``."""
    width, height = aspect.split("x")
    return int(width), int(height)


def temporary_key(job: str, step: str, generation: int, n: int, name: str) -> str:
    """Return the attempt-unique key that Adobe writes to; a one-day rule expires it."""
    return f"_tmp/{job}/{step}/{generation}-{n}/{name}"


def original_key(
    customer: str, campaign: str, job: str, step: str, digest: str, media_type: str
) -> str:
    """Return the key under which an untouched original is kept."""
    return f"originals/{customer}/{campaign}/{job}/{step}-{digest[:16]}.{suffix(media_type)}"


def plain_key(original: str, media_type: str) -> str:
    """Return the key of an original's copy as vendors take it; its name follows the original's."""
    return f"{original.rsplit('.', 1)[0]}-plain.{suffix(media_type)}"


def suffix(media_type: str) -> str:
    """Return the ending of a file's name that agrees with its bytes."""
    known = {"image/png": "png", "image/webp": "webp", "application/json": "json"}
    return known.get(media_type, "jpg")


def media_type(ending: str) -> str:
    """Return the media type of a file whose name ends so."""
    return {"png": "image/png", "webp": "image/webp"}.get(ending, "image/jpeg")


def rendition_key(customer: str, campaign: str, job: str, step: str, digest: str) -> str:
    """Return the key under which a checked rendition waits for its delivery, however long."""
    return f"renditions/{customer}/{campaign}/{job}/{step}-{digest[:16]}.jpg"


def manifests_key(customer: str, campaign: str, digest: str) -> str:
    """Return the key of the full input of jobs; *digest* is the sha256 of the object's bytes.

    By content, since manifests are written before their rows are: of two different requests that
    race for one idempotency key, the loser must not overwrite the winner's input.
    """
    return f"manifests/{customer}/{campaign}/{digest[:32]}.jsonl"


def inbox_key(customer: str, digest: str) -> str:
    """Return the key of a message's body, which its sha256 *digest* decides."""
    return f"{INBOX}{customer}/{digest}.json"


def letter_key(digest: str) -> str:
    """Return the key of a dead letter, by the sha256 of its body."""
    return f"{LETTERS}{digest}.json"


def snapshot_key(customer: str, campaign: str, job: str) -> str:
    """Return the key of what is known of a job that ended by a fault."""
    return f"review/{customer}/{campaign}/{job}/snapshot.json"


def replay_key(at: datetime, name: str) -> str:
    """Return the key of the record of a replay."""
    return f"replays/{at:%Y%m%d-%H%M%S}-{name}.json"


def probe_key(credential: str, failure: str) -> str:
    """Return the key under which stands which job was the last to go first."""
    return f"replays/probes/{credential}/{failure}"


def planned_key(customer: str, digest: str) -> str:
    """Return the key of a brief while a plan of it lasts; the one-day rule expires it."""
    return f"_tmp/plans/{customer}/{digest}"


def plans_of(customer: str, campaign: str) -> str:
    """Return what the keys of a campaign's released plans begin with, the oldest first."""
    return f"plans/{customer}/{campaign}/"


def plan_key(customer: str, campaign: str, made_at: datetime, name: str) -> str:
    """Return the key of what a released plan said."""
    return f"{plans_of(customer, campaign)}{made_at:%Y%m%d-%H%M%S}-{name}.json"


def reference_key(customer: str, reference: str) -> str:
    """Return the key of a picture that a customer sent, by the name that they were told."""
    return f"references/{customer}/{reference}"


def delivery_key(customer: str, campaign: str, job: str, aspect: str, filename: str) -> str:
    """Return the final key of a rendition."""
    return f"{delivery_folder(customer, campaign, job)}/{aspect}/{filename}"


def delivery_folder(customer: str, campaign: str, job: str) -> str:
    """Return what the final keys of a job's renditions have in common."""
    return f"{customer}/{campaign}/{job}"


def rejected_key(delivery: str) -> str:
    """Return where a rendition lies that was rejected or recalled."""
    return f"rejected/{delivery}"


def sidecar_key(delivery: str) -> str:
    """Return the key of what is told of a file, beside it."""
    return f"{delivery}.json"


def delivered_aspect(key: str) -> str:
    """Return the aspect that a `delivery_key` holds."""
    return key.split("/")[3]


def campaign_key(customer: str, campaign: str, version: str) -> str:
    """Return the key of a campaign's configuration as pinned by jobs and waves."""
    return f"campaigns/{customer}/{campaign}/{version}.json"


def rate_card_key(version: str) -> str:
    """Return the key of a rate card as pinned by the jobs that it prices."""
    return f"rate-cards/{version}.json"


def template_key(digest: str) -> str:
    """Return the content-addressed key of a template document."""
    return f"templates/{digest}.psd"


def actions_key(digest: str) -> str:
    """Return the content-addressed key of a file of recorded actions."""
    return f"actions/{digest}.atn"
