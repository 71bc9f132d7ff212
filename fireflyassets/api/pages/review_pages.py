"""Reviews as pages: a contact sheet of what waits, by likeness, and one candidate beside its kin.

Belongs here: HTML in front of ``stages/review.py``; which jobs a form means. Does not: its rules.
A form names each job with the version that was shown, so that whoever was late is told.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fireflyassets.api import answers
from fireflyassets.api.desk import AtDesk, Desk, job_row, require_campaign
from fireflyassets.api.pages.campaign_pages import Cursor
from fireflyassets.api.pages.guard import Judging, Reviewing, Submission
from fireflyassets.api.pages.job_pages import asked_of
from fireflyassets.api.pages.shell import page
from fireflyassets.api.problems import not_found
from fireflyassets.api.review_routes import decide
from fireflyassets.api.tokens import Caller
from fireflyassets.core import ids
from fireflyassets.core.clusters import clusters
from fireflyassets.core.errors import CampaignOutOfService, UnknownCampaign
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import Problem
from fireflyassets.core.review import ACTIONS, Move
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.entries import Place
from fireflyassets.stages.review import Outcome, Pick, Ruling, code_of

router: Final = APIRouter()

RENDITIONS: Final = 1000
"""On one sheet."""
EXAMPLES: Final = 4
LATE: Final = timedelta(hours=4)
"""How long a job waits for its review before the sheet says so."""
_LOOKED_AT: Final = 200
"""Jobs among which approved examples are looked for, the newest first."""
_ALONE: Final = frozenset({Move.SECOND_LOOK, Move.ESCALATE})
_NOTHING_SAID: Final[Mapping[str, object]] = {
    "problems": (),
    "outcome": None,
    "counts": {},
    "undone": (),
    "typed": None,
}
"""What a page says of the last act where there was none."""
_UNMEANT: Final = Problem("do", "unknown", "That is no decision.", "Use the buttons of the page.")


@dataclass(frozen=True, slots=True)
class Tile:
    """One job on the sheet."""

    job_id: str
    version: int
    key: str
    aspects: tuple[str, ...]
    mark: str
    """What sets it apart: why it is looked at by itself, or that it waits too long."""

    @property
    def pick(self) -> str:
        """Return how a form names the job, with the version that is shown."""
        return f"{self.job_id}.{self.version}"


@router.get("/campaigns/{campaign}/review")
def show_sheet(
    request: Request, at: AtDesk, who: Reviewing, campaign: str, cursor: Cursor = None
) -> Response:
    """Show what waits for a review, by likeness."""
    after = answers.place(cursor, tenant=who.caller.tenant, campaign=campaign) if cursor else None
    return page(request, "review.html", _sheet(at, who.caller, campaign, after))


@router.post("/campaigns/{campaign}/review/decide")
def decide_on_sheet(request: Request, at: AtDesk, form: Judging, campaign: str) -> Response:
    """Decide on one job, a selection or a cluster, and show what is left, with what came of it."""
    require_campaign(at, form.caller.tenant, campaign)
    told = _decided(at, form, campaign)
    values = {**_sheet(at, form.caller, campaign, None), **_said(told, form)}
    return page(request, "review.html", values, status=_status(told))


@router.get("/jobs/{job_id}/review")
def show_candidate(request: Request, at: AtDesk, who: Reviewing, job_id: str) -> Response:
    """Show one job's outputs beside approved ones and the templates, and its history."""
    row = job_row(at, who.caller.tenant, job_id)
    return page(request, "candidate.html", _candidate(at, row))


@router.post("/jobs/{job_id}/review/decide")
def decide_on_candidate(request: Request, at: AtDesk, form: Judging, job_id: str) -> Response:
    """Decide on the job that is shown, and show it as it is by then."""
    row = job_row(at, form.caller.tenant, job_id)
    told = _decided(at, form, row.campaign_id)
    row = job_row(at, form.caller.tenant, job_id)
    values = {**_candidate(at, row), **_said(told, form)}
    return page(request, "candidate.html", values, status=_status(told))


@router.get("/jobs/{job_id}/templates/{aspect}")
def show_template(at: AtDesk, who: Reviewing, job_id: str, aspect: str) -> Response:
    """Show the template that a job's rendition was made with, as its campaign has it now."""
    row = job_row(at, who.caller.tenant, job_id)
    missing = not_found("There is no such template.", "aspect")
    try:
        campaign = at.ports.catalogue.campaign(row.customer_id, row.campaign_id)
    except (UnknownCampaign, CampaignOutOfService) as error:
        raise missing from error
    if aspect not in campaign.templates:
        raise missing
    try:
        document = at.ports.catalogue.template(campaign, campaign.config.templates[aspect])
        small = at.ports.pictures.thumbnail(document, width=480)
    except OSError as error:
        raise missing from error
    headers = {"Cache-Control": "private, max-age=600"}
    return Response(small, media_type="image/webp", headers=headers)


def _decided(at: Desk, form: Submission, campaign: str) -> Outcome | tuple[Problem, ...]:
    """Do what a form says: ``<move> selection``, ``<move> cluster <n>``, ``<move> one <job>``."""
    said = form.fields
    wish, _, about = said.get("do", "").partition(" ")
    scope, _, name = about.partition(" ")
    try:
        move = Move(wish)
    except ValueError:
        return (_UNMEANT,)
    code = code_of(said.get("code", "")) if move is Move.REJECT else None
    if isinstance(code, Problem):
        return (code,)
    chosen = {
        "selection": form.chosen,
        "cluster": said.get(f"cluster-{name}", "").split(),
        "one": name.split(),
    }.get(scope, ())
    picks = [pick for one in chosen if (pick := _pick(one))]
    note = said.get("note", "").strip()
    ruling = Ruling(move, form.caller.subject, code, note, is_cluster=scope == "cluster")
    return decide(at, form.caller, campaign, picks, ruling)


def _pick(text: str) -> Pick | None:
    job_id, _, version = text.rpartition(".")
    return Pick(job_id, int(version)) if version.isdecimal() and ids.KEY.fullmatch(job_id) else None


def _status(told: Outcome | tuple[Problem, ...]) -> HTTPStatus:
    return HTTPStatus.OK if isinstance(told, Outcome) else HTTPStatus.UNPROCESSABLE_ENTITY


def _said(told: Outcome | tuple[Problem, ...], form: Submission) -> dict[str, object]:
    """Return what the page says of an act, and how to undo it."""
    typed = {name: form.fields.get(name, "") for name in ("code", "note")}
    if isinstance(told, tuple):
        return {"problems": told, "typed": typed}
    undone = [
        f"{row.job_id}.{row.epoch}"
        for row in told.rows
        if row.human_reviewed in {HumanReview.APPROVED, HumanReview.REJECTED}
    ]
    return {"outcome": told, "counts": _counts(told.rows), "undone": undone}


def _counts(rows: Sequence[JobRow]) -> Mapping[Move, int]:
    """Return how many rows made each move, in the order of the moves, whatever that of the rows."""
    made = Counter(row.judged.move for row in rows if row.judged)
    return {move: made[move] for move in Move if made[move]}


def _sheet(at: Desk, who: Caller, campaign: str, after: Place | None) -> dict[str, object]:
    require_campaign(at, who.tenant, campaign)
    rows = at.ports.ledger.unreviewed(who.tenant, campaign, after=after, most=RENDITIONS)
    kept, shown = rows[:0], 0
    for row in rows:
        shown += max(1, len(row.outputs))
        if shown > RENDITIONS and kept:
            break
        kept.append(row)
    now = at.ports.clock.now()
    alone = [row for row in kept if row.judged and row.judged.move in _ALONE]
    others = [row for row in kept if row not in alone]
    is_more = len(kept) < len(rows) or len(rows) == RENDITIONS
    return {
        **_NOTHING_SAID,
        "campaign": campaign,
        "alone": [_tile(row, now) for row in alone],
        "clusters": [[_tile(row, now) for row in one] for one in clusters(others)],
        "jobs": len(kept),
        "renditions": sum(len(row.outputs) for row in kept),
        "more": answers.cursor(kept[-1]) if is_more and kept else None,
        "is_first": after is None,
        "actions": ACTIONS,
        "paces": [one for one in at.reviews.paces(who.tenant) if one.is_flagged],
    }


def _tile(row: JobRow, now: datetime) -> Tile:
    marks = {Move.SECOND_LOOK: "Second look", Move.ESCALATE: "Escalated", Move.UNDO: "Undone"}
    mark = marks.get(row.judged.move, "") if row.judged else ""
    if row.ended_at and now - row.ended_at > LATE:
        hours = (now - row.ended_at) // timedelta(hours=1)
        mark = f"{mark} · waits {hours} h".strip(" ·")
    aspects = tuple(map(ids.delivered_aspect, row.outputs))
    return Tile(row.job_id, row.epoch, row.idempotency_key, aspects, mark)


def _candidate(at: Desk, row: JobRow) -> dict[str, object]:
    now = at.ports.clock.now()
    return {
        **_NOTHING_SAID,
        "campaign": row.campaign_id,
        "job": _tile(row, now),
        "review": row.human_reviewed.value,
        "is_open": row.human_reviewed is HumanReview.PENDING and row.status is Status.SUCCEEDED,
        "may_undo": row.judged is not None
        and row.judged.move in {Move.APPROVE, Move.REJECT}
        and row.status is Status.SUCCEEDED,
        "asked": asked_of(at, row),
        "examples": [_tile(one, now) for one in _examples(at, row)],
        "history": at.ports.ledger.judgements(row.job_id),
        "actions": ACTIONS,
    }


def _examples(at: Desk, row: JobRow) -> list[JobRow]:
    """Return some approved jobs of the campaign, the newest first."""
    newest = at.ports.ledger.campaign_page(
        row.customer_id,
        row.campaign_id,
        after=None,
        status=Status.SUCCEEDED,
        most=_LOOKED_AT,
        newest_first=True,
    )
    found = (
        one
        for one in newest
        if one.human_reviewed is HumanReview.APPROVED and one.job_id != row.job_id
    )
    return [one for one, _ in zip(found, range(EXAMPLES), strict=False)]
