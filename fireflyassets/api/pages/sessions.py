"""Sessions: who a browser stands for, since when, and until when.

Belongs here: the session as a value, its two ends, its cookie. Does not: who is let in
(``sign_in.py``), what a page needs (``guard.py``).

A session lives in its sealed cookie alone, so that any process can read it and none must remember.
It ends after *idle* without a request, and *life* after it began, whatever is done meanwhile.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, cast
from urllib.parse import urlsplit

from fireflyassets.api.seals import Purpose, Seals
from fireflyassets.api.tokens import Caller
from fireflyassets.core.api_key import Scope
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.hosts import is_loopback
from fireflyassets.ports.clock import Clock
from fireflyassets.settings import Settings

SIGN_IN_LIFE: Final = timedelta(minutes=10)
"""How long somebody may take at the provider."""
_RENEWED_AFTER: Final = timedelta(minutes=1)
"""A cookie with each picture of a page would only be noise."""
_NAME_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in person."""

    caller: Caller
    name: str
    """What the page calls the person by."""
    proof: str
    """What a form of this session must hold, which no other site can know."""
    began_at: datetime
    seen_at: datetime


class Cookies:
    """The two cookies: their names, their attributes, and what is sealed in them."""

    def __init__(self, seals: Seals, clock: Clock, settings: Settings) -> None:
        parts = urlsplit(settings.api_url)
        if parts.scheme != "https" and not is_loopback(parts.hostname):
            raise UnusableConfiguration(
                "Pages need FIREFLYASSETS_API_URL to be https, unless it is this machine itself."
            )
        secure = parts.scheme == "https"
        self._flags = f"Path=/; HttpOnly; SameSite=Lax{'; Secure' if secure else ''}"
        # Cookies know no ports: two stacks on one machine must not overwrite each other's.
        self._names = {
            purpose: f"__Host-{purpose}" if secure else f"fireflyassets-{parts.port}-{purpose}"
            for purpose in Purpose
        }
        self._seals = seals
        self._clock = clock
        self._idle = settings.session_idle
        self._life = settings.session_life

    def begin(self, caller: Caller, name: str) -> str:
        """Return the header that begins a session."""
        now = self._clock.now()
        told = name.strip()[:_NAME_CHARACTERS] or caller.subject
        return self._set(Session(caller, told, secrets.token_urlsafe(24), now, now))

    def session(self, sent: Mapping[str, str]) -> Session | None:
        """Return the session of a request's cookies; None where it is over or never was."""
        said = self._open(Purpose.SESSION, sent)
        session = None if said is None else _read(said)
        if session is None:
            return None
        now = self._clock.now()
        over = now - session.seen_at >= self._idle or now - session.began_at >= self._life
        return None if over else session

    def renewed(self, session: Session) -> str | None:
        """Return the header that notes a request of *session*; None shortly after the last one."""
        now = self._clock.now()
        if now - session.seen_at < _RENEWED_AFTER:
            return None
        return self._set(replace(session, seen_at=now))

    def keep(self, said: Mapping[str, str]) -> str:
        """Return the header that keeps a sign-in that is under way."""
        until = int((self._clock.now() + SIGN_IN_LIFE).timestamp())
        sealed = self._seals.close(Purpose.SIGN_IN, {**said, "until": until})
        return self._header(Purpose.SIGN_IN, sealed, SIGN_IN_LIFE)

    def kept(self, sent: Mapping[str, str]) -> Mapping[str, str] | None:
        """Return the sign-in that is under way; None where there is none, or it took too long."""
        said = self._open(Purpose.SIGN_IN, sent)
        if said is None or int(str(said["until"])) <= self._clock.now().timestamp():
            return None
        return {name: str(value) for name, value in said.items()}

    def end(self, purpose: Purpose) -> str:
        """Return the header that takes a cookie away."""
        return self._header(purpose, "", timedelta(0))

    def _open(self, purpose: Purpose, sent: Mapping[str, str]) -> Mapping[str, object] | None:
        text = sent.get(self._names[purpose])
        return self._seals.open(purpose, text) if text else None

    def _set(self, session: Session) -> str:
        caller = session.caller
        said = {
            "tenant": caller.tenant,
            "subject": caller.subject,
            "scopes": sorted(caller.scopes & frozenset(Scope)),
            "name": session.name,
            "proof": session.proof,
            "began": session.began_at.timestamp(),
            "seen": session.seen_at.timestamp(),
        }
        return self._header(Purpose.SESSION, self._seals.close(Purpose.SESSION, said), self._idle)

    def _header(self, purpose: Purpose, value: str, life: timedelta) -> str:
        seconds = int(life.total_seconds())
        return f"{self._names[purpose]}={value}; Max-Age={seconds}; {self._flags}"


def _read(said: Mapping[str, object]) -> Session | None:
    """Return a session; None where another release of ours has written it otherwise."""
    try:
        return Session(
            Caller(
                str(said["tenant"]),
                str(said["subject"]),
                frozenset(map(str, cast("list[object]", said["scopes"]))),
            ),
            str(said["name"]),
            str(said["proof"]),
            datetime.fromtimestamp(cast("float", said["began"]), UTC),
            datetime.fromtimestamp(cast("float", said["seen"]), UTC),
        )
    except (KeyError, TypeError):
        return None
