"""The secrets that webhooks are signed with, each made from the one that the operator keeps.

Belongs here: making them. Does not: signing, who may see one. None is stored: an endpoint's secret
is a keyed hash (HKDF's expansion, RFC 5869) of its name and number, so that there is one secret to
guard, in the store of secrets, and none in any table or log.
"""

import base64
import hashlib
import hmac
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from fireflyassets.core.endpoint import Endpoint
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.secrets import ClientSecret, SecretStore
from fireflyassets.webhooks.verify import PREFIX

_FRESH: Final = timedelta(minutes=5)
_LEAST: Final = 32


class WebhookSecrets:
    """Makes secrets of endpoints. Safe to share by threads."""

    def __init__(self, store: SecretStore, reference: str, clock: Clock) -> None:
        self._store = store
        self._reference = reference
        self._clock = clock
        self._lock = Lock()
        self._known: tuple[datetime, ClientSecret] | None = None

    def newest(self, endpoint: Endpoint) -> str:
        """Return what a customer is shown, once, when it is made.

        Raises:
            UnusableConfiguration: There is no root secret, or it is too short.
            SecretUnreachable: The store of secrets does not answer.
        """
        return _made(self._root().client_secret, endpoint, endpoint.secret)

    def all(self, endpoint: Endpoint, now: datetime) -> list[str]:
        """Return those that sign now, the newest first: of a rotated root, those of both.

        Raises:
            UnusableConfiguration: As above: nothing is ever sent unsigned.
            SecretUnreachable: As above.
        """
        root = self._root()
        roots = [root.client_secret, *([root.older_secret] if root.older_secret else [])]
        return [_made(one, endpoint, number) for one in roots for number in endpoint.secrets(now)]

    def _root(self) -> ClientSecret:
        if not self._reference:
            raise UnusableConfiguration(
                "No secret for webhooks is set: name one with FIREFLYASSETS_WEBHOOK_SECRET."
            )
        now = self._clock.now()
        with self._lock:
            if self._known is None or now - self._known[0] > _FRESH:
                self._known = (now, self._store.read(self._reference))
            root = self._known[1]
        if len(root.client_secret) < _LEAST:
            raise UnusableConfiguration(f"The secret for webhooks has under {_LEAST} characters.")
        return root


def _made(root: str, endpoint: Endpoint, number: int) -> str:
    name = f"webhook/{endpoint.customer}/{endpoint.endpoint_id}/{number}"
    key = hmac.new(root.encode(), name.encode() + b"\x01", hashlib.sha256).digest()
    return f"{PREFIX}{base64.b64encode(key).decode()}"
