"""Seals: what others keep for us and can neither read nor change.

Belongs here: encryption by keys that several processes share and that rotate. Does not: what is
sealed (sessions and sign-ins of the pages, ``plan_tokens.py``).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, cast

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey
from pydantic import SecretStr

from fireflyassets.core.errors import UnusableConfiguration

_SHORTEST: Final = 32
"""Characters; as many bits as the cipher takes, even of hexadecimal digits half of it."""
_REGISTRY: Final = jwe.JWERegistry(algorithms=["dir", "A256GCM"])
_MOST_CHARACTERS: Final = 4096
"""No browser keeps more in one cookie."""


class Purpose(StrEnum):
    """What something was sealed for; it opens for nothing else."""

    SESSION = "session"
    SIGN_IN = "sign-in"
    PLAN = "plan"


class Seals:
    """Seals by the first key, opens by any: a new key is added behind, then moved to the front."""

    def __init__(self, keys: Sequence[SecretStr]) -> None:
        texts = [key.get_secret_value() for key in keys]
        if not texts or any(len(text) < _SHORTEST for text in texts):
            raise UnusableConfiguration(
                "FIREFLYASSETS_SESSION_KEYS must list at least one key, each of "
                f"{_SHORTEST} characters or more, the same for all processes."
            )
        self._keys = [_key(text) for text in texts]
        self._all = KeySet(list(self._keys))

    def close(self, purpose: Purpose, said: Mapping[str, object]) -> str:
        """Return *said* as a text for a cookie."""
        key = self._keys[0]
        header = {"alg": "dir", "enc": "A256GCM", "kid": key.kid, "typ": purpose.value}
        content = json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()
        return jwe.encrypt_compact(header, content, key, registry=_REGISTRY)

    def open(self, purpose: Purpose, text: str) -> Mapping[str, object] | None:
        """Return what `close` was given; None where the text is none of ours, or of no use here."""
        if len(text) > _MOST_CHARACTERS:
            return None
        try:
            opened = jwe.decrypt_compact(text, self._all, registry=_REGISTRY)
        except (JoseError, ValueError):
            return None
        if opened.protected.get("typ") != purpose.value or opened.plaintext is None:
            return None
        return cast("Mapping[str, object]", json.loads(opened.plaintext))


def _key(text: str) -> OctKey:
    """Return the cipher's key; its public name tells nothing of it."""
    material = hashlib.sha256(b"fireflyassets pages\0" + text.encode()).digest()
    name = hashlib.sha256(b"name\0" + material).hexdigest()[:12]
    return OctKey.import_key(material, {"kid": name})
