"""The desk: what every route works with, and who stands in front of it.

Belongs here: the bundle of ports, bearer tokens to tenants. Does not: routes.
"""

import hashlib
import hmac
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from ipaddress import ip_address
from typing import Annotated, Final, cast
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from fireflyassets.api.problems import ProblemRaised
from fireflyassets.api.thumbnails import Thumbnails
from fireflyassets.core.request import Problem
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.pictures import PictureReader
from fireflyassets.ports.queue import JobQueue
from fireflyassets.settings import Settings
from fireflyassets.stages.intake import Intake

_BEARER: Final = HTTPBearer(auto_error=False, description="One token for each tenant.")


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports that the API needs."""

    ledger: JobLedger
    objects: ObjectStore
    queue: JobQueue
    catalogue: Catalogue
    clock: Clock
    pictures: PictureReader


class Desk:
    """The ports with what the settings say about the door."""

    def __init__(self, ports: Ports, settings: Settings) -> None:
        self.ports = ports
        self.api_url = settings.api_url.rstrip("/")
        self.intake = Intake(ports.ledger, ports.objects, ports.queue, ports.catalogue, ports.clock)
        self.thumbnails = Thumbnails(ports.ledger, ports.objects, ports.pictures)
        self._tenants = {_digest(token): who for token, who in settings.api_tokens.items()}

    def tenant_of(self, token: str) -> str | None:
        """Return whose *token* it is, in a time that tells nothing about the known ones."""
        given = _digest(token)
        found = None
        for known, tenant in self._tenants.items():
            if hmac.compare_digest(known, given):
                found = tenant
        return found

    @cached_property
    def is_local(self) -> bool:
        """Say whether our public address is this machine itself."""
        return _is_loopback(urlsplit(self.api_url).hostname)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False


def desk(request: Request) -> Desk:
    """Return the desk of the app that answers *request*."""
    return cast("Desk", request.app.state.desk)


AtDesk = Annotated[Desk, Depends(desk)]


def tenant(
    at: AtDesk, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> str:
    """Return the tenant of the request's bearer token, or refuse it with 401."""
    who = at.tenant_of(given.credentials) if given else None
    if who is None:
        raise ProblemRaised(
            HTTPStatus.UNAUTHORIZED,
            "A valid bearer token is needed.",
            Problem("Authorization", "bearer", "No known token.", "Send Authorization: Bearer …"),
            headers={"WWW-Authenticate": "Bearer"},
        )
    return who


Tenant = Annotated[str, Depends(tenant)]


def onlooker(
    request: Request,
    at: AtDesk,
    given: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
) -> str | None:
    """Return the tenant who may see pictures, or None for the staff of a local stack: all.

    Pages of Dagster show our pictures without a token. That is allowed only where both our public
    address and the one who asks are this machine.
    """
    if (
        given is None
        and at.is_local
        and _is_loopback(request.client.host if request.client else None)
    ):
        return None
    return tenant(at, given)


Onlooker = Annotated[str | None, Depends(onlooker)]
