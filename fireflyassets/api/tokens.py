"""Bearer tokens: who asks, for which tenant, and what they may do.

Belongs here: JSON Web Tokens of the one issuer (RFC 7519, RFC 9068): signature, claims, scopes; and
which bearers are API keys. Does not: the keys' own rules (``stages/api_keys.py``), fetching the
issuer's (``adapters/key_sets.py``), what a route needs (``desk.py``).
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast

from joserfc import jwt
from joserfc.errors import (
    BadSignatureError,
    ExpiredTokenError,
    InvalidClaimError,
    InvalidKeyIdError,
    MissingClaimError,
    UnsupportedAlgorithmError,
)
from joserfc.jwk import JWKRegistry, Key, KeySet
from joserfc.jws import JWSRegistry

from fireflyassets.core import ids
from fireflyassets.core.api_key import PREFIX
from fireflyassets.core.request import Problem
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.keys import SigningKeys
from fireflyassets.settings import Settings
from fireflyassets.stages.api_keys import ApiKeys

LEEWAY: Final = timedelta(seconds=60)
"""How far the issuer's clock may be off."""
_MOST_CHARACTERS: Final = 8192


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks."""

    tenant: str
    subject: str
    """The issuer's name of the person or system."""
    scopes: frozenset[str]
    by_key: bool = False
    """By an API key: nobody signed in."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The token is not accepted."""

    rule: str
    message: str
    fix: str


_ANEW: Final = "Get a new token."
_MALFORMED: Final = Refused("malformed", "The token is no JSON Web Token.", _ANEW)
_NO_ISSUER: Final = Refused("issuer", "No issuer of tokens is configured.", "Ask who runs the API.")
_UNSIGNED: Final = Refused("signature", "No key of the issuer signed the token.", _ANEW)
_FAULTS: Final[Mapping[type[Exception], Refused]] = {
    UnsupportedAlgorithmError: Refused(
        "algorithm", "The token's kind of signature is not accepted.", "Ask the issuer for another."
    ),
    BadSignatureError: _UNSIGNED,
    InvalidKeyIdError: _UNSIGNED,
    ExpiredTokenError: Refused("expired", "The token has expired.", _ANEW),
}
_AUDIENCE: Final = Refused(
    "audience", "The token is for another audience.", "Ask the issuer for one for this API."
)
_CLAIMS: Final[Mapping[str, Refused]] = {
    "iss": Refused("issuer", "The token is of another issuer.", "Send a token of our issuer."),
    "aud": _AUDIENCE,
    "client_id": _AUDIENCE,
    "nonce": Refused("nonce", "The token answers another sign-in.", "Sign in anew."),
    "nbf": Refused("not-yet", "The token is not valid yet.", "Wait, or set the issuer's clock."),
    "iat": Refused("not-yet", "The token is from the future.", "Set the issuer's clock."),
}


class Bearers:
    """Reads API keys, and tokens of the one issuer; without one none of these is let in."""

    def __init__(
        self, keys: SigningKeys, api_keys: ApiKeys, clock: Clock, settings: Settings
    ) -> None:
        self._keys = keys
        self._api_keys = api_keys
        self._clock = clock
        self._settings = settings
        self._registry = JWSRegistry(algorithms=settings.oidc_algorithms, strict_check_header=False)

    def read(self, token: str) -> Caller | Refused:
        """Return whom *token* stands for, or why it is not accepted.

        Raises:
            ServiceDown: The issuer's keys can't be had.
            StoreUnavailable: The API keys can't be.
        """
        if token.startswith(PREFIX):
            return self._of_key(token)
        settings = self._settings
        audience = {settings.oidc_audience_claim: settings.oidc_audience}
        claims = self._claims(token, audience)
        return claims if isinstance(claims, Refused) else self._caller(claims)

    def _of_key(self, token: str) -> Caller | Refused:
        found = self._api_keys.read(token)
        if isinstance(found, Problem):
            return Refused(found.rule, found.message, found.fix)
        return Caller(found.customer, f"key:{found.key_id}", frozenset(found.scopes), by_key=True)

    def name(self, id_token: str, *, nonce: str) -> str | Refused:
        """Return what to call the person that signed in, by the token that answers *nonce*.

        Raises:
            ServiceDown: The issuer's keys can't be had.
        """
        client = self._settings.oidc_client_id
        claims = self._claims(id_token, {"aud": client, "nonce": nonce})
        if isinstance(claims, Refused):
            return claims
        if claims.get("azp", client) != client:
            return _AUDIENCE
        return str(claims.get("name") or claims.get("email") or claims.get("sub", ""))

    def _claims(self, token: str, wanted: Mapping[str, str]) -> Mapping[str, object] | Refused:
        """Return what an unexpired token of the issuer says, if it says what is *wanted*."""
        if not self._settings.oidc_issuer:
            return _NO_ISSUER
        header = _header(token)
        if header is None:
            return _MALFORMED
        key_id = header.get("kid")
        key_set = self._keys.key_set(having=key_id if isinstance(key_id, str) else None)
        try:
            claims = jwt.decode(token, _usable(key_set), registry=self._registry).claims
            self._claims_registry(wanted).validate(claims)
        except Exception as error:  # noqa: BLE001 - the boundary to a library that strangers feed.
            return _refusal(error)
        return claims

    def _claims_registry(self, said: Mapping[str, str]) -> jwt.JWTClaimsRegistry:
        wanted: dict[str, jwt.ClaimsOption] = {
            name: {"essential": True, "value": value} for name, value in said.items()
        }
        wanted["iss"] = {"essential": True, "value": self._settings.oidc_issuer}
        wanted["exp"] = {"essential": True}
        now = int(self._clock.now().timestamp())
        return jwt.JWTClaimsRegistry(now=now, leeway=int(LEEWAY.total_seconds()), **wanted)

    def _caller(self, claims: Mapping[str, object]) -> Caller | Refused:
        name = self._settings.oidc_tenant_claim
        tenant = claims.get(name)
        if not isinstance(tenant, str) or not ids.SLUG.fullmatch(tenant):
            sentence = f"The claim {name} names no tenant."
            return Refused("tenant", sentence, "Let the issuer put the tenant's name in.")
        return Caller(tenant, str(claims.get("sub", "")), self._scopes(claims))

    def _scopes(self, claims: Mapping[str, object]) -> frozenset[str]:
        """Return the scopes: one string (RFC 8693), or a list as some issuers send it."""
        said = claims.get("scope", claims.get("scp"))
        named: object = said.split() if isinstance(said, str) else said
        if not isinstance(named, list):
            return frozenset()
        prefix = self._settings.oidc_scope_prefix
        texts = map(str, cast("list[object]", named))
        return frozenset(text.removeprefix(prefix) for text in texts if text.startswith(prefix))


def _usable(key_set: Mapping[str, object]) -> KeySet:
    """Return those keys of an issuer that we can work with: one odd key spoils no other."""
    listed = key_set.get("keys")
    keys: list[Key] = []
    for said in cast("list[object]", listed) if isinstance(listed, list) else []:
        try:
            key = JWKRegistry.import_key(cast("dict[str, Any]", said))
            key.as_dict(private=False)  # What is read late fails here, and not with the tokens.
            _ = key.public_key
        except Exception:  # noqa: BLE001, S112 - the boundary to a library, as above.
            continue
        keys.append(key)
    return KeySet(keys)


def _refusal(error: Exception) -> Refused:
    if isinstance(error, MissingClaimError):
        sentence = f"The token lacks {error.claim}."
        return Refused("claim", sentence, "Let the issuer put it in.")
    if isinstance(error, InvalidClaimError):
        return _CLAIMS.get(error.claim, _MALFORMED)
    return _FAULTS.get(type(error), _MALFORMED)


def _header(token: str) -> Mapping[str, object] | None:
    """Return the token's header, which nothing has proved yet; None where it has none."""
    first, _, _ = token.partition(".")
    if len(token) > _MOST_CHARACTERS or token.count(".") != 2:  # noqa: PLR2004 - RFC 7515: three parts.
        return None
    try:
        said: object = json.loads(base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return cast("Mapping[str, object]", said) if isinstance(said, dict) else None
