"""The form for a new campaign.

Belongs here: HTML in front of ``stages/adding.py``. Does not: its rules.
A campaign begins from another one of the customer, which gives it recipe, template and credential:
documents and recipes are made by designers, in files.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api.desk import AtDesk, Desk
from fireflyassets.api.pages.guard import Operating, Supervising
from fireflyassets.api.pages.shell import AtShell, page
from fireflyassets.core.campaign import CampaignConfig, Retention, ReviewMode
from fireflyassets.core.priority import Priority
from fireflyassets.core.request import Problem
from fireflyassets.ports.campaign_store import Added, NameTaken
from fireflyassets.stages import adding

router: Final = APIRouter()
_LISTS: Final = ("locales", "aspects")
_PLAIN: Final = ("campaign", "title", "budget", "priority", "review", "retention")


@router.get("/new-campaign")
def show_form(request: Request, at: AtDesk, who: Supervising, like: str = "") -> Response:
    """Show the form, begun from a campaign of the tenant."""
    known = _known(at, who.caller.tenant)
    begun = known.get(like) or next(iter(known.values()), None)
    return _form(request, known, begun, _first(begun) if begun else {}, ())


@router.post("/new-campaign/add")
def add(request: Request, at: AtDesk, shell: AtShell, form: Operating) -> Response:
    """Add the campaign, or show the form anew with what is wrong and what was typed."""
    tenant, ports, typed = form.caller.tenant, at.ports, form.fields
    known = _known(at, tenant)
    answer = adding.add(
        ports.campaigns,
        ports.catalogue,
        ports.clock,
        customer=tenant,
        said=_said(typed),
        like=typed.get("like"),
    )
    if isinstance(answer, Added):
        return RedirectResponse(f"{shell.root}/campaigns?done=added", HTTPStatus.SEE_OTHER)
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    if isinstance(answer, NameTaken):
        answer, status = (adding.name_taken(typed.get("campaign", "")),), HTTPStatus.CONFLICT
    begun = known.get(typed.get("like", ""))
    return _form(request, known, begun, typed, answer, status=status)


def _form(
    request: Request,
    known: Mapping[str, CampaignConfig],
    begun: CampaignConfig | None,
    typed: Mapping[str, str],
    problems: tuple[Problem, ...],
    *,
    status: HTTPStatus = HTTPStatus.OK,
) -> Response:
    values = {
        "known": known,
        "begun": begun,
        "typed": typed,
        "problems": problems,
        "wrong": {one.field.partition(".")[0] for one in problems},
        "priorities": [one.value for one in Priority],
        "reviews": [one.value for one in ReviewMode],
        "retentions": [one.value for one in Retention],
    }
    return page(request, "new-campaign.html", values, status=status)


def _known(at: Desk, tenant: str) -> dict[str, CampaignConfig]:
    """Return the tenant's campaigns that can be begun from, by name."""
    found = at.ports.catalogue.campaigns().values()
    mine = (one.config for one in found if one.config.customer == tenant)
    return {config.campaign: config for config in sorted(mine, key=lambda one: one.campaign)}


def _first(begun: CampaignConfig) -> dict[str, str]:
    """Return what the form shows before anybody has typed."""
    return {
        "locales": ", ".join(begun.locales),
        "aspects": ", ".join(begun.aspects),
        "priority": begun.priority.value,
        "review": begun.review.value,
        "retention": begun.retention.value,
    }


def _said(typed: Mapping[str, str]) -> dict[str, object]:
    """Return a form's fields as a campaign's file says them; what was left empty is not said."""
    filled = {name: text.strip() for name, text in typed.items() if text.strip()}
    said: dict[str, object] = {name: filled[name] for name in _PLAIN if name in filled}
    for name in _LISTS:
        if name in filled:
            said[name] = [part.strip() for part in filled[name].split(",") if part.strip()]
    if "deadline" in filled:
        said["deadline"] = _in_utc(filled["deadline"])
    return said


def _in_utc(text: str) -> str:
    """Return what a browser's field for times sends as the instant in UTC that it is labelled."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).isoformat()
    except ValueError:
        return text  # The campaign's own rule says what is wrong.
