"""The embedded issuer of bearer tokens: one key, one token for each customer.

Belongs here: the key, its public half, what a local token says. Does not: where they are kept
(``access.py``), how the API reads them: as it reads those of any issuer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self, cast

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet

from fireflyassets.api.tokens import Scope
from fireflyassets.settings import Settings

ISSUER: Final = "urn:fireflyassets:local"
LIFE: Final = timedelta(days=30)
"""Each start issues new ones; a stack may be kept running for weeks."""
_ALGORITHM: Final = "ES256"


@dataclass(frozen=True, slots=True)
class Issuer:
    """Signs tokens for one stack."""

    key: ECKey

    @classmethod
    def remembered(cls, secret: Mapping[str, object]) -> Self:
        """Return the issuer whose `secret` that is; a damaged one is replaced."""
        try:
            return cls(ECKey.import_key(cast("dict[str, str | list[str]]", dict(secret))))
        except (JoseError, ValueError, LookupError, TypeError):
            return cls(ECKey.generate_key("P-256", auto_kid=True))

    def secret(self) -> Mapping[str, object]:
        """Return the key as JSON, private half included."""
        return self.key.as_dict(private=True)

    def key_set(self) -> Mapping[str, object]:
        """Return what the API checks signatures with."""
        return cast("Mapping[str, object]", KeySet([self.key]).as_dict(private=False))

    def token(self, customer: str, *, now: datetime) -> str:
        """Return a token that may do everything within *customer*."""
        claims = {
            "iss": ISSUER,
            "aud": Settings.model_fields["oidc_audience"].default,
            "sub": f"{customer}@local",
            "tenant": customer,
            "scope": " ".join(Scope),
            "iat": int(now.timestamp()),
            "exp": int((now + LIFE).timestamp()),
        }
        return jwt.encode({"alg": _ALGORITHM, "kid": self.key.kid}, claims, self.key)
