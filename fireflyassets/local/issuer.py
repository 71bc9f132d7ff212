"""The embedded issuer of bearer tokens: one key, and what its tokens say.

Belongs here: the key, its public half, tokens of customers and of people who sign in. Does not:
where they are kept (``access.py``), how people choose who they are (``sign_in.py``), how the API
reads tokens: as it reads those of any issuer.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Self, cast

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet

from fireflyassets.core.api_key import Scope
from fireflyassets.settings import Settings

ISSUER: Final = "urn:fireflyassets:local"
CLIENT: Final = "pages"
"""By which name it knows the pages."""
LIFE: Final = timedelta(days=30)
"""Each start issues new ones; a stack may be kept running for weeks."""
_ALGORITHM: Final = "ES256"


@dataclass(frozen=True, slots=True)
class Issuer:
    """Signs tokens for one stack."""

    key: ECKey = field(repr=False)

    @classmethod
    def remembered(cls, secret: Mapping[str, object]) -> Self:
        """Return the issuer whose `secret` that is; a damaged one is replaced."""
        try:
            return cls(ECKey.import_key(cast("dict[str, str | list[str]]", dict(secret))))
        except (JoseError, ValueError, LookupError, TypeError):
            return cls.new()

    @classmethod
    def new(cls) -> Self:
        """Return an issuer with a key of its own."""
        return cls(ECKey.generate_key("P-256", auto_kid=True))

    def secret(self) -> Mapping[str, object]:
        """Return the key as JSON, private half included."""
        return self.key.as_dict(private=True)

    def session_key(self) -> str:
        """Return what sessions of the pages are sealed with; it lasts as long as the key."""
        return hashlib.sha256(b"sessions\0" + self.key.as_pem(private=True)).hexdigest()

    def webhook_secret(self) -> str:
        """Return what secrets of webhooks are made from; it lasts as long as the key."""
        return hashlib.sha256(b"webhooks\0" + self.key.as_pem(private=True)).hexdigest()

    def key_set(self) -> Mapping[str, object]:
        """Return what the API checks signatures with."""
        return cast("Mapping[str, object]", KeySet([self.key]).as_dict(private=False))

    def token(self, customer: str, *, now: datetime, scopes: Iterable[str] = tuple(Scope)) -> str:
        """Return a token that may do what *scopes* say within *customer*; by default everything."""
        said = {"tenant": customer, "scope": " ".join(scopes)}
        audience: str = Settings.model_fields["oidc_audience"].default
        return self._signed(f"{customer}@local", audience, said, now=now)

    def id_token(self, customer: str, *, name: str, nonce: str, now: datetime) -> str:
        """Return what tells the pages who has signed in."""
        said = {"name": name, "nonce": nonce}
        return self._signed(f"{customer}@local", CLIENT, said, now=now)

    def _signed(
        self, subject: str, audience: str, said: Mapping[str, str], *, now: datetime
    ) -> str:
        claims = {
            "iss": ISSUER,
            "aud": audience,
            "sub": subject,
            **said,
            "iat": int(now.timestamp()),
            "exp": int((now + LIFE).timestamp()),
        }
        return jwt.encode({"alg": _ALGORITHM, "kid": self.key.kid}, claims, self.key)
