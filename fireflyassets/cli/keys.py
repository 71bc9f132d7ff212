"""``fireflyassets keys``: API keys of customers' systems, made and ended by operators.

Belongs here: arguments in, tables and JSON out. Does not: the rules (``core/api_key.py``).
"""

import argparse
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from fireflyassets.cli.terminal import listing, said, stamp
from fireflyassets.core import ids
from fireflyassets.core.api_key import LONGEST, USUAL, Scope
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.core.request import Problem
from fireflyassets.ports.clock import Clock
from fireflyassets.stages.api_keys import ApiKeys, Issued

_KEYS: Final = ("key", "name", "state", "scopes", "created", "by", "expires", "used")
_ENTRIES: Final = ("at", "key", "did", "by")


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``keys issue``, ``list``, ``rotate``, ``revoke`` and ``audit``."""
    group = subparsers.add_parser("keys", help="API keys of customers' systems without OIDC")
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    issue = commands.add_parser("issue", help="make a key and print it, this once")
    issue.add_argument("--name", type=said, required=True, metavar="TEXT", help="what uses it")
    issue.add_argument(
        "--scope", type=Scope, choices=list(Scope), action="append", required=True, dest="scopes"
    )
    issue.add_argument("--days", type=_days, default=USUAL.days, help="it serves (%(default)s)")
    issue.set_defaults(run=run_issue)
    shown = commands.add_parser("list", help="list keys, without their secrets")
    shown.set_defaults(run=run_list)
    rotate = commands.add_parser("rotate", help="make a successor; both serve for a day at most")
    rotate.set_defaults(run=run_rotate)
    revoke = commands.add_parser("revoke", help="end a key at once")
    revoke.set_defaults(run=run_revoke)
    audit = commands.add_parser("audit", help="list what was done, by whom")
    audit.set_defaults(run=run_audit)
    for command in (rotate, revoke):
        command.add_argument("key", metavar="KEY", help="its id, as the list shows it")
    for command in (issue, rotate, revoke):
        command.add_argument("--by", type=said, required=True, metavar="NAME", help="who you are")
    for command in (issue, shown, rotate, revoke, audit):
        command.add_argument("--customer", type=_customer, required=True, metavar="NAME")
    for command in (shown, audit):
        command.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run_issue(arguments: argparse.Namespace) -> int:
    """Make a key."""
    customer: str = arguments.customer
    name: str = arguments.name
    scopes: list[Scope] = arguments.scopes
    days: int = arguments.days
    by: str = arguments.by
    return _desk().issue(customer, name, scopes, timedelta(days=days), by=by)


def run_list(arguments: argparse.Namespace) -> int:
    """List keys."""
    customer: str = arguments.customer
    as_json: bool = arguments.json
    return _desk().show(customer, as_json=as_json)


def run_rotate(arguments: argparse.Namespace) -> int:
    """Make a successor."""
    customer: str = arguments.customer
    key: str = arguments.key
    by: str = arguments.by
    return _desk().rotate(customer, key, by=by)


def run_revoke(arguments: argparse.Namespace) -> int:
    """End a key."""
    customer: str = arguments.customer
    key: str = arguments.key
    by: str = arguments.by
    return _desk().revoke(customer, key, by=by)


def run_audit(arguments: argparse.Namespace) -> int:
    """List what was done."""
    customer: str = arguments.customer
    as_json: bool = arguments.json
    return _desk().audit(customer, as_json=as_json)


def _desk() -> "KeyDesk":
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    made = composition.factory()
    return KeyDesk(ApiKeys(made.api_keys, made.clock, secrets.token_hex), made.clock)


@dataclass(frozen=True)
class KeyDesk:
    """What the commands do, over any store."""

    keys: ApiKeys
    clock: Clock
    tell: Callable[[str], None] = print

    def issue(
        self, customer: str, name: str, scopes: list[Scope], life: timedelta, *, by: str
    ) -> int:
        """Make a key, and print it alone on its line."""
        told = self.keys.issue(customer, name=name, scopes=scopes, life=life, by=f"operator:{by}")
        return self._show_once(told)

    def show(self, customer: str, *, as_json: bool) -> int:
        """Print a customer's keys."""
        now = self.clock.now()
        rows = [
            {
                "key": one.key_id,
                "name": one.name,
                "state": one.state(now).value,
                "scopes": " ".join(sorted(one.scopes)),
                "created": stamp(one.created_at),
                "by": one.created_by,
                "expires": stamp(one.expires_at),
                "used": stamp(one.last_used_at),
            }
            for one in self.keys.store.keys(customer)
        ]
        self.tell(listing(_KEYS, rows, nothing="There is no key.", as_json=as_json))
        return 0

    def rotate(self, customer: str, key_id: str, *, by: str) -> int:
        """Make a successor, and print it."""
        told = self.keys.rotate(customer, key_id, by=f"operator:{by}")
        if told is None:
            raise _none(customer, key_id)
        return self._show_once(told)

    def revoke(self, customer: str, key_id: str, *, by: str) -> int:
        """End a key."""
        if self.keys.revoke(customer, key_id, by=f"operator:{by}") is None:
            raise _none(customer, key_id)
        self.tell(f"The key {key_id} of {customer} is revoked.")
        return 0

    def audit(self, customer: str, *, as_json: bool) -> int:
        """Print what was done to a customer's keys."""
        rows = [
            {"at": stamp(one.at), "key": one.key_id, "did": one.did, "by": one.by}
            for one in self.keys.store.entries(customer)
        ]
        self.tell(listing(_ENTRIES, rows, nothing="Nothing was done.", as_json=as_json))
        return 0

    def _show_once(self, told: Issued | Problem) -> int:
        if isinstance(told, Problem):
            raise UnusableArgument(f"{told.message} {told.fix}")
        until = stamp(told.key.expires_at)
        self.tell(f"Key {told.key.key_id} serves until {until} UTC. It is shown this once:")
        self.tell(told.text)
        return 0


def _none(customer: str, key_id: str) -> UnusableArgument:
    return UnusableArgument(f"{customer} has no key {key_id}.")


def _customer(text: str) -> str:
    if not ids.SLUG.fullmatch(text):
        raise argparse.ArgumentTypeError("a customer's name has a-z, 0-9 and hyphens")
    return text


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= LONGEST.days:
        raise argparse.ArgumentTypeError(f"1 to {LONGEST.days} days")
    return int(text)
