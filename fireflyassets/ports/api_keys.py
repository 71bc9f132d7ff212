"""API keys as a port. Here: what is kept of them, and who did what. Not here: rules, secrets."""

from abc import ABC, abstractmethod
from datetime import datetime

from fireflyassets.core.api_key import ApiKey, KeyEntry


class ApiKeyStore(ABC):
    """Keys by customer. Every racing write is conditional."""

    @abstractmethod
    def key(self, customer: str, key_id: str) -> ApiKey | None:
        """Return one key, read consistently: a revoked one serves nobody a moment later."""

    @abstractmethod
    def keys(self, customer: str) -> list[ApiKey]:
        """Return a customer's keys by id, read consistently, with those that ended lately."""

    @abstractmethod
    def write(
        self, entry: KeyEntry, *, made: ApiKey | None = None, cut: ApiKey | None = None
    ) -> bool:
        """Keep a new key, cut an older one's life short, or both, with the entry: all or nothing.

        False, and nothing is written, if the older one is cut already otherwise, or is gone.
        """

    @abstractmethod
    def used(self, key: ApiKey, *, at: datetime) -> None:
        """Note when a key was used; of one that is gone nothing."""

    @abstractmethod
    def entries(self, customer: str) -> list[KeyEntry]:
        """Return what was done to a customer's keys, in the order of time."""
