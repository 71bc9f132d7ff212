"""Names of hosts, as far as something hangs on them.

Belongs here: whether a host is this machine. Does not: addresses and lists of allowed hosts
(``adapters/adobe/hosts.py``). Nothing is resolved: a name may point anywhere.
"""

from ipaddress import ip_address


def is_loopback(host: str | None) -> bool:
    """Say whether a host is this machine by its very name; IPv6 with or without brackets."""
    if host == "localhost":
        return True
    try:
        return ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False
