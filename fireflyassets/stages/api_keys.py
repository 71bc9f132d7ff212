"""API keys as people handle them, and as the API reads them.

In: wishes of an operator or of a tenant's own admin; keys that somebody sent. Out: keys, shown
once; what was done to them, by whom. Spends: nothing.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import api_key
from fireflyassets.core.api_key import MOST_KEYS, USED_EVERY, ApiKey, KeyEntry, KeyState, Scope
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.request import Problem
from fireflyassets.ports.api_keys import ApiKeyStore
from fireflyassets.ports.clock import Clock

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Issued:
    """A new key, and the text that is shown this once and kept by nobody here."""

    key: ApiKey
    text: str = field(repr=False)


class ApiKeys:
    """The use case. *chance* makes so many bytes of it, in hex."""

    def __init__(self, store: ApiKeyStore, clock: Clock, chance: Callable[[int], str]) -> None:
        self.store = store
        self._clock = clock
        self._chance = chance

    def issue(
        self, customer: str, *, name: str, scopes: Collection[Scope], life: timedelta, by: str
    ) -> Issued | Problem:
        """Make a key that serves for *life*."""
        now = self._clock.now()
        if sum(one.serves(now) for one in self.store.keys(customer)) >= MOST_KEYS:
            said = f"There are {MOST_KEYS} keys, which is the most."
            return Problem("", "api-keys", said, "Revoke one that is not needed.")
        made = self._made(customer, name, scopes, life, by)
        self.store.write(KeyEntry(customer, made.key.key_id, "issued", by, now), made=made.key)
        return made

    def rotate(self, customer: str, key_id: str, *, by: str) -> Issued | Problem | None:
        """Make a successor for as long as the key had; the key serves for a day more at most.

        None: there is no such key.
        """
        now = self._clock.now()
        stands = self.store.key(customer, key_id)
        if stands is None:
            return None
        if stands.state(now) is not KeyState.VALID:
            return _ended(stands, now)
        life = stands.expires_at - stands.created_at
        made = self._made(customer, stands.name, stands.scopes, life, by)
        entry = KeyEntry(customer, key_id, "rotated", by, now)
        if not self.store.write(entry, made=made.key, cut=stands.rotated(now)):
            return _ended(stands, now)
        return made

    def revoke(self, customer: str, key_id: str, *, by: str) -> ApiKey | None:
        """End a key at once; to ask again is safe. None: there is no such key."""
        now = self._clock.now()
        stands = self.store.key(customer, key_id)
        if stands is None or stands.cut is KeyState.REVOKED:
            return stands
        cut = stands.revoked(now)
        self.store.write(KeyEntry(customer, key_id, "revoked", by, now), cut=cut)
        return cut

    def read(self, token: str) -> ApiKey | Problem:
        """Return the key that *token* is; no answer tells whether a key id is known.

        Raises:
            StoreUnavailable: Nobody can say now.
        """
        named = api_key.named_in(token)
        key = self.store.key(*named) if named else None
        if key is None or not key.is_of(token):
            return Problem("", "api-key", "The API key is not known.", "Send one that is.")
        now = self._clock.now()
        if not key.serves(now):
            return _ended(key, now)
        self._note_use(key, now)
        return key

    def _note_use(self, key: ApiKey, now: datetime) -> None:
        if key.last_used_at is not None and now - key.last_used_at < USED_EVERY:
            return
        try:
            self.store.used(key, at=now)
        except StoreUnavailable as error:
            _log.warning("The use of API key %s was not noted: %s", key.key_id, error)

    def _made(
        self, customer: str, name: str, scopes: Collection[Scope], life: timedelta, by: str
    ) -> Issued:
        now, key_id = self._clock.now(), self._chance(8)
        text = api_key.written(customer, key_id, self._chance(32))
        digest = api_key.digest_of(text)
        key = ApiKey(customer, key_id, name, frozenset(scopes), digest, now, by, now + life)
        return Issued(key, text)


def _ended(key: ApiKey, now: datetime) -> Problem:
    said = f"The API key {key.key_id} is {key.state(now).value}."
    return Problem("", "api-key", said, "Use its successor, or ask for a new one.")
