"""Campaigns as pages: all of a tenant's, one of them with its jobs, and its three levers.

Belongs here: HTML in front of the reads and the steering that the API has. Does not: their rules.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api import answers, shapes
from fireflyassets.api.desk import AtDesk, Desk, require_campaign
from fireflyassets.api.pages import words
from fireflyassets.api.pages.guard import Operating, Reading, Submission
from fireflyassets.api.pages.shell import AtShell, Telling, Told, page
from fireflyassets.api.result_routes import campaign_sums, show_thumbnail
from fireflyassets.api.tokens import Caller
from fireflyassets.core.api_key import Scope
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem, reason_of
from fireflyassets.core.status import CLOSED, Status
from fireflyassets.ports.entries import Place

router: Final = APIRouter()

CAMPAIGNS: Final = 20
"""On one page; each is summed up over all its jobs."""
JOBS: Final = 50
LIVE_SECONDS: Final = 15
"""After so long a browser shows a page anew, where somebody asked for that."""
HELD: Final = "held"
"""Asked for like a status, though a hold is none."""
NEWEST: Final = "newest"
_DONE: Final = {
    "hold": "The campaign is on hold. What is in production goes on to its end.",
    "resume": "The campaign goes on. Its jobs are due at once.",
    "retry": "What ended by a fault that may pass is due again, as far as it helps now.",
    "retry-none": "Nothing was run again: no job can be now. Dead letters say what is waited for.",
    "release": "The plan is released. Its jobs appear here within a few seconds.",
    "release-part": "The plan is released without the rows that are refused. Its jobs appear here "
    "within a few seconds.",
    "cancel": "What waited is cancelled, and what is in production is being called back.",
}
_ADDED: Final = "The campaign is added. It appears here within ten seconds."
_UNSURE: Final = Problem(
    "sure", "confirm", "Nothing was cancelled.", "Tick the box to say that you mean it."
)
Cursor = Annotated[str | None, Query()]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which jobs of a campaign are shown, and in which order."""

    status: str = ""
    newest_first: bool = False
    live: bool = False
    """Asked for: a page that is shown anew unasked takes the place from under those who read."""

    def kept(self) -> dict[str, str]:
        """Return what further pages of the same are asked with."""
        said = {"status": self.status, "order": NEWEST if self.newest_first else ""}
        return {name: value for name, value in said.items() if value}


def choice(status: str = "", order: str = "", live: str = "") -> Choice:
    """Return what an address asks for; of what it does not know, nothing."""
    return Choice(status if status in {*Status, HELD} else "", order == NEWEST, live == "true")


Chosen = Annotated[Choice, Depends(choice)]


@dataclass(frozen=True, slots=True)
class Summary:
    """A campaign's sums with what a page shows beside them."""

    title: str
    sums: shapes.Campaign
    billed: Decimal
    possible: Decimal
    estimate: Decimal
    dead: int
    """Jobs that can be run again."""
    ended: int
    """Jobs for which nothing more is made."""
    finish_at: datetime | None
    counts: tuple[tuple[str, str, int], ...]
    """(status, label, jobs) of those that there are."""


@router.get("/campaigns")
def show_campaigns(
    request: Request, at: AtDesk, who: Reading, told: Telling, after: str = ""
) -> Response:
    """Show the tenant's campaigns in the order of their names."""
    names = [name for name in _names(at, who.caller.tenant) if name > after]
    shown = [_summary(at, who.caller.tenant, name) for name in names[:CAMPAIGNS]]
    more = names[CAMPAIGNS - 1] if len(names) > CAMPAIGNS else None
    values = {
        "campaigns": shown,
        "more": more,
        "done": _ADDED if told.done == "added" else None,
        "may_add": Scope.OPS in who.caller.scopes,
    }
    return page(request, "campaigns.html", values)


@router.get("/campaigns/{campaign}")
def show_campaign(
    request: Request,
    at: AtDesk,
    who: Reading,
    told: Telling,
    campaign: str,
    chosen: Chosen,
    cursor: Cursor = None,
) -> Response:
    """Show a campaign: how far it is, what it costs, its jobs, and its levers."""
    values = _campaign(at, who.caller, campaign, chosen, cursor)
    said = {"told": told, "done": _DONE.get(told.done)}
    headers = {"Refresh": str(LIVE_SECONDS)} if chosen.live else None
    return page(request, "campaign.html", values | said, headers=headers)


@router.get("/campaigns/{campaign}/jobs/{job_id}/pictures/{name}")
def show_picture(at: AtDesk, who: Reading, campaign: str, job_id: str, name: str) -> Response:
    """Show a small picture of a job."""
    return show_thumbnail(at, who.caller, who.caller.tenant, campaign, job_id, name)


@router.post("/campaigns/{campaign}/hold")
def hold(request: Request, at: AtDesk, shell: AtShell, form: Operating, campaign: str) -> Response:
    """Put the campaign on hold."""
    require_campaign(at, form.caller.tenant, campaign)
    reason = reason_of({"reason": form.fields.get("reason", "")})
    if isinstance(reason, tuple):
        return _again(request, at, form, campaign, reason)
    at.steering.hold(form.caller.tenant, campaign, reason=reason, by=form.caller.subject)
    at.campaigns.moved(form.caller.tenant, campaign)
    return _done(shell.root, campaign, "hold")


@router.post("/campaigns/{campaign}/resume")
def resume(at: AtDesk, shell: AtShell, form: Operating, campaign: str) -> Response:
    """Let the campaign go on."""
    require_campaign(at, form.caller.tenant, campaign)
    at.steering.resume(form.caller.tenant, campaign)
    at.campaigns.moved(form.caller.tenant, campaign)
    return _done(shell.root, campaign, "resume")


@router.post("/campaigns/{campaign}/cancel")
def cancel(
    request: Request, at: AtDesk, shell: AtShell, form: Operating, campaign: str
) -> Response:
    """Cancel all that is not done, once the person has said that it is meant."""
    require_campaign(at, form.caller.tenant, campaign)
    if form.fields.get("sure") != "yes":
        return _again(request, at, form, campaign, (_UNSURE,))
    at.steering.cancel_all(form.caller.tenant, campaign, by=form.caller.subject)
    at.campaigns.moved(form.caller.tenant, campaign)
    return _done(shell.root, campaign, "cancel")


def _done(root: str, campaign: str, what: str) -> Response:
    return RedirectResponse(f"{root}/campaigns/{campaign}?done={what}", HTTPStatus.SEE_OTHER)


def _again(
    request: Request, at: Desk, form: Submission, campaign: str, problems: tuple[Problem, ...]
) -> Response:
    """Show the page anew with what is wrong, and what was typed."""
    values = _campaign(at, form.caller, campaign, Choice(), None)
    told = Told(problems, form.fields)
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return page(request, "campaign.html", values | {"told": told, "done": None}, status=status)


def _names(at: Desk, tenant: str) -> list[str]:
    """Return the tenant's campaigns: those in service, and those whose files can't be used now."""
    catalogue = at.ports.catalogue
    broken = (slug for bad in catalogue.quarantined() for slug in bad.campaigns)
    slugs = {*catalogue.campaigns(), *broken}
    owned = (slug.partition("/") for slug in slugs)
    return sorted(name for owner, _, name in owned if owner == tenant)


def _summary(at: Desk, tenant: str, name: str) -> Summary:
    sums = campaign_sums(at, tenant, name)
    finish = sums["expectedFinish"]
    known = at.ports.catalogue.campaigns().get(f"{tenant}/{name}")
    by_status = {status: sums["byStatus"][status.value] for status in Status}
    return Summary(
        title=known.config.title if known else name,
        sums=sums,
        billed=Decimal(sums["costActual"]),
        possible=Decimal(sums["costPossible"]),
        estimate=Decimal(sums["costEstimate"]),
        finish_at=datetime.fromisoformat(finish) if finish else None,
        dead=by_status[Status.DLQ],
        ended=sum(by_status[status] for status in CLOSED),
        counts=tuple(_counts(sums)),
    )


def _counts(sums: shapes.Campaign) -> Iterator[tuple[str, str, int]]:
    """Yield how many jobs there are of each kind; held ones wait, and are no others."""
    held = sums["held"]
    by_status = {**sums["byStatus"], Status.QUEUED.value: sums["byStatus"]["queued"] - held}
    found = [(one.value, words.LABELS[one], by_status[one.value]) for one in Status]
    found.insert(1, (HELD, words.ON_HOLD, held))
    return (one for one in found if one[-1])


def _rows(
    at: Desk, tenant: str, campaign: str, chosen: Choice, after: Place | None
) -> list[JobRow]:
    """Return a page of jobs."""
    is_held = chosen.status == HELD
    return at.ports.ledger.campaign_page(
        tenant,
        campaign,
        after=after,
        status=Status(chosen.status) if chosen.status and not is_held else None,
        is_held=is_held,
        most=JOBS,
        newest_first=chosen.newest_first,
    )


def _campaign(
    at: Desk, who: Caller, campaign: str, chosen: Choice, cursor: str | None
) -> dict[str, object]:
    after = answers.place(cursor, tenant=who.tenant, campaign=campaign) if cursor else None
    require_campaign(at, who.tenant, campaign)
    rows = _rows(at, who.tenant, campaign, chosen, after)
    behind = {"cursor": answers.cursor(rows[-1])} if len(rows) == JOBS else {}
    kept = chosen.kept()
    return {
        "campaign": _summary(at, who.tenant, campaign),
        "jobs": [words.line(row, who) for row in rows],
        "chosen": chosen,
        "kept": urlencode(kept),
        "labels": [(one.value, label) for one, label in words.LABELS.items()]
        + [(HELD, words.ON_HOLD)],
        "is_first": after is None,
        "more": urlencode({**kept, **behind}) if behind else None,
        "may_steer": Scope.OPS in who.scopes,
        "may_review": Scope.REVIEW in who.scopes,
        "planned": at.campaigns.planned(who.tenant, campaign),
    }
