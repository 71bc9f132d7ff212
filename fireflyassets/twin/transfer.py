"""Fetching inputs and writing outputs by URL, as a cloud service would.

Belongs here: GET and PUT of signed URLs, byte for byte as given, without a bearer or any header
that a signature might not cover. Does not belong here: what is in the files.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
MAX_BYTES = 4 * 1024**3  # What Photoshop takes.


class UnreachableError(Exception):
    """A URL did not answer 2xx; the message holds no part of the URL."""


@dataclass(frozen=True)
class Target:
    """Where the bytes go: the path and query exactly as the caller wrote them."""

    url: httpx.URL
    raw: bytes


def _target(url: str) -> Target:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise UnreachableError("not an http(s) URL")
    raw = url.split("//", 1)[1]
    cut = min((raw.index(mark) for mark in "/?#" if mark in raw), default=len(raw))
    path = raw[cut:].split("#", 1)[0]
    if not path.startswith("/"):
        path = f"/{path}"
    try:
        return Target(httpx.URL(url), path.encode("ascii"))
    except (httpx.InvalidURL, UnicodeEncodeError) as error:
        raise UnreachableError("not a fully encoded URL") from error


class Transfer:
    """One HTTP client for all inputs and outputs."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._client = httpx.AsyncClient(
            timeout=_TIMEOUT, transport=transport, follow_redirects=False, trust_env=False
        )

    async def get(self, url: str) -> bytes:
        """Return the bytes behind *url*."""
        target = _target(url)
        request = httpx.Request("GET", target.url, extensions=self._extensions(target))
        answer = await self._send(request)
        return answer.content

    async def put(self, url: str, content: bytes, media_type: str, *, azure: bool) -> None:
        """Write *content* to the signed *url*; Azure alone needs one header more."""
        target = _target(url)
        headers = {"Content-Type": media_type}
        if azure:
            headers["x-ms-blob-type"] = "BlockBlob"
        request = httpx.Request(
            "PUT", target.url, headers=headers, content=content, extensions=self._extensions(target)
        )
        await self._send(request)

    def _extensions(self, target: Target) -> dict[str, object]:
        return {"target": target.raw, "timeout": _TIMEOUT.as_dict()}

    async def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            answer = await self._client.send(request)
        except httpx.HTTPError as error:
            raise UnreachableError(type(error).__name__) from error
        if not answer.is_success:
            raise UnreachableError(f"HTTP {answer.status_code}")
        return answer

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()
