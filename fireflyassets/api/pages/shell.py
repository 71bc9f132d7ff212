"""The shell: what every route of the pages works with beside the desk.

Belongs here: the bundle, and a page as an answer to a request. Does not: routes, rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated, Final, cast

from fastapi import Depends, Request
from fastapi.responses import Response

from fireflyassets.api.pages.look import Look
from fireflyassets.api.pages.sessions import Cookies
from fireflyassets.core.request import Problem
from fireflyassets.ports.sign_in import SignIn

PREFIX: Final = "/pages"
"""Where the pages are, within the API's address."""


@dataclass(frozen=True, slots=True)
class Shell:
    """The parts of the pages that no single page owns."""

    origin: str
    """Scheme and host that browsers use."""
    root: str
    """Path of the pages at that origin."""
    cookies: Cookies
    sign_in: SignIn
    look: Look


@dataclass(frozen=True, slots=True)
class Told:
    """What a page says of the form that was sent last."""

    problems: tuple[Problem, ...] = ()
    typed: Mapping[str, str] = field(default_factory=dict[str, str])
    """What was typed by field, so that nobody has to type it again."""
    done: str = ""
    """A word for what was done; pages know sentences for theirs alone."""


def told_before(reason: str = "", done: str = "") -> Told:
    """Return what an address says of the last form; it is shown, and does nothing."""
    return Told(typed={"reason": reason}, done=done)


Telling = Annotated[Told, Depends(told_before)]


def shell_of(request: Request) -> Shell:
    """Return the shell of the pages that answer *request*."""
    return cast("Shell", request.app.state.shell)


AtShell = Annotated[Shell, Depends(shell_of)]


def page(
    request: Request,
    template: str,
    values: Mapping[str, object],
    *,
    status: HTTPStatus = HTTPStatus.OK,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a page for whoever is signed in, if somebody is."""
    shell = shell_of(request)
    # Of what no route answers, nobody has asked yet who looks at it.
    session = shell.cookies.session(request.cookies)
    said = {"session": session, **values}
    return shell.look.page(template, said, status=status, headers=headers)
