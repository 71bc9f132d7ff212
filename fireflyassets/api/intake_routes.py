"""Routes that take jobs in. Here: HTTP in front of ``stages/intake.py``. Not here: its rules."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse

from fireflyassets.api import description, shapes
from fireflyassets.api.bodies import (
    CSV,
    JSON,
    JSON_LINES,
    BriefBody,
    JobBody,
    json_fields,
    media_type,
)
from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Writer
from fireflyassets.api.problems import ProblemRaised, retry_after
from fireflyassets.core import ids, schemas
from fireflyassets.core.brief import Brief, Row
from fireflyassets.core.request import KEY_FIELD, Problem, RawRequest, raw_request
from fireflyassets.ports.entries import Conflict, Recorded
from fireflyassets.stages import planning
from fireflyassets.stages.admission import Overload, Overloaded
from fireflyassets.stages.budgeting import Unaffordable
from fireflyassets.stages.intake import (
    Answer,
    Invalid,
    Priced,
    Withheld,
    conflict,
    problems_of,
)

router: Final = APIRouter()

_SEND_A_KEY: Final = (
    f"Send {KEY_FIELD}, or the header Idempotency-Key: 1-64 of A-Z a-z 0-9 _ -; best a UUID."
)

DryRun = Annotated[
    Literal["true", "false"],
    Query(description="Tell what it would cost, and what is wrong with it; write nothing."),
]
_PRICED: Final[description.Responses] = {
    HTTPStatus.OK.value: {"model": shapes.Estimate, "description": "Of a dry run."}
}
_REFUSALS: Final = refusals(
    HTTPStatus.PAYMENT_REQUIRED,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.CONFLICT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)


@router.post(
    "/v1/jobs",
    status_code=HTTPStatus.ACCEPTED,
    response_model=shapes.Job,
    responses={
        **_PRICED,
        HTTPStatus.ACCEPTED: {
            "headers": description.headers(Location="Where it tells how it stands.")
        },
        **_REFUSALS,
    },
    openapi_extra={"requestBody": {"required": True, "content": {JSON: {"schema": schemas.JOB}}}},
)
def accept_job(
    at: AtDesk,
    who: Writer,
    body: JobBody,
    idempotency_key: Annotated[str | None, Header()] = None,
    dry_run: DryRun = "false",
) -> Response:
    """Accept one job. The same request under the same key is the same job, however often sent."""
    campaign, raw = _job(body, idempotency_key)
    rows = [Row(None, raw)]
    (answer,) = at.intake.accept(
        rows, customer=who.tenant, campaign=campaign, dry_run=dry_run == "true"
    )
    if isinstance(answer, Invalid):
        raise ProblemRaised(
            HTTPStatus.UNPROCESSABLE_ENTITY, "The job was not accepted.", *answer.problems
        )
    if isinstance(answer, Unaffordable):
        problem = answer.problem()
        raise ProblemRaised(HTTPStatus.PAYMENT_REQUIRED, "The job was not accepted.", problem)
    if isinstance(answer, Overloaded):
        raise too_many(answer.over, "The job was not accepted.", answer.problem())
    if isinstance(answer, Conflict | Withheld):
        raise ProblemRaised(HTTPStatus.CONFLICT, "The job was not accepted.", conflict())
    if dry_run == "true":
        return JSONResponse(shapes.estimate(campaign, rows, [answer], [], api_url=at.api_url))
    told = shapes.job(answer.row, api_url=at.api_url)
    return JSONResponse(told, HTTPStatus.ACCEPTED, headers={"Location": str(told["url"])})


@router.post(
    "/v1/jobs:batch",
    status_code=HTTPStatus.ACCEPTED,
    response_model=shapes.Batch,
    responses=_PRICED | _REFUSALS,
    openapi_extra=description.BRIEF,
)
def accept_brief(
    request: Request,
    at: AtDesk,
    who: Writer,
    body: BriefBody,
    campaign: Annotated[str, Query(pattern=f"^{ids.SLUG.pattern}$")],
    partial: Annotated[Literal["true", "false"], Query()] = "false",
    dry_run: DryRun = "false",
) -> Response:
    """Accept a brief: all of its rows, or with `partial=true` those without problems."""
    is_csv = media_type(request, CSV, JSON_LINES) == CSV
    brief = read_brief(body, is_csv=is_csv, detail="The file can't be read; nothing was accepted.")
    answers = at.intake.accept(
        brief.rows,
        customer=who.tenant,
        campaign=campaign,
        partial=partial == "true",
        dry_run=dry_run == "true",
    )
    problems = problems_of(brief.rows, answers)
    insist_on_some(answers, problems, partial=partial == "true")
    if dry_run == "true":
        return JSONResponse(
            shapes.estimate(campaign, brief.rows, answers, problems, api_url=at.api_url)
        )
    told = shapes.batch(campaign, brief.rows, answers, problems, api_url=at.api_url)
    return JSONResponse(told, HTTPStatus.ACCEPTED)


def read_brief(content: bytes, *, is_csv: bool, detail: str) -> Brief:
    """Return a brief whose rows can be told apart.

    Raises:
        ProblemRaised: They can't, which *detail* says; and all that is wrong with the file.
    """
    brief = planning.read(content, is_csv=is_csv)
    if brief.problems:
        told = [*brief.problems, *(fault for row in brief.rows for fault in row.problems)]
        raise ProblemRaised(HTTPStatus.UNPROCESSABLE_ENTITY, detail, *told)
    return brief


def insist_on_some(
    answers: Sequence[Answer], problems: Sequence[Problem], *, partial: bool
) -> None:
    """Return where some row of a brief was accepted, or all are known.

    Raises:
        ProblemRaised: Nothing new was accepted, and why.
    """
    bad = sum(isinstance(one, Invalid | Conflict | Unaffordable | Overloaded) for one in answers)
    # Without `partial` a bad row stops all new ones; only a race lets some be recorded beside it.
    new = any(isinstance(answer, Recorded | Priced) for answer in answers)
    if bad == len(answers) or (bad and not partial and not new):
        status = _refusal(answers)
        late = next((one.over for one in answers if isinstance(one, Overloaded)), None)
        if late is not None and status is not HTTPStatus.UNPROCESSABLE_ENTITY:
            raise too_many(late, f"Nothing new was accepted: {late.sentence}", *problems)
        why = f"{bad} of {len(answers)} rows have problems"
        if status is HTTPStatus.PAYMENT_REQUIRED:
            why = "a budget has no room for it"
        raise ProblemRaised(status, f"Nothing new was accepted: {why}.", *problems)


def too_many(over: Overload, detail: str, *problems: Problem) -> ProblemRaised:
    """Return the problem of work that would not be made in time: later, or never as it is."""
    if over.after is None:
        return ProblemRaised(HTTPStatus.UNPROCESSABLE_ENTITY, detail, *problems)
    later = retry_after(over.after)
    return ProblemRaised(HTTPStatus.TOO_MANY_REQUESTS, detail, *problems, headers=later)


def _refusal(answers: Sequence[Answer]) -> HTTPStatus:
    if any(isinstance(answer, Invalid) for answer in answers):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    over = any(isinstance(answer, Unaffordable) for answer in answers)
    return HTTPStatus.PAYMENT_REQUIRED if over else HTTPStatus.CONFLICT


def _job(body: bytes, header: str | None) -> tuple[str, RawRequest]:
    """Return the campaign and the request of a body; the header is another place for the key."""
    fields = json_fields(body)
    if not fields.get(KEY_FIELD, header):
        missing = Problem(KEY_FIELD, "missing", "The idempotency key is missing.", _SEND_A_KEY)
        raise ProblemRaised(HTTPStatus.BAD_REQUEST, "The job was not accepted.", missing)
    if header is not None and fields.get(KEY_FIELD, header) != header:
        sentence = f"The header Idempotency-Key and {KEY_FIELD} differ."
        differ = Problem(KEY_FIELD, "mismatch", sentence, "Send one of them, or both the same.")
        raise ProblemRaised(HTTPStatus.BAD_REQUEST, "The job was not accepted.", differ)
    campaign = fields.get("campaign")
    rest = {name: value for name, value in fields.items() if name != "campaign"}
    if header is not None:
        rest.setdefault(KEY_FIELD, header)
    raw = raw_request(rest)
    faults = list(raw) if isinstance(raw, tuple) else []
    if not isinstance(campaign, str) or not ids.SLUG.fullmatch(campaign):
        sentence = "campaign is missing, or not the name of one."
        fix = "Send the campaign's name: a-z, 0-9 and hyphens."
        faults.append(Problem("campaign", "slug", sentence, fix))
    if faults or isinstance(raw, tuple):
        raise ProblemRaised(HTTPStatus.UNPROCESSABLE_ENTITY, "The job was not accepted.", *faults)
    return str(campaign), raw
