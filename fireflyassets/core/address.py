"""Where we may send to: addresses of customers' systems, judged before anything is sent there.

Belongs here: the form of an address, and which IP addresses are the public internet. Does not:
resolving names, dialling (``adapters/guarded_http.py``, which asks here about the address dialled).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from fireflyassets.core.request import Problem

IpAddress = IPv4Address | IPv6Address

PORTS: Final = frozenset({443, 8443})
"""Where HTTPS is expected; a webhook is no tool to look for other services by."""
STANDARD: Final = {"https": 443, "http": 80}
LONGEST: Final = 500
_FORM: Final = "Send https://host/path."
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_NAT64: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_INNER: Final = (
    IPv4Network("192.0.0.0/24"),  # The standard library of Python 3.11 knows a part of it.
    IPv4Network("192.88.99.0/24"),
    IPv4Network("168.63.129.16/32"),  # A cloud's own services, under a public address.
)
_COMPATIBLE: Final = IPv6Network("::/96")
_RULE: Final = "address"


@dataclass(frozen=True, slots=True)
class Target:
    """An address as it is dialled: read once, so that nobody reads it in another way."""

    scheme: str
    host: str
    """A name, or an IP address without brackets."""
    port: int
    path: str
    """With the query."""

    @property
    def netloc(self) -> str:
        """Return what the header Host says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == STANDARD[self.scheme] else f"{host}:{self.port}"


def target(url: str, *, trusted: Collection[str] = ()) -> Target | Problem:
    """Return where *url* leads, or why nothing is sent there.

    *trusted* hosts are named by whoever runs the factory, for tests on one machine: they may be
    private, on any port and without TLS.
    """
    if len(url) > LONGEST or not url.isascii() or not url.isprintable() or set(url) & set(" \\"):
        return _refused("is over 500 characters, or has odd ones", "Send plain ASCII.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return _refused("can't be read", _FORM)
    host = (parts.hostname or "").lower()
    if fault := _odd(parts) or (None if host in trusted else _unfit(parts.scheme, host, port)):
        return fault
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    return Target(parts.scheme, host, STANDARD[parts.scheme] if port is None else port, path)


def _odd(parts: SplitResult) -> Problem | None:
    if parts.scheme not in STANDARD or not parts.hostname:
        return _refused("is of another scheme than https, or has no host", _FORM)
    if "@" in parts.netloc:
        return _refused("holds a user", "Take it out: requests are signed.")
    return _refused("has a fragment", _FORM) if parts.fragment else None


def is_public(address: IpAddress) -> bool:
    """Say whether an address is on the public internet, whatever it is wrapped in."""
    if isinstance(address, IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
    elif any(address in one for one in _INNER):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def literal(host: str) -> IpAddress | None:
    """Return the IP address that a host is, None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def _inner(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for, where it stands for one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _COMPATIBLE or any(address in one for one in _NAT64):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def _unfit(scheme: str, host: str, port: int | None) -> Problem | None:
    if scheme != "https":
        return _refused("is not https", _FORM)
    if port is not None and port not in PORTS:
        return _refused("names another port than 443 or 8443", "Listen on one of those.")
    address = literal(host)
    if address is not None:
        return None if is_public(address) else not_public()
    labels = host.split(".")
    # Resolvers read 2130706433, 0x7f.1 and 0177.0.0.1 as addresses: no name ends in a number.
    if not all(_LABEL.fullmatch(one) for one in labels) or _NUMBER.fullmatch(labels[-1]):
        return _refused("has a host that is no name", "Send a name, or an IP address in full.")
    return None if len(labels) > 1 else not_public()


def not_public() -> Problem:
    """Return the problem of a host that is not on the public internet."""
    return _refused("is not on the public internet", "Send an address that the internet reaches.")


def _refused(what: str, fix: str) -> Problem:
    return Problem("url", _RULE, f"The address {what}.", fix)
