"""API keys in memory. Here: keys and entries of one process. Not here: rules."""

from dataclasses import replace
from datetime import datetime
from threading import Lock

from fireflyassets.core.api_key import ApiKey, KeyEntry, KeyState
from fireflyassets.ports.api_keys import ApiKeyStore


class MemoryApiKeys(ApiKeyStore):
    """A dictionary under a lock."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._keys: dict[tuple[str, str], ApiKey] = {}
        self._entries: list[KeyEntry] = []

    def key(self, customer: str, key_id: str) -> ApiKey | None:
        """Return one key."""
        return self._keys.get((customer, key_id))

    def keys(self, customer: str) -> list[ApiKey]:
        """Return a customer's keys by id."""
        with self._lock:
            return [one for at, one in sorted(self._keys.items()) if at[0] == customer]

    def write(
        self, entry: KeyEntry, *, made: ApiKey | None = None, cut: ApiKey | None = None
    ) -> bool:
        """Keep a new key, cut an older one's life short, or both."""
        with self._lock:
            if cut and not self._may_cut(cut):
                return False
            for one in filter(None, (made, cut)):
                self._keys[one.customer, one.key_id] = one
            self._entries.append(entry)
            return True

    def _may_cut(self, cut: ApiKey) -> bool:
        stands = self.key(cut.customer, cut.key_id)
        revokes = cut.cut is KeyState.REVOKED
        return stands is not None and (
            stands.cut is None or (revokes and stands.cut is not KeyState.REVOKED)
        )

    def used(self, key: ApiKey, *, at: datetime) -> None:
        """Note when a key was used."""
        with self._lock:
            if stands := self.key(key.customer, key.key_id):
                self._keys[key.customer, key.key_id] = replace(stands, last_used_at=at)

    def entries(self, customer: str) -> list[KeyEntry]:
        """Return what was done to a customer's keys."""
        with self._lock:
            return [one for one in self._entries if one.customer == customer]
