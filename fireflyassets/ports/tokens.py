"""The shared store of access tokens as a port: one entry for each credential and scope set.

Belongs here: keeping and sharing. Does not: minting (``adapters/adobe/ims.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class StoredToken:
    """An access token and when it ends."""

    token: str = field(repr=False)
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """How well the cache of one credential does; a good day has one mint."""

    calls: int = 0
    mints: int = 0

    @property
    def hit_ratio(self) -> float:
        """Return the share of calls for which nobody had to ask the token service."""
        return 1.0 if self.calls == 0 else max(0.0, 1 - self.mints / self.calls)


class TokenStore(ABC):
    """Shares tokens over processes, and lets one of them at a time ask for a new one."""

    @abstractmethod
    def read(self, entry: str) -> StoredToken | None:
        """Return the token, or None where there is none; an expired one counts as none."""

    @abstractmethod
    def write(self, entry: str, token: StoredToken) -> None:
        """Keep *token* and free the entry's lock."""

    @abstractmethod
    def drop(self, entry: str, token: str) -> None:
        """Forget *token* if it is still the stored one."""

    @abstractmethod
    def lock(self, entry: str, *, life: timedelta) -> str | None:
        """Take the right to refresh for *life* and return its name; None while another holds it."""

    @abstractmethod
    def release(self, entry: str, lock: str) -> None:
        """Give back a right that led to no token, if it is still the one in force."""
