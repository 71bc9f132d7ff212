"""The pages as one app within the API's. Here: its parts put together. Not here: routes."""

from http import HTTPStatus
from typing import Final

import httpx
from fastapi import APIRouter, FastAPI, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api.desk import AtDesk, Desk
from fireflyassets.api.pages import (
    adding_pages,
    campaign_pages,
    dead_pages,
    faults,
    job_pages,
    mending_pages,
    metric_pages,
    plan_pages,
    recall_pages,
    review_pages,
    sign_in,
    webhook_pages,
)
from fireflyassets.api.pages.envelope import Envelope
from fireflyassets.api.pages.look import Look
from fireflyassets.api.pages.sessions import Cookies
from fireflyassets.api.pages.shell import PREFIX, AtShell, Shell
from fireflyassets.api.seals import Seals
from fireflyassets.ports.sign_in import SignIn
from fireflyassets.settings import Settings

_router: Final = APIRouter()
ROUTERS: Final = (
    _router,
    sign_in.router,
    campaign_pages.router,
    adding_pages.router,
    plan_pages.router,
    job_pages.router,
    mending_pages.router,
    dead_pages.router,
    metric_pages.router,
    webhook_pages.router,
    review_pages.router,
    recall_pages.router,
)


def install(app: FastAPI, desk: Desk, provider: SignIn, settings: Settings) -> None:
    """Let *app* answer under `PREFIX`, if the issuer knows a client by the settings' name.

    Raises:
        UnusableConfiguration: It does, and keys or address of the pages are not safe to use.
    """
    if not settings.oidc_client_id:
        return
    # As browsers write it: in small letters, without the port that is the scheme's own.
    address = httpx.URL(settings.api_url)
    origin = f"{address.scheme}://{address.netloc.decode()}"
    root = f"{address.path.rstrip('/')}{PREFIX}"
    pages = FastAPI(openapi_url=None)
    pages.state.desk = desk
    pages.state.api_url = desk.api_url
    pages.state.shell = Shell(
        origin=origin,
        root=root,
        cookies=Cookies(Seals(settings.session_keys), desk.ports.clock, settings),
        sign_in=provider,
        look=Look(root),
    )
    for router in ROUTERS:
        pages.include_router(router)
    faults.install(pages)
    app.mount(PREFIX, Envelope(pages, origin=origin))
    app.add_api_route("/", lead_in, include_in_schema=False)


def lead_in(request: Request, at: AtDesk) -> Response:
    """Lead a browser to the pages; whoever does not ask for a page gets what any address gets."""
    if "text/html" not in request.headers.get("Accept", ""):
        raise HTTPException(HTTPStatus.NOT_FOUND)
    path = httpx.URL(at.api_url).path.rstrip("/")
    return RedirectResponse(f"{path}{PREFIX}/", HTTPStatus.SEE_OTHER)


@_router.get("/")
def begin(at: AtShell) -> Response:
    """Lead to the first page."""
    return RedirectResponse(f"{at.root}/campaigns", HTTPStatus.SEE_OTHER)


@_router.get("/style/{mark}.css")
def show_style(at: AtShell, mark: str) -> Response:
    """Show the style sheet, which is nobody's."""
    return at.look.style(mark)
