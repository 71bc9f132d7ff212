"""The token store in memory. Here: tokens and locks of one process. Not here: asking for tokens."""

from datetime import datetime, timedelta
from threading import Lock
from uuid import uuid4

from fireflyassets.ports.clock import Clock
from fireflyassets.ports.tokens import StoredToken, TokenStore


class MemoryTokens(TokenStore):
    """Tokens shared by the threads of one process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._tokens: dict[str, StoredToken] = {}
        self._locks: dict[str, tuple[str, datetime]] = {}

    def read(self, entry: str) -> StoredToken | None:
        """Return the token, or None where there is none; an expired one counts as none."""
        with self._lock:
            stored = self._tokens.get(entry)
        return stored if stored and stored.expires_at > self._clock.now() else None

    def write(self, entry: str, token: StoredToken) -> None:
        """Keep *token* and free the entry's lock."""
        with self._lock:
            self._tokens[entry] = token
            self._locks.pop(entry, None)

    def drop(self, entry: str, token: str) -> None:
        """Forget *token* if it is still the stored one."""
        with self._lock:
            stored = self._tokens.get(entry)
            if stored and stored.token == token:
                del self._tokens[entry]

    def lock(self, entry: str, *, life: timedelta) -> str | None:
        """Take the right to refresh for *life* and return its name; None while another holds it."""
        now = self._clock.now()
        name = str(uuid4())
        with self._lock:
            held = self._locks.get(entry)
            if held and held[1] > now:
                return None
            self._locks[entry] = (name, now + life)
            return name

    def release(self, entry: str, lock: str) -> None:
        """Give back a right that led to no token, if it is still the one in force."""
        with self._lock:
            held = self._locks.get(entry)
            if held and held[0] == lock:
                del self._locks[entry]
