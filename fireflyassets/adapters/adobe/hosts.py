"""Where requests may go: URLs taken apart once, and the hosts that may see our credentials.

Belongs here: the strict reading of a URL that came from elsewhere, and the allow-list.
Does not: sending. The host that is checked is the host that is dialled, because both come from
one reading; the rest of the URL is opaque, since rebuilding a signed URL breaks its signature.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import httpx

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.hosts import is_loopback

_URL: Final = re.compile(
    r"((?i:https?))://"
    r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)"
    r"(?::([0-9]{1,5}))?"
    r"([/?][\x21-\x7e]*)?"
)
"""No user info, no spaces, no control or non-ASCII characters: such URLs are not sent at all."""

_PATTERN: Final = re.compile(
    r"(\*\.)?((?:[a-z0-9-]+\.)*[a-z0-9-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?"
)
_PORTS: Final = {"http": 80, "https": 443}
_HIGHEST_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class Address:
    """A URL: the origin to dial, and the request target to send byte for byte."""

    scheme: str
    host: str
    """Lower case; brackets around an IPv6 address."""
    port: int
    target: str = field(repr=False)
    """Path and query as they came, starting with ``/``."""

    @property
    def origin(self) -> httpx.URL:
        """Return the URL to dial, without path and query."""
        return httpx.URL(f"{self.scheme}://{self.host}:{self.port}/")

    @property
    def label(self) -> str:
        """Return host and path: what a log may show. The query holds signatures."""
        own = self.port == _PORTS[self.scheme]
        return f"{self.host}{'' if own else f':{self.port}'}{self.target.partition('?')[0]}"

    @property
    def is_loopback(self) -> bool:
        """Say whether the host is this machine by its very name."""
        return is_loopback(self.host)

    def on_host_of(self, other: "Address") -> "Address":
        """Return the same target on the origin of *other*."""
        return Address(other.scheme, other.host, other.port, self.target)


def parse_address(url: str) -> Address | None:
    """Return *url* taken apart; None where any part could be read in two ways."""
    found = _URL.fullmatch(url.partition("#")[0])
    if found is None:
        return None
    scheme, host, port, target = found.groups(default="")
    scheme, host = scheme.lower(), host.lower()
    number = int(port) if port else _PORTS[scheme]
    if not 0 < number <= _HIGHEST_PORT:
        return None
    address = Address(scheme, host, number, target if target.startswith("/") else f"/{target}")
    try:
        dialled = address.origin.host
    except httpx.InvalidURL:
        return None
    return address if dialled == host.strip("[]") else None


class AllowedHosts:
    """The hosts that may get our token and client id; everything else never does."""

    def __init__(self, patterns: Iterable[str]) -> None:
        """Read the list; ``*.`` matches one or more whole labels, a missing port the scheme's own.

        Raises:
            UnusableConfiguration: An entry is not a host, or is too wide.
        """
        self._patterns = tuple(_pattern(text) for text in patterns)

    def may_carry_credentials(self, url: str) -> bool:
        """Say whether a request to *url* may hold our credentials."""
        address = parse_address(url)
        return address is not None and self.trusts(address)

    def trusts(self, address: Address) -> bool:
        """Say the same of an address. Plain HTTP is for loopback hosts that are on the list."""
        if address.scheme != "https" and not address.is_loopback:
            return False
        return any(pattern.matches(address) for pattern in self._patterns)


@dataclass(frozen=True, slots=True)
class _Pattern:
    wild: bool
    host: str
    port: int | None

    def matches(self, address: Address) -> bool:
        if address.port != (self.port or _PORTS[address.scheme]):
            return False
        if self.wild:
            return address.host.endswith(f".{self.host}")
        return address.host == self.host


def _pattern(text: str) -> _Pattern:
    found = _PATTERN.fullmatch(text.lower())
    if found is None:
        raise UnusableConfiguration(
            f"adobe_hosts: {text!r} is not `host`, `host:port` or `*.host`."
        )
    wild, host, port = found.groups(default="")
    if wild and "." not in host:
        raise UnusableConfiguration(f"adobe_hosts: {text!r} is too wide; name at least two labels.")
    return _Pattern(bool(wild), host, int(port) if port else None)
