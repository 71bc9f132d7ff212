"""What people do about jobs that failed: send one again in other words, run a campaign's again.

Belongs here: HTML in front of intake and replays. Does not: their rules.
"""

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api.desk import AtDesk, Desk, job_row, require_campaign
from fireflyassets.api.pages.guard import Operating, Submission, Writing
from fireflyassets.api.pages.job_pages import asked_of, shown_again
from fireflyassets.api.pages.shell import AtShell
from fireflyassets.core.brief import Row
from fireflyassets.core.job import JobRequest, JobRow
from fireflyassets.core.request import Problem, RawRequest
from fireflyassets.ports.entries import Duplicate, Recorded
from fireflyassets.stages.budgeting import Unaffordable
from fireflyassets.stages.intake import Answer, Invalid, conflict
from fireflyassets.stages.replay import Choice

router: Final = APIRouter()
MOST: Final = 500
"""Jobs that one press of a button runs again."""
_GONE: Final = Problem("", "status", "Its request is no longer kept.", "Send the job anew.")


@router.post("/jobs/{job_id}/resubmit")
def resubmit(request: Request, at: AtDesk, shell: AtShell, form: Writing, job_id: str) -> Response:
    """Send a job again in other words: another job, under another key, priced and reserved anew."""
    row = job_row(at, form.caller.tenant, job_id)
    asked = asked_of(at, row)
    if asked is None:
        return shown_again(request, at, form, row, (_GONE,), HTTPStatus.CONFLICT)
    told = _sent(at, row, asked, form)
    if isinstance(told, Recorded | Duplicate):
        made = f"{shell.root}/jobs/{told.row.job_id}?done=resubmitted"
        return RedirectResponse(made, HTTPStatus.SEE_OTHER)
    return shown_again(request, at, form, row, _problems(told), HTTPStatus.UNPROCESSABLE_ENTITY)


@router.post("/campaigns/{campaign}/retry")
def retry(at: AtDesk, shell: AtShell, form: Operating, campaign: str) -> Response:
    """Run again what ended by a fault that may pass, by the rules of every replay."""
    tenant = form.caller.tenant
    require_campaign(at, tenant, campaign)
    replays = at.replays()
    choice = Choice(customer=tenant, campaign=f"{tenant}/{campaign}")
    plan = [one for one in replays.plan(choice, most=MOST) if one.goes]
    went = replays.go(plan, by=form.caller.subject, why="asked for on the campaign's page")
    at.campaigns.moved(tenant, campaign)
    done = "retry" if sum(one.done for one in went) else "retry-none"
    return RedirectResponse(f"{shell.root}/campaigns/{campaign}?done={done}", HTTPStatus.SEE_OTHER)


def _sent(at: Desk, row: JobRow, asked: JobRequest, form: Submission) -> Answer:
    """Let intake have the request as it is mended; what was not changed stays as it was."""
    typed = form.fields
    raw = RawRequest(
        key=typed.get("key", ""),
        prompt=typed.get("prompt", asked.prompt),
        locale=asked.locale,
        headline=typed.get("headline", asked.headline),
        aspects=asked.aspects,
        reference=asked.reference.key.rpartition("/")[2] if asked.reference else "",
    )
    (answer,) = at.intake.accept(
        [Row(None, raw)], customer=row.customer_id, campaign=row.campaign_id
    )
    return answer


def _problems(told: Answer) -> tuple[Problem, ...]:
    if isinstance(told, Invalid):
        return told.problems
    if isinstance(told, Unaffordable):
        return (told.problem(),)
    return (conflict(),)
