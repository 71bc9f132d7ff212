"""A campaign's jobs as a spreadsheet: how each stands, and what to change where one was refused.

Belongs here: the table. Does not: what JSON tells (``result_routes.py``), briefs that come in.
"""

import csv
import io
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import Response

from fireflyassets.api.bodies import CSV
from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Reader, require_campaign
from fireflyassets.core import guidance
from fireflyassets.core.job import JobRow

router: Final = APIRouter()

HEADER: Final = (
    "key",
    "status",
    "failure_class",
    "guidance",
    "reason",
    "cost_estimate",
    "cost_actual",
    "job_id",
)
_FORMULA: Final = ("=", "+", "-", "@")
_TABLE: Final[dict[int | str, dict[str, Any]]] = {
    HTTPStatus.OK.value: {
        "description": "One row for each job, the oldest first.",
        "content": {
            CSV: {
                "schema": {"type": "string"},
                "example": f"{','.join(HEADER)}\nmarket-01,succeeded,,,,3.5,3.5,6f1f3b52\n",
            }
        },
    }
}


@router.get(
    "/v1/campaigns/{campaign}/jobs.csv",
    response_class=Response,
    responses={**_TABLE, **refusals(HTTPStatus.NOT_FOUND)},
)
def tabulate(at: AtDesk, who: Reader, campaign: str) -> Response:
    """Tell how all of a campaign's jobs stand, as a spreadsheet; seconds late at most."""
    require_campaign(at, who.tenant, campaign)
    rows = at.ports.ledger.campaign_jobs(who.tenant, campaign)
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow(HEADER)
    writer.writerows(_cells(row) for row in rows)
    return Response(target.getvalue(), media_type=CSV, headers={"Cache-Control": "no-store"})


def _cells(row: JobRow) -> list[str]:
    said = (
        row.idempotency_key,
        row.status.value,
        row.failure.value if row.failure else "",
        guidance.of(row) or "",
        (row.hold.reason if row.hold else row.reason) or "",
        str(row.cost_estimate),
        "" if row.cost_actual is None else str(row.cost_actual),
        row.job_id,
    )
    # A spreadsheet runs what begins so: an apostrophe makes it text.
    return [f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in said]
