"""Jobs in ``dlq`` as a page: by class, how many, since when, at what price, and what is waited for.

Belongs here: HTML in front of the plan that ``fireflyassets dlq`` prints. Does not: replaying,
which is the operators' and needs the command or Dagster.
"""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fireflyassets.api.desk import AtDesk
from fireflyassets.api.pages.guard import Supervising
from fireflyassets.api.pages.shell import page
from fireflyassets.core import guidance
from fireflyassets.stages.replay import Choice, class_of, sums

router: Final = APIRouter()

MOST: Final = 50
"""Jobs that are named; the sums are over all."""


@router.get("/dead-letters")
def show_dead(request: Request, at: AtDesk, who: Supervising) -> Response:
    """Show the tenant's jobs that can be run again, or could be if their cause were gone."""
    plan = at.replays().plan(Choice(customer=who.caller.tenant))
    values = {
        "classes": [(one, guidance.told(one.failure)) for one in sums(plan)],
        "jobs": [(one, class_of(one.row)) for one in plan[:MOST]],
        "more": max(0, len(plan) - MOST),
    }
    return page(request, "dead.html", values)
