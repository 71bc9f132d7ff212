"""Plans as a page: a brief is chosen, its plan is shown, and released.

Belongs here: HTML in front of the plans that the API makes. Does not: their rules.
"""

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api import plan_routes, plan_tokens
from fireflyassets.api.desk import AtDesk, require_campaign
from fireflyassets.api.pages.guard import Reading, Uploading, Writing
from fireflyassets.api.pages.shell import AtShell, page
from fireflyassets.api.problems import ProblemRaised
from fireflyassets.core.api_key import Scope
from fireflyassets.core.request import Problem

router: Final = APIRouter()

SHOWN: Final = 100
"""Refused rows that are shown; the API names all."""
_CHOOSE: Final = Problem("brief", "empty", "No file came.", "Choose a brief: a CSV.")


@router.get("/campaigns/{campaign}/plan")
def show_form(request: Request, at: AtDesk, who: Reading, campaign: str) -> Response:
    """Ask for a brief."""
    require_campaign(at, who.caller.tenant, campaign)
    values = {"campaign": campaign, "may_plan": Scope.WRITE in who.caller.scopes}
    return page(request, "plan.html", _EMPTY | values)


@router.post("/campaigns/{campaign}/plan")
def show_plan(request: Request, at: AtDesk, form: Uploading, campaign: str) -> Response:
    """Show what a brief would come to."""
    tenant = form.caller.tenant
    require_campaign(at, tenant, campaign)
    values: dict[str, object] = _EMPTY | {"campaign": campaign, "may_plan": True}
    content = form.fields.get("brief", "").encode("utf-8", "surrogateescape")
    if not content.strip():
        values["problems"] = (_CHOOSE,)
        return page(request, "plan.html", values, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        plan, token = plan_routes.planned(at, tenant, campaign, content, is_csv=True)
    except ProblemRaised as unreadable:
        values["problems"] = unreadable.problems
        return page(request, "plan.html", values, status=unreadable.status)
    shown = {
        "plan": plan,
        "token": token,
        "expires_at": plan.made_at + plan_tokens.LASTS,
        "refused": plan.problems[:SHOWN],
        "more": max(0, len(plan.problems) - SHOWN),
    }
    return page(request, "plan.html", values | shown)


@router.post("/campaigns/{campaign}/plan/release")
def release(request: Request, at: AtDesk, shell: AtShell, form: Writing, campaign: str) -> Response:
    """Release the plan that was shown."""
    tenant = form.caller.tenant
    require_campaign(at, tenant, campaign)
    try:
        told = plan_routes.released(at, tenant, form.fields.get("token", ""))
    except ProblemRaised as refused:
        values = {"campaign": campaign, "may_plan": True, "problems": refused.problems[:1]}
        return page(request, "plan.html", _EMPTY | values, status=refused.status)
    done = "release-part" if told["refused"] else "release"
    return RedirectResponse(f"{shell.root}/campaigns/{campaign}?done={done}", HTTPStatus.SEE_OTHER)


_EMPTY: Final[dict[str, object]] = {"plan": None, "problems": ()}
