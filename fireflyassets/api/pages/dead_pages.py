"""Jobs in ``dlq`` as a page, by class, and the tenant's letters that no job answers for.

Belongs here: HTML in front of the plan that ``fireflyassets dlq`` prints. Does not: replaying,
which is the operators' and needs the command or Dagster.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fireflyassets.api.desk import AtDesk
from fireflyassets.api.pages.guard import Supervising
from fireflyassets.api.pages.shell import page
from fireflyassets.core import guidance
from fireflyassets.stages.letters import Kind, Letter, put_aside
from fireflyassets.stages.replay import Choice, class_of, sums

router: Final = APIRouter()

MOST: Final = 50
"""Jobs that are named; the sums are over all."""
LOOKED_AT: Final = 200
"""Letters of all tenants that one look reads, each an object."""


@router.get("/dead-letters")
def show_dead(request: Request, at: AtDesk, who: Supervising) -> Response:
    """Show the tenant's jobs that can be run again, or could be if their cause were gone."""
    tenant = who.caller.tenant
    plan = at.replays().plan(Choice(customer=tenant))
    read = list(islice(put_aside(at.ports.objects), LOOKED_AT))
    values = {
        "letters": letters_of(tenant, read),
        "unread": len(read) == LOOKED_AT,
        "classes": [(one, guidance.told(one.failure)) for one in sums(plan)],
        "jobs": [(one, class_of(one.row)) for one in plan[:MOST]],
        "more": max(0, len(plan) - MOST),
    }
    return page(request, "dead.html", values)


def letters_of(tenant: str, letters: Sequence[Letter]) -> list[Letter]:
    """Return those that are *tenant*'s to see.

    One that came from another tenant tells of that one; one that names nobody is the operators'.
    """
    return [one for one in letters if one.customer == tenant and one.kind is not Kind.OTHER_TENANT]
