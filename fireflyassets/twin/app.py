"""The ASGI application: every route of every service on one port.

Belongs here: routes wired to what answers them, start and stop. Does not belong here: rules.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta

import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fireflyassets.twin import endpoints as to
from fireflyassets.twin.auto_crop import AutoCropPlanner
from fireflyassets.twin.calls import Desk, free_call, paid_call, unowned_call
from fireflyassets.twin.clock import Clock, WallClock
from fireflyassets.twin.control import Control
from fireflyassets.twin.effects import Effects
from fireflyassets.twin.endpoints import Endpoint
from fireflyassets.twin.firefly import FireflyPlanner
from fireflyassets.twin.gateway import Caller
from fireflyassets.twin.hosting import serve_output
from fireflyassets.twin.photoshop import PhotoshopPlanner
from fireflyassets.twin.plans import Planner
from fireflyassets.twin.polling import cancel, firefly_status, photoshop_status
from fireflyassets.twin.rendering import PsdRenderer, Renderer
from fireflyassets.twin.settings import Settings
from fireflyassets.twin.simulator import Simulator
from fireflyassets.twin.storage import custom_models, upload
from fireflyassets.twin.tokens import mint_token
from fireflyassets.twin.work import Worker

log = logging.getLogger(__name__)

DRAIN_TIMEOUT = timedelta(seconds=20)

Free = Callable[[Desk, Request, Caller, Effects], Awaitable[Response]]
Unowned = Callable[[Simulator, Request], Awaitable[Response]]
FREE: tuple[tuple[Endpoint, Free], ...] = (
    (to.STATUS, firefly_status),
    (to.CANCEL, cancel),
    (to.UPLOAD, upload),
    (to.CUSTOM_MODELS, custom_models),
    (to.PHOTOSHOP_STATUS, photoshop_status),
)


def create_app(
    settings: Settings,
    *,
    clock: Clock | None = None,
    renderer: Renderer | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Starlette:
    """Return the twin as an ASGI application; `app.state.simulator` is its inside.

    *transport* carries the twin's own GETs of inputs and PUTs of outputs.
    """
    simulator = Simulator(
        settings, clock or WallClock(), renderer=renderer or PsdRenderer(), transport=transport
    )
    desk = Desk(simulator, Worker(simulator))

    app = Starlette(
        routes=_routes(desk),
        lifespan=_lifespan(desk),
        exception_handlers={
            HTTPException: _no_such_call,
            ClientDisconnect: _gone,
            Exception: _broken,
        },
    )
    app.state.simulator = simulator
    return app


def _lifespan(desk: Desk) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        desk.worker.resume()
        desk.simulator.pool.warm()
        yield
        await desk.worker.drain(DRAIN_TIMEOUT)
        await desk.simulator.transfer.close()
        desk.simulator.close()

    return lifespan


def _routes(desk: Desk) -> list[Route]:
    planners = {
        **FireflyPlanner(desk.simulator).planners(),
        **PhotoshopPlanner(desk.simulator).planners(),
        "auto_crop": AutoCropPlanner(desk.simulator).plan,
    }
    paid = [
        _paid(desk, endpoint, planners[endpoint.name])
        for endpoint in (*to.PAID_FIREFLY, *to.PAID_PHOTOSHOP)
    ]
    free = [_free(desk, endpoint, answer) for endpoint, answer in FREE]
    unowned = [
        _unowned(desk.simulator, to.TOKEN, mint_token),
        _unowned(desk.simulator, to.OUTPUT, serve_output, methods=("GET", "HEAD", "PUT")),
    ]
    return [*paid, *free, *unowned, *Control(desk.simulator).routes()]


def _paid(desk: Desk, endpoint: Endpoint, planner: Planner) -> Route:
    async def answer(request: Request) -> Response:
        return await paid_call(desk, endpoint, planner, request)

    return Route(endpoint.path, answer, methods=[endpoint.method])


def _free(desk: Desk, endpoint: Endpoint, answer: Free) -> Route:
    async def answered(request: Request) -> Response:
        async def then(caller: Caller, effects: Effects) -> Response:
            return await answer(desk, request, caller, effects)

        return await free_call(desk.simulator, endpoint, request, then)

    return Route(endpoint.path, answered, methods=[endpoint.method])


def _unowned(
    simulator: Simulator, endpoint: Endpoint, answer: Unowned, methods: tuple[str, ...] = ()
) -> Route:
    async def answered(request: Request) -> Response:
        async def then() -> Response:
            return await answer(simulator, request)

        return await unowned_call(simulator, endpoint, then)

    return Route(endpoint.path, answered, methods=list(methods or (endpoint.method,)))


async def _no_such_call(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return JSONResponse({"error_code": "unsupported_method", "message": "No such call."}, status)


async def _gone(_: Request, __: Exception) -> Response:
    """Answer a caller that left before its body was whole; nobody reads it."""
    return Response(status_code=400)


async def _broken(_: Request, error: Exception) -> Response:
    log.error("A call broke.", exc_info=error)
    return JSONResponse({"error_code": "runtime_error", "message": "Internal error."}, 500)
