"""One credential's access token: cached, shared, renewed early, one request for it at a time.

Belongs here: when to use, renew, share and drop a token. Does not: the token request
(``mint.py``). Of any number of callers in this process one flight serves all; of any number of
processes the store's lock lets one ask. The service has no refresh tokens and throttles clients
that mint too often: right use mints about one a day.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.adapters.adobe.call_log import LOGGER
from fireflyassets.adapters.adobe.mint import MOST, NoToken, TokenDesk
from fireflyassets.core.errors import SecretUnreachable, UnusableConfiguration
from fireflyassets.core.failure import FailureClass, Family, Fault, classify
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.secrets import ClientSecret, SecretStore
from fireflyassets.ports.tokens import StoredToken, TokenCounts, TokenStore

_EARLY: Final = timedelta(minutes=15)
_MARGIN: Final = timedelta(seconds=5)
_LOCK: Final = 2 * MOST + timedelta(seconds=5)
"""Longer than asking can take, with both secrets. It is freed at the end of the asking; only that
of a process that dies meanwhile runs out."""
_LOOK_AGAIN: Final = timedelta(milliseconds=250)
_REFUSAL: Final = timedelta(seconds=30)
"""How long nobody here asks again after a refusal that named no wait."""
_REPLACED_MOST: Final = 3
_REPLACED_WITHIN: Final = timedelta(hours=1)
"""Tokens that are dropped for a 401 in that time: with more of them the fault is elsewhere."""
_DISTRUST: Final = timedelta(minutes=1)
"""How long a fresh token that was refused at once is not replaced: a new one would not help."""


@dataclass(frozen=True, slots=True)
class _Held:
    stored: StoredToken
    renew_at: datetime


class Ims:
    """Hands out the access token of one credential."""

    def __init__(
        self,
        *,
        client_id: str,
        scopes: tuple[str, ...],
        secret: tuple[SecretStore, str],
        store: TokenStore,
        desk: TokenDesk,
        clock: Clock,
        chance: Callable[[], float],
    ) -> None:
        """Take the secret as a store and a reference, so that each mint reads it anew.

        *chance* draws from [0, 1); it spreads the renewals of many processes.
        """
        self.client_id = client_id
        self._scopes = scopes
        self._entry = f"{client_id}#{','.join(sorted(scopes))}"
        self._secrets, self._reference = secret
        self._store = store
        self._desk = desk
        self._clock = clock
        self._chance = chance
        self._held: _Held | None = None
        self._flight: asyncio.Task[str | NoToken] | None = None
        self._unproven: tuple[str, datetime] | None = None
        self._replaced: dict[str, datetime] = {}
        self._kept: str | None = None
        self._refused: tuple[NoToken, datetime] | None = None
        self._counts = TokenCounts()

    @property
    def counts(self) -> TokenCounts:
        """Return the counts since the start of this process."""
        return self._counts

    async def token(self) -> str | NoToken:
        """Return a token that is valid now; while a new one is fetched, the old one serves."""
        self._counts = replace(self._counts, calls=self._counts.calls + 1)
        held = self._held
        if held is None or not self._is_usable(held.stored):
            return await self._flown()
        if self._clock.now() >= held.renew_at and self._flight is None:
            self._take_off(renewing=held.stored.token)
        return held.stored.token

    def warm(self) -> None:
        """Fetch a token ahead of the first call, in the background, if there is none in hand."""
        if (self._held is None or not self._is_usable(self._held.stored)) and self._flight is None:
            self._take_off(renewing=None)

    async def replacement(self, rejected: str) -> str | NoToken:
        """Return another token than *rejected*, which a service answered with 401.

        A token that was itself a replacement and has never been accepted is not replaced, nor is
        any more once there were several within the hour: where a service now takes a token and
        now does not, a new one only brings the next refusal nearer.
        """
        now = self._clock.now()
        if self._unproven and self._unproven[0] == rejected and now < self._unproven[1] + _DISTRUST:
            return NoToken(Fault(Family.IMS, None, "token_rejected"), _DISTRUST)
        if self._is_one_too_many(rejected, now):
            return NoToken(Fault(Family.IMS, None, "token_rejected"), _DISTRUST)
        await asyncio.to_thread(self._store.drop, self._entry, rejected)
        if self._held is not None and self._held.stored.token != rejected:
            return self._held.stored.token
        self._held = None
        token = await self._flown()
        if token == rejected:  # That flight had read the store before the drop.
            self._held = None
            token = await self._flown()
        if isinstance(token, str):
            self._unproven = (token, self._clock.now())
        return token

    def _is_one_too_many(self, rejected: str, now: datetime) -> bool:
        """Count a token that is to be replaced; many callers may bring the same one."""
        since = now - _REPLACED_WITHIN
        self._replaced = {token: at for token, at in self._replaced.items() if at > since}
        held = self._held
        if rejected in self._replaced or (held is not None and held.stored.token != rejected):
            return False
        if len(self._replaced) < _REPLACED_MOST:
            self._replaced[rejected] = now
            return False
        if self._kept != rejected:
            self._kept = rejected
            LOGGER.error(
                "token of %s: refused after %d replacements within the hour; it stays in use",
                self.client_id,
                _REPLACED_MOST,
            )
        return True

    def accepted(self, token: str) -> None:
        """Note that a service took *token*."""
        if self._unproven is not None and self._unproven[0] == token:
            self._unproven = None

    async def aclose(self) -> None:
        """Stop a renewal that is under way."""
        if self._flight is not None:
            self._flight.cancel()
            await asyncio.gather(self._flight, return_exceptions=True)

    async def _flown(self) -> str | NoToken:
        flight = self._flight
        if flight is None or flight.done():  # It may be over and not yet have landed.
            flight = self._take_off(renewing=None)
        # Shielded: a caller that gives up must not take the flight from the others.
        return await asyncio.shield(flight)

    def _take_off(self, *, renewing: str | None) -> "asyncio.Task[str | NoToken]":
        flight = asyncio.get_running_loop().create_task(self._fly(renewing))
        flight.add_done_callback(self._land)
        self._flight = flight
        return flight

    def _land(self, flight: "asyncio.Task[str | NoToken]") -> None:
        if self._flight is flight:
            self._flight = None
        if not flight.cancelled() and (error := flight.exception()) is not None:
            LOGGER.warning("token of %s: %s", self.client_id, type(error).__name__)

    async def _fly(self, renewing: str | None) -> str | NoToken:
        """Return a token other than *renewing*: another process's, or one minted here."""
        give_up_at = self._clock.now() + _LOCK + MOST
        while self._clock.now() < give_up_at:
            if (refusal := self._refusal()) is not None:
                return refusal
            stored = await asyncio.to_thread(self._store.read, self._entry)
            if stored is not None and stored.token != renewing and self._is_usable(stored):
                return self._hold(stored)
            lock = await asyncio.to_thread(lambda: self._store.lock(self._entry, life=_LOCK))
            if lock is not None:
                return await self._mint_under(lock, renewing)
            await self._clock.sleep(_LOOK_AGAIN)
        return NoToken(Fault(Family.IMS, None, "token_locked"), _LOOK_AGAIN)

    async def _mint_under(self, lock: str, renewing: str | None) -> str | NoToken:
        """Mint, and leave the lock to others unless the service asked us all to wait."""
        free = True
        try:
            minted = await self._mint(renewing)
            if isinstance(minted, NoToken):
                free = classify(minted.fault) is not FailureClass.THROTTLED
                return minted
            free = False  # The write has freed it.
            return minted
        finally:
            if free:
                await asyncio.to_thread(self._store.release, self._entry, lock)

    async def _mint(self, renewing: str | None) -> str | NoToken:
        # Between the read and the lock another process may have written and freed it.
        stored = await asyncio.to_thread(self._store.read, self._entry)
        if stored is None or stored.token == renewing or not self._is_usable(stored):
            minted = await self._ask()
            if isinstance(minted, NoToken):
                self._refused = (minted, self._clock.now() + (minted.retry_after or _REFUSAL))
                return self._refusal() or minted
            stored = minted
        await asyncio.to_thread(self._store.write, self._entry, stored)
        return self._hold(stored)

    def _refusal(self) -> NoToken | None:
        """Return the last refusal while asking again is too soon, with the wait that is left."""
        if self._refused is None or (left := self._refused[1] - self._clock.now()) <= timedelta():
            return None
        return replace(self._refused[0], retry_after=left)

    async def _ask(self) -> StoredToken | NoToken:
        self._counts = replace(self._counts, mints=self._counts.mints + 1)
        try:
            secret = await asyncio.to_thread(self._secrets.read, self._reference)
        except UnusableConfiguration:
            return NoToken(Fault(Family.IMS, None, "no_secret"))
        except SecretUnreachable:
            return NoToken(Fault(Family.IMS, None, "secret_unreachable"))
        return await self._minted(replace(secret, client_id=self.client_id))

    async def _minted(self, secret: ClientSecret) -> StoredToken | NoToken:
        """Ask with the newer secret; with the older one where the newer is not known yet."""
        minted = await self._desk.mint(secret, self._scopes)
        refused = isinstance(minted, NoToken) and classify(minted.fault) is FailureClass.AUTH
        if not refused or secret.older_secret is None:
            return minted
        LOGGER.warning("token of %s: the newer secret was refused", self.client_id)
        return await self._desk.mint(secret.rotated_back(), self._scopes)

    def _hold(self, stored: StoredToken) -> str:
        """Keep a token and set when to renew it: 15 minutes early, give or take a tenth."""
        now = self._clock.now()
        # A short life is not spent renewing: at most its last quarter is "early".
        early = min(_EARLY, (stored.expires_at - now) / 4)
        self._held = _Held(stored, stored.expires_at - early * (0.9 + 0.2 * self._chance()))
        self._refused = None
        return stored.token

    def _is_usable(self, stored: StoredToken) -> bool:
        return self._clock.now() < stored.expires_at - _MARGIN
