"""Firefly's storage: uploading a reference picture once, and using its id for days.

Belongs here: the free upload call, its limits, and the choice between a URL and an upload.
Does not: converting pictures (``adapters/pillow.py``). Ids live a week there; we use them six days.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, cast

from fireflyassets.adapters.adobe import faults, retry_after
from fireflyassets.adapters.adobe.exchange import Answer, NoAnswer
from fireflyassets.adapters.adobe.firefly_parts import URL_LONGEST, may_fetch
from fireflyassets.adapters.adobe.mint import NoToken
from fireflyassets.adapters.adobe.poll_share import PollShare
from fireflyassets.adapters.adobe.results import media_type
from fireflyassets.adapters.adobe.wire import AdobeWire, Ask, Reply, Untrusted
from fireflyassets.core.failure import Family, Fault
from fireflyassets.ports.images import Linked, Source, Uploaded
from fireflyassets.ports.references import ReferenceStore, UploadCache, UploadFailed

_PATH: Final = "/v2/storage/image"
_WITHIN: Final = timedelta(seconds=60)
LIFE: Final = timedelta(days=6)
MOST_BYTES: Final = 15_000_000
TYPES: Final = frozenset({"image/jpeg", "image/png", "image/webp"})
"""What guide and specification agree on."""


class ReferenceDesk(ReferenceStore):
    """Uploads for one credential."""

    def __init__(
        self,
        wire: AdobeWire,
        *,
        base_url: str,
        organisation: str,
        cache: UploadCache,
        pace: PollShare,
    ) -> None:
        self._wire = wire
        self._pace = pace
        self._url = f"{base_url.rstrip('/')}{_PATH}"
        self._organisation = organisation
        self._cache = cache
        self._flights: dict[str, asyncio.Task[Uploaded | UploadFailed]] = {}

    async def upload(self, content: bytes) -> Uploaded | UploadFailed:
        """Return the upload of *content*: an earlier one while it lives, else a new one."""
        kind = media_type(content)
        if kind not in TYPES:
            return _refused("a reference is a JPEG, PNG or WebP by its first bytes")
        if len(content) > MOST_BYTES:
            return _refused(f"{len(content)} bytes are more than {MOST_BYTES}")
        digest = hashlib.sha256(content).hexdigest()
        known = await asyncio.to_thread(self._cache.read, self._organisation, digest)
        if known is not None:
            return Uploaded(known)
        flight = self._flights.get(digest)
        if flight is None:
            flight = asyncio.create_task(self._send(content, kind, digest))
            self._flights[digest] = flight
            flight.add_done_callback(lambda _: self._flights.pop(digest, None))
        # Shielded: a caller that gives up must not take the upload from the others.
        return await asyncio.shield(flight)

    async def offer(
        self, url: str, content: Callable[[], Awaitable[bytes]]
    ) -> Source | UploadFailed:
        """Return *url* itself where Firefly takes it, else an upload of *content*."""
        if len(url) <= URL_LONGEST and may_fetch(url):
            return Linked(url)
        return await self.upload(await content())

    async def forget(self, content: bytes) -> None:
        """Drop what is remembered of *content*, after the service refused its id as stale."""
        digest = hashlib.sha256(content).hexdigest()
        await asyncio.to_thread(self._cache.drop, self._organisation, digest)

    async def _send(self, content: bytes, kind: str, digest: str) -> Uploaded | UploadFailed:
        headers = {"Content-Type": kind}
        ask = Ask("POST", self._url, within=_WITHIN, headers=headers, content=content)
        await self._pace.turn()
        begun = self._wire.clock.now()
        answer = self._read(await self._wire.ask(ask))
        if isinstance(answer, Uploaded):
            until = begun + LIFE
            await asyncio.to_thread(
                lambda: self._cache.write(self._organisation, digest, answer.upload_id, until=until)
            )
        return answer

    def _read(self, reply: Reply) -> Uploaded | UploadFailed:
        if isinstance(reply, NoToken):
            return UploadFailed(reply.fault, reply.retry_after)
        if isinstance(reply, Untrusted):
            return UploadFailed(reply.fault(Family.FIREFLY))
        if isinstance(reply, NoAnswer):
            return UploadFailed(faults.from_silence(Family.FIREFLY, reply))
        if not reply.is_success:
            now = reply.date(self._wire.clock.now())
            wait = retry_after.wait(reply.retry_values(), now=now)
            return UploadFailed(faults.from_answer(Family.FIREFLY, reply), wait)
        upload_id = _id(reply)
        if upload_id is None:
            return UploadFailed(Fault(Family.FIREFLY, reply.status, "not_json"))
        return Uploaded(upload_id)


def _id(answer: Answer) -> str | None:
    payload = answer.json()
    body = cast("dict[str, object]", payload) if isinstance(payload, dict) else {}
    images = body.get("images")
    first = cast("list[object]", images)[:1] if isinstance(images, list) else []
    found = (
        cast("dict[str, object]", first[0]).get("id")
        if first and isinstance(first[0], dict)
        else None
    )
    return found if isinstance(found, str) and found else None


def _refused(what: str) -> UploadFailed:
    return UploadFailed(Fault(Family.FIREFLY, None, "refused_locally", "source", what))
