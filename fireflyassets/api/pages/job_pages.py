"""A job as a page: how it stands and why, what was asked, what was made, what it cost.

Belongs here: HTML in front of the reads and the steering that the API has. Does not: their rules.
"""

from decimal import Decimal
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api.desk import AtDesk, Desk, history_of, job_row
from fireflyassets.api.pages import words
from fireflyassets.api.pages.guard import Operating, Reading, Submission, Writing
from fireflyassets.api.pages.shell import AtShell, Telling, Told, page
from fireflyassets.api.result_routes import hand_out
from fireflyassets.api.tokens import Caller
from fireflyassets.core import manifest
from fireflyassets.core.api_key import Scope
from fireflyassets.core.job import JobRequest, JobRow
from fireflyassets.core.money import Cost
from fireflyassets.core.request import Problem, reason_of
from fireflyassets.core.status import ENDED, Status, may_move
from fireflyassets.core.why import Why
from fireflyassets.ports.entries import History
from fireflyassets.stages import notify
from fireflyassets.stages.steering import Cancelling, Kept

router: Final = APIRouter()

_DONE: Final = {
    "cancel": "The job is cancelled. What was billed for it until then stays booked.",
    "cancelling": (
        "The job is in production and is being cancelled: its calls at Adobe are called back. "
        "What is billed all the same stays booked."
    ),
    "resume": "The job goes on after its last finished step.",
    "resubmitted": "This is the new job. The old one stays as it ended.",
}
MENDABLE: Final = frozenset({Status.REVIEW, Status.FAILED, Status.CANCELLED})
"""What ended for good under its key; it can be sent again under another one."""


@router.get("/jobs/{job_id}")
def show_job(request: Request, at: AtDesk, who: Reading, told: Telling, job_id: str) -> Response:
    """Show a job."""
    return _page(request, at, who.caller, job_row(at, who.caller.tenant, job_id), told)


@router.get("/jobs/{job_id}/outputs/{aspect}")
def show_output(at: AtDesk, who: Reading, job_id: str, aspect: str) -> Response:
    """Send the browser to a rendition, as the API does."""
    return hand_out(at, who.caller, job_id, aspect)


@router.post("/jobs/{job_id}/cancel")
def cancel(request: Request, at: AtDesk, shell: AtShell, form: Writing, job_id: str) -> Response:
    """Cancel the job; one that is in production is ended by its wave."""
    row = job_row(at, form.caller.tenant, job_id)
    told = at.steering.cancel(row, by=form.caller.subject)
    if isinstance(told, Kept):
        return _kept(request, at, form, job_id, told)
    return _done(shell.root, job_id, "cancelling" if isinstance(told, Cancelling) else "cancel")


@router.post("/jobs/{job_id}/resume")
def resume(request: Request, at: AtDesk, shell: AtShell, form: Operating, job_id: str) -> Response:
    """Let a held job go on."""
    row = job_row(at, form.caller.tenant, job_id)
    reason = reason_of({"reason": form.fields.get("reason", "")})
    if isinstance(reason, tuple):
        return shown_again(request, at, form, row, reason, HTTPStatus.UNPROCESSABLE_ENTITY)
    told = at.steering.let_go_on(row, by=form.caller.subject, why=reason)
    if isinstance(told, Kept):
        return _kept(request, at, form, job_id, told)
    return _done(shell.root, job_id, "resume")


def _done(root: str, job_id: str, what: str) -> Response:
    return RedirectResponse(f"{root}/jobs/{job_id}?done={what}", HTTPStatus.SEE_OTHER)


def _kept(request: Request, at: Desk, form: Submission, job_id: str, why: Kept) -> Response:
    """Show the job as it is by now, and why it was left so."""
    row = job_row(at, form.caller.tenant, job_id)
    problem = Problem("", "status", why.reason, why.fix)
    return shown_again(request, at, form, row, (problem,), HTTPStatus.CONFLICT)


def shown_again(
    request: Request,
    at: Desk,
    form: Submission,
    row: JobRow,
    problems: tuple[Problem, ...],
    status: HTTPStatus,
) -> Response:
    """Show a job with what is wrong with the form that was sent, and what was typed in it."""
    told = Told(problems, form.fields)
    return _page(request, at, form.caller, row, told, status=status)


def _page(
    request: Request,
    at: Desk,
    who: Caller,
    row: JobRow,
    told: Told,
    *,
    status: HTTPStatus = HTTPStatus.OK,
) -> Response:
    history = history_of(at, row)
    is_over = row.status in ENDED
    values = {
        "told": told,
        "done": _DONE.get(told.done),
        "job": words.line(row, who),
        "why": _why(at, row),
        "asked": asked_of(at, row),
        "may_resubmit": Scope.WRITE in who.scopes and row.status in MENDABLE,
        "cost": _cost(row, history),
        "retries": at.retries.of(row, history),
        "is_over": is_over,
        "is_published": notify.is_published(row),
        "may_cancel": Scope.WRITE in who.scopes
        and row.cancel is None
        and may_move(row.status, Status.CANCELLED),
        "may_review": Scope.REVIEW in who.scopes and row.status is Status.SUCCEEDED,
        "may_resume": Scope.OPS in who.scopes and row.hold is not None and not is_over,
    }
    return page(request, "job.html", values, status=status)


def _why(at: Desk, row: JobRow) -> Why | None:
    """Return what holds a job; None of one that has ended, whose reason says all."""
    return None if row.status in ENDED else at.asking.why(row)


def _cost(row: JobRow, history: History) -> Cost:
    """Return what an ended job came to, as everywhere; before, what was booked for it so far."""
    if row.cost_actual is None:
        return history.cost
    return Cost(row.cost_actual, row.cost_possible or Decimal(0))


def asked_of(at: Desk, row: JobRow) -> JobRequest | None:
    """Return what the customer asked for; None where its manifest is gone."""
    place = manifest.place(row.input_manifest)
    content = at.ports.objects.get(place.key, part=place.part)
    return manifest.load(content) if content else None
