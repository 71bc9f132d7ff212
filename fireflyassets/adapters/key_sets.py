"""The issuer's keys over HTTP or from a file, remembered.

Belongs here: discovery (OpenID Connect Discovery 1.0), bounds of size, time and number of asks.
Does not: signatures and claims (``api/tokens.py``).
"""

import json
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import Final, cast
from urllib.parse import unquote, urlsplit

import httpx

from fireflyassets.core.errors import ServiceDown
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.keys import SigningKeys

_log: Final = logging.getLogger(__name__)

FRESH: Final = timedelta(hours=1)
"""How long a key that was withdrawn still counts, at most."""
PATIENCE: Final = timedelta(seconds=30)
"""Between two asks: tokens with invented key ids must not make us a flood on the issuer."""
DEADLINE: Final = timedelta(seconds=5)
"""How long anybody waits for the issuer, whatever it takes."""
_MOST_WAITING: Final = 8
"""Requests that wait for it at a time: tokens with invented key ids must not fill the server."""
_MOST_BYTES: Final = 1_000_000
DISCOVERY: Final = "/.well-known/openid-configuration"
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class FetchedKeys(SigningKeys):
    """Keys of one issuer. Safe to share by threads; one ask at a time, and few wait for it.

    Who names a key that is known and fresh waits for nobody's ask. Where the issuer does not
    answer, the last keys go on: a token is checked by its own expiry.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        issuer: str,
        url: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._clock = clock
        self._issuer = issuer
        self._url = url
        self._client = httpx.Client(timeout=DEADLINE.total_seconds(), transport=transport)
        self._lock = Lock()
        self._known: Mapping[str, object] | None = None
        self._fetched_at: datetime | None = None
        self._asked_at: datetime | None = None
        self._flight: Event | None = None
        self._waiting = BoundedSemaphore(_MOST_WAITING)

    def key_set(self, *, having: str | None) -> Mapping[str, object]:
        """Return the keys, asked for anew where they are old or lack *having*."""
        with self._lock:
            known, flight = self._known, self._flight
            if not self._wants_more(having):
                return known or {}
            if flight is None and self._may_ask():
                flight = self._flight = self._depart()
        if flight is not None and not self._landed(flight) and not _has(known, having):
            raise ServiceDown("The issuer of the bearer tokens is slow to answer.")
        with self._lock:
            if self._known is None:
                raise ServiceDown("The issuer of the bearer tokens does not answer.")
            return self._known

    def _wants_more(self, having: str | None) -> bool:
        if self._known is None or self._fetched_at is None:
            return True
        old = self._clock.now() - self._fetched_at > FRESH
        return old or (having is not None and not _has(self._known, having))

    def _may_ask(self) -> bool:
        return self._asked_at is None or self._clock.now() - self._asked_at >= PATIENCE

    def _depart(self) -> Event:
        self._asked_at = self._clock.now()
        landed = Event()
        Thread(target=self._ask, args=(landed, self._asked_at), daemon=True).start()
        return landed

    def _landed(self, flight: Event) -> bool:
        """Wait for an answer, with few others, and say whether it came in time."""
        if not self._waiting.acquire(blocking=False):
            return False
        try:
            return flight.wait(DEADLINE.total_seconds())
        finally:
            self._waiting.release()

    def _ask(self, landed: Event, now: datetime) -> None:
        try:
            known = self._read(self._url or self._discovered())
            if _ids(known):
                with self._lock:
                    self._known, self._fetched_at = known, now
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, LookupError) as error:
            # Whoever waits sees what is remembered, or that nothing is.
            _log.warning("The issuer's keys were not had: %s.", type(error).__name__)
        finally:
            with self._lock:
                self._flight = None
            landed.set()

    def _discovered(self) -> str:
        said = self._read(f"{self._issuer.rstrip('/')}{DISCOVERY}")
        if said["issuer"] != self._issuer:
            raise ValueError("The discovery document is another issuer's.")
        return str(said["jwks_uri"])

    def _read(self, url: str) -> dict[str, object]:
        """Return the JSON object at *url*: HTTPS, plain HTTP on loopback, or a file."""
        parts = urlsplit(url)
        if parts.scheme == "file":
            return json_object(Path(unquote(parts.path)).read_bytes())
        if not is_trusted(url):
            raise ValueError("Keys come over HTTPS.")
        content = bytearray()
        with self._client.stream("GET", url, headers={"Accept": "application/json"}) as answer:
            answer.raise_for_status()
            for chunk in answer.iter_bytes():
                content += chunk
                if len(content) > _MOST_BYTES:
                    raise ValueError("The answer is too long.")
        return json_object(bytes(content))


def is_trusted(url: str) -> bool:
    """Say whether what is read at *url* comes from where it says: HTTPS, or this machine."""
    parts = urlsplit(url)
    plain = parts.scheme == "http" and parts.hostname in _LOOPBACK
    return parts.scheme == "https" or plain


def json_object(content: bytes) -> dict[str, object]:
    """Return the JSON object that *content* is.

    Raises:
        ValueError: It is none.
    """
    said: object = json.loads(content)
    if not isinstance(said, dict):
        raise ValueError("It is no JSON object.")  # noqa: TRY004 - a value from outside.
    return cast("dict[str, object]", said)


def _has(key_set: Mapping[str, object] | None, having: str | None) -> bool:
    return key_set is not None and (having is None or having in _ids(key_set))


def _ids(key_set: Mapping[str, object]) -> set[object]:
    """Return the ids of the keys; a key without one is known as None."""
    keys = key_set.get("keys")
    found = cast("list[object]", keys) if isinstance(keys, list) else []
    return {cast("dict[str, object]", key).get("kid") for key in found if isinstance(key, dict)}
