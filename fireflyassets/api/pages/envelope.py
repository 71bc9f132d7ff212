"""The envelope of every answer of the pages: security headers, renewed cookies, the right host.

Belongs here: what holds for all answers, errors and pictures included. Does not: what they say.
"""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fireflyassets.core.hosts import is_loopback

RENEWED: Final = "renewed"
"""Name in the request's state of a cookie header that goes out with the answer."""
_ALWAYS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # With `no-referrer` a browser would say `Origin: null` for our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Vary": "Cookie",
}
_HSTS: Final = {"Strict-Transport-Security": "max-age=31536000"}


class Envelope:
    """Middleware. *origin* is the public address, whose host a loopback request must name.

    A name of somebody else's that resolves to this machine would else be an origin of ours (DNS
    rebinding). Elsewhere TLS sees to that, and a proxy may have a name of its own.
    """

    def __init__(self, app: ASGIApp, *, origin: str) -> None:
        self._app = app
        self._origin = origin
        parts = urlsplit(origin)
        self._host = parts.netloc.lower()
        self._is_local = is_loopback(parts.hostname)
        self._headers = _ALWAYS if parts.scheme != "https" else {**_ALWAYS, **_HSTS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                headers.setdefault("Cache-Control", "no-store")
                renewed = scope.get("state", {}).get(RENEWED)
                if renewed and "Set-Cookie" not in headers:
                    headers.append("Set-Cookie", renewed)
            await send(message)

        said = Headers(scope=scope).get("Host", "").lower()
        if self._is_local and said != self._host:
            await self._elsewhere(scope, said)(scope, receive, sealed)
        else:
            await self._app(scope, receive, sealed)

    def _elsewhere(self, scope: Scope, host: str) -> ASGIApp:
        if scope["method"] == "GET" and is_loopback(urlsplit(f"//{host}").hostname):
            return RedirectResponse(f"{self._origin}{scope['path']}", 307)
        return PlainTextResponse("This address is not served here.", 421)
