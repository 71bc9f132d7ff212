"""API keys of tenants: what one is, how it is written and read, and how long it serves.

Belongs here: keys as values and every rule of them, scopes. Does not: who may make one
(``stages/api_keys.py``), chance and time, which are handed in.

A key is told by its prefix, wherever it turns up: in a log, a chat, somebody's repository. What is
kept is a hash; since the secret is 256 bits of chance, a fast one does.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

PREFIX: Final = "ffa_"
MOST_KEYS: Final = 50
"""Of one customer, at a time."""
LONGEST: Final = timedelta(days=365)
USUAL: Final = timedelta(days=90)
OVERLAP: Final = timedelta(hours=24)
"""How long a rotated key still serves beside its successor."""
USED_EVERY: Final = timedelta(hours=1)
"""How exactly the last use is known: that costs one write an hour, whatever is asked."""
KEPT: Final = timedelta(days=90)
"""How long a key can be looked at behind its end."""
_TEXT: Final = re.compile(
    rf"{PREFIX}(?P<customer>[a-z0-9-]{{1,64}})_(?P<key_id>[0-9a-f]{{16}})_[0-9a-f]{{64}}"
)


class Scope(StrEnum):
    """What a token or a key allows within its tenant."""

    WRITE = "jobs:write"
    READ = "jobs:read"
    REVIEW = "review"
    OPS = "ops"


class KeyState(StrEnum):
    """How a key stands."""

    VALID = "valid"
    ROTATED = "rotated"
    """It has a successor, and serves until its end, at most a day."""
    REVOKED = "revoked"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept: all but the secret."""

    customer: str
    key_id: str
    name: str
    """What its holder is called by people."""
    scopes: frozenset[Scope]
    digest: str = field(repr=False)
    created_at: datetime
    created_by: str
    expires_at: datetime
    cut: KeyState | None = None
    """Why it ends before its time: ``rotated`` or ``revoked``."""
    last_used_at: datetime | None = None

    def state(self, now: datetime) -> KeyState:
        """Return how it stands."""
        if self.cut is KeyState.REVOKED:
            return KeyState.REVOKED
        if now >= self.expires_at:
            return KeyState.EXPIRED
        return self.cut or KeyState.VALID

    def serves(self, now: datetime) -> bool:
        """Say whether it lets anybody in."""
        return self.state(now) in {KeyState.VALID, KeyState.ROTATED}

    def is_of(self, token: str) -> bool:
        """Say whether *token* is this key, in a time that tells nothing of how near it is."""
        return hmac.compare_digest(self.digest, digest_of(token))

    def rotated(self, now: datetime) -> "ApiKey":
        """Return it as it serves beside its successor: no longer than it would have."""
        return replace(self, cut=KeyState.ROTATED, expires_at=min(self.expires_at, now + OVERLAP))

    def revoked(self, now: datetime) -> "ApiKey":
        """Return it as it serves nobody any more."""
        return replace(self, cut=KeyState.REVOKED, expires_at=min(self.expires_at, now))


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """What somebody did to a key, kept for good."""

    customer: str
    key_id: str
    did: str
    """``issued``, ``rotated`` or ``revoked``."""
    by: str
    at: datetime


def written(customer: str, key_id: str, secret: str) -> str:
    """Return a key as its holder sends it; *secret* is 32 bytes of chance in hex."""
    return f"{PREFIX}{customer}_{key_id}_{secret}"


def named_in(token: str) -> tuple[str, str] | None:
    """Return the customer and key id that *token* names, which nothing has proved; None: no key."""
    found = _TEXT.fullmatch(token)
    return (found["customer"], found["key_id"]) if found else None


def digest_of(token: str) -> str:
    """Return what is kept of a key: a hash of all of it, so that no part can be exchanged."""
    return hashlib.sha256(token.encode()).hexdigest()
