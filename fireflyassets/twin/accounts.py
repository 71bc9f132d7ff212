"""Credentials and tokens.

Belongs here: which client belongs to which organisation, minting and reading access tokens.
Tokens are signed, not stored: they outlive a restart, as Adobe's do. Does not belong here: HTTP.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from fireflyassets.twin.settings import ClientSetting

# IMS takes any scope and silently drops what it does not know.
KNOWN_SCOPES = frozenset(
    {
        "openid",
        "AdobeID",
        "session",
        "additional_info",
        "read_organizations",
        "firefly_api",
        "firefly_enterprise",
        "ff_apis",
    }
)


@dataclass(frozen=True, kw_only=True)
class Account:
    """One client id with its organisation, live secrets and products."""

    client: str
    organisation: str
    secrets: frozenset[str]
    entitlements: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What a token says: whose it is, its scopes, and when it was made and ends."""

    client: str
    scopes: frozenset[str]
    minted_at: datetime
    expires_at: datetime


class Accounts:
    """The credentials of this twin."""

    def __init__(self, clients: Sequence[ClientSetting], *, key: bytes) -> None:
        self._accounts: dict[str, Account] = {}
        self._key = key
        self._revoked_at: datetime | None = None
        for client in clients:
            self._add(client)

    def _add(self, client: ClientSetting) -> None:
        known = self._accounts.get(client.id)
        secrets = frozenset({client.secret})
        if known is not None:
            secrets |= known.secrets
        self._accounts[client.id] = Account(
            client=client.id,
            organisation=client.organisation,
            secrets=secrets,
            entitlements=client.entitlements,
        )

    def find(self, client: str) -> Account | None:
        """Return the account of *client*, if there is one."""
        return self._accounts.get(client)

    def mint(self, account: Account, scopes: frozenset[str], now: datetime, ttl: timedelta) -> str:
        """Return a new access token; unknown scopes are dropped without a word."""
        payload = {
            "client": account.client,
            "scopes": sorted(scopes & KNOWN_SCOPES),
            "minted_at": now.timestamp(),
            "expires_at": (now + ttl).timestamp(),
        }
        body = base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")
        return f"{body}.{self._signature(body)}"

    def read(self, token: str) -> Grant | None:
        """Return what *token* grants, or nothing when this twin did not make it."""
        body, _, signature = token.partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(body).encode()):
            return None
        try:
            payload = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        except (ValueError, binascii.Error):
            return None
        return _grant(cast("dict[str, object]", payload))

    def revoke(self, now: datetime) -> None:
        """End every token minted before *now*."""
        self._revoked_at = now

    def is_live(self, grant: Grant, now: datetime) -> bool:
        """Return whether *grant* is neither expired nor revoked."""
        if self._revoked_at is not None and grant.minted_at <= self._revoked_at:
            return False
        return now < grant.expires_at

    def _signature(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()


def _grant(payload: dict[str, object]) -> Grant:
    return Grant(
        client=str(payload["client"]),
        scopes=frozenset(cast("list[str]", payload["scopes"])),
        minted_at=datetime.fromtimestamp(cast("float", payload["minted_at"]), UTC),
        expires_at=datetime.fromtimestamp(cast("float", payload["expires_at"]), UTC),
    )
