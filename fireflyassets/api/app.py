"""The ASGI app. Here: its parts put together. Not here: adapters (``main.py``), routes."""

from fastapi import Depends, FastAPI

from fireflyassets.api import (
    answers,
    campaign_routes,
    description,
    intake_routes,
    key_routes,
    open_routes,
    plan_routes,
    problems,
    reference_routes,
    result_routes,
    review_routes,
    steering_routes,
    table_routes,
    webhook_routes,
    why_routes,
)
from fireflyassets.api.desk import Desk, Ports
from fireflyassets.api.pages import app as pages
from fireflyassets.ports.sign_in import SignIn
from fireflyassets.settings import Settings


def create_app(ports: Ports, settings: Settings, sign_in: SignIn) -> FastAPI:
    """Return the app over *ports*; it holds no other state than a few thumbnails."""
    app = FastAPI(
        title="fireflyassets",
        description="Campaign jobs in; links to finished, tagged creatives out.",
        # The interactive pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        servers=[{"url": settings.api_url.rstrip("/")}],
        generate_unique_id_function=description.operation_id,
    )
    app.state.desk = Desk(ports, settings)
    for part in (
        intake_routes,
        plan_routes,
        reference_routes,
        result_routes,
        review_routes,
        table_routes,
        why_routes,
        steering_routes,
        webhook_routes,
        key_routes,
        campaign_routes,
        open_routes,
    ):
        app.include_router(
            part.router,
            dependencies=[Depends(answers.known_version), Depends(answers.known_parameters)],
        )
    problems.install(app, api_url=app.state.desk.api_url)
    description.install(app)
    pages.install(app, app.state.desk, sign_in, settings)
    return app
