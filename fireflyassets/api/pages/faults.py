"""Faults of the pages: every problem of the API, told as a page.

Belongs here: problems as HTML, and the way to sign in. Does not: which error is which problem
(``api/problems.py``).
"""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response

from fireflyassets.api import problems
from fireflyassets.api.pages.guard import SignInNeeded
from fireflyassets.api.pages.shell import page, shell_of

_KEPT: Final = ("Retry-After", "Allow")
Answer = Callable[[Request, Exception], Response]


def install(app: FastAPI) -> None:
    """Make every error of *app* a page."""
    for kind, answer in problems.ANSWERS.items():
        app.add_exception_handler(kind, _shown(answer))
    app.add_exception_handler(SignInNeeded, _sent_to_sign_in)


def _shown(answer: Answer) -> Answer:
    """Return an answer that shows the problem which *answer* tells."""

    def show(request: Request, error: Exception) -> Response:
        told = answer(request, error)
        kept = {name: told.headers[name] for name in _KEPT if name in told.headers}
        problem: problems.ProblemBody = json.loads(bytes(told.body))
        status = HTTPStatus(told.status_code)
        return page(request, "problem.html", {"problem": problem}, status=status, headers=kept)

    return show


def _sent_to_sign_in(request: Request, error: Exception) -> Response:
    assert isinstance(error, SignInNeeded)  # noqa: S101 - the handler is registered for it.
    to = f"{shell_of(request).root}/sign-in?{urlencode({'to': error.to})}"
    if request.method == "GET":
        return RedirectResponse(to, HTTPStatus.SEE_OTHER)
    return page(request, "session-ended.html", {"to": to}, status=HTTPStatus.UNAUTHORIZED)
