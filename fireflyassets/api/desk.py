"""The desk: what every route works with, and who stands in front of it.

Belongs here: the bundle of ports, who may pass. Does not: routes, what a token says
(``tokens.py``).
"""

import secrets
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from threading import BoundedSemaphore, Lock
from typing import Annotated, Final, cast
from urllib.parse import urlsplit
from uuid import uuid4

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from fireflyassets.adapters.guarded_http import Guard
from fireflyassets.adapters.webhook_secrets import WebhookSecrets
from fireflyassets.api.campaign_reads import CampaignReads
from fireflyassets.api.problems import ProblemRaised, not_found, retry_after
from fireflyassets.api.reads import Buckets, KeptPages, Kind
from fireflyassets.api.seals import Seals
from fireflyassets.api.thumbnails import Thumbnails
from fireflyassets.api.tokens import Bearers, Caller, Refused
from fireflyassets.core import ids
from fireflyassets.core.api_key import Scope
from fireflyassets.core.errors import CampaignOutOfService
from fireflyassets.core.hosts import is_loopback
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.limiter.port import Limiter
from fireflyassets.ports.api_keys import ApiKeyStore
from fireflyassets.ports.backlog import Backlog
from fireflyassets.ports.campaign_store import CampaignStore
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import History
from fireflyassets.ports.guardrail import Guardrail
from fireflyassets.ports.keys import SigningKeys
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.metrics import MetricHistory
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.pictures import PictureReader
from fireflyassets.ports.queue import JobQueue
from fireflyassets.ports.webhooks import WebhookStore
from fireflyassets.settings import Settings
from fireflyassets.stages import causes
from fireflyassets.stages.admission import Admission
from fireflyassets.stages.api_keys import ApiKeys
from fireflyassets.stages.bench import UNTOUCHED
from fireflyassets.stages.endpoints import Endpoints
from fireflyassets.stages.holding import Holding
from fireflyassets.stages.intake import Intake
from fireflyassets.stages.outlook import Outlook
from fireflyassets.stages.pinning import Pins
from fireflyassets.stages.planning import Planning
from fireflyassets.stages.recall import Recalls
from fireflyassets.stages.replay import Replays
from fireflyassets.stages.retries import Retries
from fireflyassets.stages.review import Reviews
from fireflyassets.stages.showing import Showing
from fireflyassets.stages.steering import Steering
from fireflyassets.wave.asking import Asking
from fireflyassets.wave.assembly import LimitsOf
from fireflyassets.wave.endings import keeping

_BEARER: Final = HTTPBearer(
    auto_error=False,
    bearerFormat="JWT or API key",
    description="A token of the issuer that the operator names, which holds the tenant and scopes; "
    "or, for a system without OIDC, an API key, which begins with ffa_ and is made by "
    "POST /v1/api-keys or by the operator.",
)


_OF_ONE: Final = frozenset({"job_id", "endpoint_id", "delivery_id", "key_id"})
"""Names in the address of what is about one job; other reads may be about thousands."""
_MOST_UPLOADS: Final = 8
"""Pictures that are in hand or wait at a time: the server has threads for other requests."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports that the API needs."""

    ledger: JobLedger
    backlog: Backlog
    objects: ObjectStore
    queue: JobQueue
    catalogue: Catalogue
    clock: Clock
    pictures: PictureReader
    keys: SigningKeys
    api_keys: ApiKeyStore
    guardrail: Guardrail
    limits: LimitsOf
    limiter: Limiter
    webhooks: WebhookStore
    webhook_secrets: WebhookSecrets
    guard: Guard
    metrics: MetricHistory
    campaigns: CampaignStore


class Desk:
    """The ports with what the settings say about the door."""

    def __init__(self, ports: Ports, settings: Settings) -> None:
        self.ports = ports
        self.api_url = settings.api_url.rstrip("/")
        self.outlook = Outlook(
            ports.ledger,
            ports.backlog,
            ports.catalogue,
            ports.limiter,
            ports.limits,
            ports.clock,
        )
        self.intake = Intake(
            ports.ledger,
            ports.objects,
            ports.queue,
            ports.catalogue,
            ports.clock,
            ports.guardrail,
            Admission(self.outlook, settings.max_backlog),
        )
        self.asking = Asking(self.outlook)
        self.planning = Planning(self.intake, self.outlook)
        self.seals = Seals(settings.session_keys) if settings.session_keys else None
        self.thumbnails = Thumbnails(ports.ledger, ports.objects, ports.pictures)
        self._pins = Pins(ports.objects, ports.catalogue)
        keep = keeping(self._pins)
        self.steering = Steering(ports.ledger, ports.clock, keep)
        self.holding = Holding(ports.ledger, ports.objects, ports.clock)
        self.reviews = Reviews(ports.ledger, ports.clock, keep, lambda: uuid4().hex)
        self.showing = Showing(self.holding)
        self.recalls = Recalls(
            ports.ledger, ports.webhooks, ports.catalogue, self._pins, self.reviews
        )
        self.endpoints = Endpoints(ports.webhooks, ports.clock)
        self.topic_accounts = settings.webhook_topic_accounts
        self.api_keys = ApiKeys(ports.api_keys, ports.clock, secrets.token_hex)
        self.bearers = Bearers(ports.keys, self.api_keys, ports.clock, settings)
        self.buckets = Buckets(
            ports.clock,
            {
                Kind.LISTS: settings.lists_per_minute,
                Kind.READS: settings.reads_per_minute,
                Kind.WRITES: settings.writes_per_minute,
            },
        )
        self.pages = KeptPages(ports.clock)
        self.campaigns = CampaignReads(ports.backlog, self.planning, ports.clock)
        self.uploads = BoundedSemaphore(_MOST_UPLOADS)
        # One at a time: the largest takes half a gigabyte while it is converted.
        self.decoding = Lock()
        self.house_tenant = settings.house_tenant
        self._replays = settings.replays_per_job
        self.retries = Retries(self._pins, self._replays)

    def replays(self) -> Replays:
        """Return the use case of replays, for one look at their causes."""
        ports = self.ports
        needed = (ports.ledger, ports.objects, ports.catalogue, ports.limiter, ports.clock)
        return causes.replays(*needed, limit=self._replays)

    @cached_property
    def is_local(self) -> bool:
        """Say whether our public address is this machine itself."""
        return is_loopback(urlsplit(self.api_url).hostname)


def desk(request: Request) -> Desk:
    """Return the desk of the app that answers *request*."""
    return cast("Desk", request.app.state.desk)


AtDesk = Annotated[Desk, Depends(desk)]


_Given = Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]


def caller(request: Request, at: AtDesk, given: _Given, needed: SecurityScopes) -> Caller:
    """Return who asks, or refuse: 401 without a good token, 403 without the scopes *needed*.

    Raises:
        ProblemRaised: Those, and 429 for a tenant that asks too often.
    """
    if given is None:
        raise _unknown(Refused("bearer", "No token was sent.", "Send Authorization: Bearer …"))
    who = at.bearers.read(given.credentials)
    if isinstance(who, Refused):
        raise _unknown(who)
    missing = [scope for scope in needed.scopes if scope not in who.scopes]
    if missing:
        sentence = f"The token lacks the scope {' and '.join(missing)}."
        raise ProblemRaised(
            HTTPStatus.FORBIDDEN,
            sentence,
            Problem("Authorization", "scope", sentence, "Ask the issuer for one that has it."),
            headers={
                "WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{missing[0]}"'
            },
        )
    count(request, at, who.tenant)
    return who


def count(request: Request, at: Desk, tenant: str) -> None:
    """Count one ask of a tenant: the one place for routes of the API and of pages.

    Raises:
        ProblemRaised: 429, with how many seconds to wait.
    """
    kind = Kind.READS if request.method in {"GET", "HEAD"} else Kind.WRITES
    if kind is Kind.READS and not _OF_ONE & set(request.path_params):
        kind = Kind.LISTS
    wait = at.buckets.take(tenant, kind)
    if wait is not None:
        sentence = f"This tenant asks for {kind} more often than is allowed."
        fix = "Wait as long as Retry-After says; send briefs, read pages, and ask less often."
        raise ProblemRaised(
            HTTPStatus.TOO_MANY_REQUESTS,
            sentence,
            Problem("", "rate", sentence, fix),
            headers=retry_after(wait),
        )


def _unknown(why: Refused) -> ProblemRaised:
    return ProblemRaised(
        HTTPStatus.UNAUTHORIZED,
        "A valid bearer token is needed.",
        Problem("Authorization", why.rule, why.message, why.fix),
        headers={
            "WWW-Authenticate": f'Bearer error="invalid_token", error_description="{why.rule}"'
        },
    )


Reader = Annotated[Caller, Security(caller, scopes=[Scope.READ.value])]
Writer = Annotated[Caller, Security(caller, scopes=[Scope.WRITE.value])]
Operator = Annotated[Caller, Security(caller, scopes=[Scope.OPS.value])]
Reviewer = Annotated[Caller, Security(caller, scopes=[Scope.READ.value, Scope.REVIEW.value])]


def onlooker(request: Request, at: AtDesk, given: _Given) -> Caller | None:
    """Return who may see pictures, or None for the staff of a local stack, who see all.

    Pages of Dagster show our pictures without a token. That is allowed only where both our public
    address and the one who asks are this machine, and by that address alone: a name of somebody
    else's that resolves here would else let their page read them (DNS rebinding).
    """
    if (
        given is None
        and at.is_local
        and is_loopback(request.client.host if request.client else None)
        and request.headers.get("Host", "").lower() == urlsplit(at.api_url).netloc.lower()
    ):
        return None
    return caller(request, at, given, SecurityScopes([Scope.READ.value]))


Onlooker = Annotated[Caller | None, Depends(onlooker)]


def job_row(at: Desk, tenant: str, job_id: str) -> JobRow:
    """Return the tenant's own row; another tenant's is as absent as none."""
    found = at.ports.ledger.jobs(tenant, [job_id]) if ids.KEY.fullmatch(job_id) else {}
    if job_id not in found:
        raise not_found("There is no such job.", "job_id")
    return found[job_id]


def history_of(at: Desk, row: JobRow) -> History:
    """Return what was sent and made for a job; one that no wave has had is not asked for."""
    return UNTOUCHED if row.epoch == 0 else at.ports.ledger.history(row.job_id)


def require_campaign(at: Desk, tenant: str, campaign: str) -> None:
    """Return where there is such a campaign: one that is loaded, or that has jobs from before."""
    if not ids.SLUG.fullmatch(campaign):
        raise not_found("There is no such campaign.", "campaign")
    if not at.ports.ledger.campaign_page(tenant, campaign, after=None, most=1):
        # Raises where there is none; a campaign may also just be new, or out of service.
        with suppress(CampaignOutOfService):
            at.ports.catalogue.campaign(tenant, campaign)
