"""An OpenID Connect provider over HTTP: where it signs people in, and its tokens for a code.

Belongs here: discovery of two addresses, the token request, its bounds. Does not: the provider's
keys (``key_sets.py``), what a token says (``api/tokens.py``).
"""

import base64
from collections.abc import Mapping
from threading import Lock
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

import httpx

from fireflyassets.adapters.key_sets import DISCOVERY, is_trusted, json_object
from fireflyassets.core.errors import ServiceDown
from fireflyassets.ports.sign_in import Asked, Denied, Granted, SignIn
from fireflyassets.settings import Settings

_TIMEOUT_SECONDS: Final = 10.0
_MOST_BYTES: Final = 1_000_000
_BY_POST: Final = "client_secret_post"
_BY_HEADER: Final = "client_secret_basic"


class OidcProvider(SignIn):
    """The provider that the settings name. Safe to share by threads."""

    def __init__(self, settings: Settings, transport: httpx.BaseTransport | None = None) -> None:
        self._settings = settings
        self._transport = transport
        self._lock = Lock()
        self._discovered: Mapping[str, object] | None = None

    def address(self, asked: Asked) -> str:
        """Return the authorisation request (OpenID Connect Core 1.0, 3.1.2.1) as an address."""
        settings = self._settings
        fields = {
            **settings.oidc_login_parameters,
            "response_type": "code",
            "client_id": settings.oidc_client_id,
            "redirect_uri": asked.back_to,
            "scope": settings.oidc_login_scope,
            "state": asked.state,
            "nonce": asked.nonce,
            "code_challenge": asked.challenge,
            "code_challenge_method": "S256",
        }
        base = settings.oidc_authorize_url or self._endpoint("authorization_endpoint")
        if not is_trusted(base):
            raise ServiceDown("The provider's address for signing in is not https.")
        return f"{base}{'&' if urlsplit(base).query else '?'}{urlencode(fields)}"

    def redeem(self, code: str, *, verifier: str, back_to: str) -> Granted | Denied:
        """Give a code for its tokens (RFC 6749, 4.1.3)."""
        base = self._settings.oidc_token_url or self._endpoint("token_endpoint")
        if not is_trusted(base):
            raise ServiceDown("The provider's address for tokens is not https.")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back_to,
            "code_verifier": verifier,
            "client_id": self._settings.oidc_client_id,
        }
        try:
            with self._client() as client:
                answer = client.post(base, data=form | self._in_form(), headers=self._in_header())
            said = json_object(answer.content[:_MOST_BYTES])
        except (httpx.HTTPError, ValueError) as error:
            raise ServiceDown("The provider's answer to a sign-in can't be read.") from error
        if not answer.is_success:
            return Denied(str(said.get("error", answer.status_code))[:80])
        return Granted(str(said.get("id_token", "")), str(said.get("access_token", "")))

    def _client(self) -> httpx.Client:
        """Return a client for one request: people sign in too seldom to keep a connection."""
        return httpx.Client(timeout=_TIMEOUT_SECONDS, transport=self._transport)

    def _in_form(self) -> dict[str, str]:
        secret = self._settings.oidc_client_secret
        return {"client_secret": secret.get_secret_value()} if secret and self._wants_post() else {}

    def _in_header(self) -> dict[str, str]:
        secret = self._settings.oidc_client_secret
        if secret is None or self._wants_post():
            return {}
        # RFC 6749, 2.3.1: both are form-encoded first.
        parts = (self._settings.oidc_client_id, secret.get_secret_value())
        said = ":".join(quote(part, safe="") for part in parts)
        return {"Authorization": f"Basic {base64.b64encode(said.encode()).decode()}"}

    def _wants_post(self) -> bool:
        """Say whether the provider takes the secret in the form alone; a header is the rule."""
        said = (self._discovered or {}).get("token_endpoint_auth_methods_supported")
        return isinstance(said, list) and _BY_POST in said and _BY_HEADER not in said

    def _endpoint(self, name: str) -> str:
        with self._lock:
            if self._discovered is None:
                self._discovered = self._discover()
            found = self._discovered.get(name)
        if not isinstance(found, str):
            raise ServiceDown(f"The provider's discovery document has no {name}.")
        return found

    def _discover(self) -> Mapping[str, object]:
        issuer = self._settings.oidc_issuer
        try:
            with self._client() as client:
                answer = client.get(f"{issuer.rstrip('/')}{DISCOVERY}")
            answer.raise_for_status()
            said = json_object(answer.content[:_MOST_BYTES])
        except (httpx.HTTPError, ValueError) as error:
            raise ServiceDown("The identity provider does not answer.") from error
        if said.get("issuer") != issuer:
            raise ServiceDown("The discovery document is another issuer's.")
        return said
