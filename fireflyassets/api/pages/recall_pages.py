"""Recalls as a page: what would be hit and where it was delivered, then taking it out of use.

Belongs here: HTML in front of ``stages/recall.py``. Does not: its rules.
"""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fireflyassets.api.desk import AtDesk, Desk
from fireflyassets.api.pages.guard import Operating, Supervising
from fireflyassets.api.pages.shell import page
from fireflyassets.core.request import Problem, reason_of
from fireflyassets.stages.recall import Hit, Wanted

router: Final = APIRouter()

SHOWN: Final = 100
"""Jobs that are named; the count is of all."""
FIELDS: Final = ("campaign", "template", "model", "job", "since")
_UNSURE: Final = Problem(
    "sure", "confirm", "Nothing was recalled.", "Tick the box if it is meant, and send it again."
)
_ALL: Final = Problem(
    "template", "empty", "All is never meant.", "Name a template, a model, a job or a time."
)
_NO_TIME: Final = Problem(
    "since", "time", "That is no time with its zone.", "Write it as 2026-12-01T03:30:00Z."
)


@router.get("/recall")
def show_recall(request: Request, at: AtDesk, who: Supervising) -> Response:
    """Ask what is to be recalled, and show what that would hit."""
    return _page(request, at, who.caller.tenant, dict(request.query_params))


@router.post("/recall/go")
def recall(request: Request, at: AtDesk, form: Operating) -> Response:
    """Recall what was shown, once the person has said that it is meant, and why."""
    said, tenant = form.fields, form.caller.tenant
    reason = reason_of({"reason": said.get("reason", "")})
    wanted = _wanted(tenant, said)
    problems = reason if isinstance(reason, tuple) else ()
    problems += () if said.get("sure") == "yes" else (_UNSURE,)
    if isinstance(wanted, Problem):
        problems = (wanted, *problems)
    if problems or isinstance(wanted, Problem) or isinstance(reason, tuple):
        return _page(request, at, tenant, said, problems)
    done, refused = at.recalls.go(at.recalls.find(wanted), by=form.caller.subject, why=reason)
    at.showing.tag(done)
    return _page(request, at, tenant, said, told=(len(done), len(refused)))


def _wanted(tenant: str, said: Mapping[str, str]) -> Wanted | Problem:
    """Return what a form means; at least one thing beside the campaign is named."""
    campaign, template, model, job, since = (said.get(one, "").strip() or None for one in FIELDS)
    if not (template or model or job or since):
        return _ALL
    if since is None:
        return Wanted(tenant, campaign, template, model, job)
    try:
        at = datetime.fromisoformat(since)
    except ValueError:
        return _NO_TIME
    return Wanted(tenant, campaign, template, model, job, at) if at.tzinfo else _NO_TIME


def _page(
    request: Request,
    at: Desk,
    tenant: str,
    said: Mapping[str, str],
    problems: tuple[Problem, ...] = (),
    told: tuple[int, int] | None = None,
) -> Response:
    is_asked = any(said.get(one) for one in FIELDS)
    wanted = _wanted(tenant, said) if is_asked else _ALL
    hits: list[Hit] = []
    if isinstance(wanted, Wanted):
        hits = at.recalls.find(wanted)
    elif is_asked and not problems:
        problems = (wanted,)
    values = {
        "problems": problems,
        "typed": {one: said.get(one, "") for one in (*FIELDS, "reason")},
        "is_asked": isinstance(wanted, Wanted),
        "hits": hits[:SHOWN],
        "count": len(hits),
        "told": told,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK
    return page(request, "recall.html", values, status=status)
