"""Webhooks as a page: each endpoint's health, the last deliveries with their tries, and levers.

Belongs here: HTML in front of ``stages/endpoints.py``. Does not: its rules; adding an endpoint,
whose secret no page should show.
"""

import secrets
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api.desk import AtDesk
from fireflyassets.api.pages.guard import Operating, Reading
from fireflyassets.api.pages.shell import AtShell, Telling, page
from fireflyassets.api.problems import not_found
from fireflyassets.core.api_key import Scope
from fireflyassets.ports.webhooks import Chosen

router: Final = APIRouter()

MOST: Final = 50
_DONE: Final = {
    "test": "A test is on its way, and appears below within half a minute.",
    "again": "It is sent again, under the id that it had.",
    "waits": "It waits to be sent anyway; nothing was changed.",
}


@router.get("/webhooks")
def show_webhooks(request: Request, at: AtDesk, who: Reading, told: Telling) -> Response:
    """Show the tenant's endpoints and its last deliveries."""
    store, tenant = at.endpoints.store, who.caller.tenant
    values = {
        "endpoints": store.endpoints(tenant),
        "deliveries": store.deliveries(Chosen(tenant), most=MOST),
        "may_act": Scope.OPS in who.caller.scopes,
        "done": _DONE.get(told.done),
    }
    return page(request, "webhooks.html", values)


@router.post("/webhooks/test")
def test(at: AtDesk, shell: AtShell, form: Operating) -> Response:
    """Send a test to an endpoint of the tenant."""
    name = form.fields.get("endpoint", "")
    if at.endpoints.test(form.caller.tenant, name, chance=secrets.token_hex(8)) is None:
        raise not_found("There is no such endpoint.", "endpoint")
    return _done(shell.root, "test")


@router.post("/webhooks/replay")
def replay(at: AtDesk, shell: AtShell, form: Operating) -> Response:
    """Send a delivery of the tenant again."""
    found = at.endpoints.store.delivery(form.caller.tenant, form.fields.get("delivery", ""))
    if found is None:
        raise not_found("There is no such delivery.", "delivery")
    return _done(shell.root, "again" if at.endpoints.again(found) else "waits")


def _done(root: str, what: str) -> Response:
    return RedirectResponse(f"{root}/webhooks?done={what}", HTTPStatus.SEE_OTHER)
