"""The door before every service: who calls, and may they.

Belongs here: the bearer token, the api key, the product and the scope, with the gateway's own
error codes. Does not belong here: limits and the meaning of a call.
"""

from dataclasses import dataclass
from datetime import datetime

from starlette.datastructures import Headers

from fireflyassets.twin.accounts import Account, Accounts, Grant
from fireflyassets.twin.endpoints import Family
from fireflyassets.twin.rejections import RejectionError, coded

# The scope without which a token is of no use to a family.
_NEEDED_SCOPE = {Family.FIREFLY: "firefly_api", Family.PHOTOSHOP: "openid"}


@dataclass(frozen=True, kw_only=True)
class Caller:
    """The account behind a call."""

    account: Account

    @property
    def organisation(self) -> str:
        """Return the organisation whose limits and records are used."""
        return self.account.organisation


def identify(accounts: Accounts, headers: Headers, family: Family, now: datetime) -> Caller:
    """Return who calls, or refuse as Adobe's gateway does."""
    grant = _granted(accounts, headers, now)
    api_key = headers.get("x-api-key", "")
    if not api_key:
        raise coded(403, "403000", "Api Key is required")
    account = accounts.find(api_key)
    if account is None or api_key != grant.client or family.value not in account.entitlements:
        raise coded(403, "403003", "Api Key is invalid")
    if _NEEDED_SCOPE[family] not in grant.scopes:
        raise _without_scope(family)
    return Caller(account=account)


def _granted(accounts: Accounts, headers: Headers, now: datetime) -> Grant:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise coded(401, "401013", "Oauth token is not valid")
    grant = accounts.read(token.strip())
    if grant is None:
        raise coded(401, "401013", "Oauth token is not valid")
    if not accounts.is_live(grant, now):
        raise coded(401, "401014", "Oauth token has expired")
    return grant


def _without_scope(family: Family) -> RejectionError:
    if family is Family.PHOTOSHOP:
        return coded(403, "unauthorized_forbidden", "The token lacks a required scope.")
    headers = {"x-access-error": "invalid_ims_scope"}
    return coded(403, "access_error", "The token lacks a required scope.", headers)
