"""The plots that people watch, as a page: the same as on CloudWatch's dashboard, from its numbers.

Belongs here: which lines whose operators may see, HTML in front of them. Does not: plots
(``core/plots.py``), shapes (``drawing.py``).

Numbers are of the whole house, and pages of one tenant: whoever is not of the house sees lines
that name their own customer, and no others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from fireflyassets.api.desk import AtDesk, Desk
from fireflyassets.api.pages.drawing import HEIGHT, WIDTH, Drawing, drawing
from fireflyassets.api.pages.guard import Supervising
from fireflyassets.api.pages.shell import page
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.plots import PLOTS, Line, Plot

router: Final = APIRouter()
CUSTOMER: Final = "customer"


@dataclass(frozen=True, slots=True)
class Shown:
    """A plot, or that its numbers can't be had."""

    title: str
    drawn: Drawing | None


@router.get("/metrics")
def show_metrics(request: Request, at: AtDesk, who: Supervising) -> Response:
    """Show all plots."""
    tenant = who.caller.tenant
    of_house = at.is_local or tenant == at.house_tenant
    # To the end of the running minute: a period that has begun is shown with what it has by now.
    until = at.ports.clock.now().replace(second=0, microsecond=0) + timedelta(minutes=1)
    plots = PLOTS if of_house else [one for one in PLOTS if _is_by_customer(one)]
    values = {
        "plots": [_shown(at, plot, None if of_house else tenant, until) for plot in plots],
        "of_house": of_house,
        "until": until,
        "width": WIDTH,
        "height": HEIGHT,
    }
    return page(request, "metrics.html", values)


def _is_by_customer(plot: Plot) -> bool:
    return any(CUSTOMER in drawn.by for drawn in plot.drawn)


def _shown(at: Desk, plot: Plot, tenant: str | None, until: datetime) -> Shown:
    try:
        lines = at.ports.metrics.lines(plot, until=until)
    except StoreUnavailable:
        return Shown(plot.title, None)
    return Shown(plot.title, drawing(plot, _of(lines, tenant), until=until))


def _of(lines: Sequence[Line], tenant: str | None) -> Sequence[Line]:
    """Return the lines that name the *tenant*; all where it is None."""
    return lines if tenant is None else [one for one in lines if (CUSTOMER, tenant) in one.labels]
