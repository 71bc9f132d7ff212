"""The way every paid call takes, and the way the free ones do.

Belongs here: the order of things. Paid: receive, identify, faults, limits, plan, accept and bill,
start, answer. What is accepted and billed is written down before a byte of the answer is sent.
Does not belong here: the meaning of a call (`firefly.py`, `photoshop.py`).
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import cast

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from fireflyassets.twin import rejections
from fireflyassets.twin.accepting import accept, accepted_response
from fireflyassets.twin.bills import CallRow
from fireflyassets.twin.dropping import HangingUp
from fireflyassets.twin.effects import Effects
from fireflyassets.twin.endpoints import Endpoint, Family
from fireflyassets.twin.fault_language import (
    Answer,
    Delay,
    Drop,
    LimitFactor,
    RetryAfter,
    Storm,
)
from fireflyassets.twin.faults import Call
from fireflyassets.twin.flaws import NotJsonError, read_json
from fireflyassets.twin.gateway import Caller, identify
from fireflyassets.twin.plans import Planner, Submission
from fireflyassets.twin.rejections import RejectionError
from fireflyassets.twin.simulator import Simulator
from fireflyassets.twin.work import Worker

log = logging.getLogger(__name__)

MAX_JSON_BYTES = 1_000_000  # Photoshop's documented bound, used for all JSON bodies.


@dataclass(frozen=True)
class Desk:
    """What a call needs: the simulator and the worker that carries jobs out."""

    simulator: Simulator
    worker: Worker


async def paid_call(desk: Desk, endpoint: Endpoint, planner: Planner, request: Request) -> Response:
    """Answer one call on a paid endpoint and list it, whatever becomes of it."""
    sim = desk.simulator
    body, whole = await _read_body(request, MAX_JSON_BYTES)
    row = sim.bills.receive(endpoint, sha256(body).hexdigest(), sim.clock.now())
    try:
        response = rejections.too_large().response()
        if whole:
            response = await _paid(desk, endpoint, planner, request, body, row)
    except RejectionError as rejection:
        response = rejection.response()
    except Exception:
        # The border of one call: a bug must not leave a row that looks like a dropped call.
        log.exception("Call %s broke.", row.id)
        response = rejections.coded(500, "runtime_error", "Internal error.").response()
    _note_throttled(sim, endpoint, response)
    sim.bills.answer(row, None if isinstance(response, HangingUp) else response.status_code)
    return response


async def _paid(
    desk: Desk, endpoint: Endpoint, planner: Planner, request: Request, body: bytes, row: CallRow
) -> Response:
    sim = desk.simulator
    caller = identify(sim.accounts, request.headers, endpoint.family, sim.clock.now())
    row.organisation, row.client = caller.organisation, caller.account.client
    effects = _strike(sim, endpoint, caller, body)
    row.faults = [effect.kind for effect in effects.struck]
    early = await _interfere(sim, endpoint, effects)
    if early is not None:
        return early
    admit(sim, endpoint, caller, effects)
    row.counted = True
    asked = Submission(
        endpoint=endpoint,
        caller=caller,
        headers=request.headers,
        body=read_body(endpoint, request, body),
        ordinal=sim.bills.ordinal(row),
    )
    plan = await planner(asked)
    job = accept(sim, asked, plan, effects, row)
    desk.worker.start(job, plan.produce)
    return await _late_answer(sim, effects, accepted_response(sim, request, job))


async def free_call(
    sim: Simulator,
    endpoint: Endpoint,
    request: Request,
    answer: Callable[[Caller, Effects], Awaitable[Response]],
) -> Response:
    """Answer one call on an endpoint that costs nothing: status, cancel, upload, models."""
    try:
        caller = identify(sim.accounts, request.headers, endpoint.family, sim.clock.now())
        effects = _strike(sim, endpoint, caller, b"")
        early = await _interfere(sim, endpoint, effects)
        if early is None:
            admit(sim, endpoint, caller, effects)
            early = await _late_answer(sim, effects, await answer(caller, effects))
        response = early
    except RejectionError as rejection:
        response = rejection.response()
    _note_throttled(sim, endpoint, response)
    return response


async def unowned_call(
    sim: Simulator,
    endpoint: Endpoint,
    answer: Callable[[], Awaitable[Response]],
) -> Response:
    """Answer a call that has no bearer: a token, an output. Faults befall it all the same."""
    call = Call(endpoint=endpoint, organisation=None, client=None, prompt=None)
    effects = Effects(tuple(sim.faults.strike(call, sim.clock.now())))
    try:
        response = await _interfere(sim, endpoint, effects)
        if response is None:
            response = await _late_answer(sim, effects, await answer())
    except RejectionError as rejection:
        response = rejection.response()
    _note_throttled(sim, endpoint, response)
    return response


def admit(sim: Simulator, endpoint: Endpoint, caller: Caller, effects: Effects) -> None:
    """Count the call against its organisation's limits, or refuse it with a 429."""
    factor = 1.0
    for cut in effects.all_of(LimitFactor):
        factor *= cut.factor
    wait = sim.admit(caller.organisation, endpoint, factor=factor)
    if wait > timedelta(0):
        raise rejections.rate_limited(endpoint.family, _retry_after(sim, wait, effects))


def read_body(endpoint: Endpoint, request: Request, body: bytes) -> dict[str, object]:
    """Return the JSON object in *body*, or refuse it in the words of the service."""
    photoshop = endpoint.family is Family.PHOTOSHOP
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != "application/json":
        raise rejections.coded(415, "invalid_content_type", "Send application/json.")
    if not body.strip():
        code = "invalid_json" if photoshop else "empty_input_body"
        raise rejections.coded(400, code, "The request body is empty.")
    try:
        value = read_json(body)
    except NotJsonError as error:
        code = "invalid_json" if photoshop else "bad_request"
        raise rejections.coded(400, code, "The request body is not valid JSON.") from error
    if not isinstance(value, dict):
        code = "invalid_json" if photoshop else "bad_request"
        raise rejections.coded(400, code, "The request body is not a JSON object.")
    return cast("dict[str, object]", value)


async def _read_body(request: Request, bound: int) -> tuple[bytes, bool]:
    """Return the body and whether it is all of it; past *bound* the rest is not kept."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= bound:
            parts.append(part)
    return b"".join(parts), size <= bound


def _strike(sim: Simulator, endpoint: Endpoint, caller: Caller, body: bytes) -> Effects:
    call = Call(
        endpoint=endpoint,
        organisation=caller.organisation,
        client=caller.account.client,
        prompt=_peek_prompt(body),
    )
    return Effects(tuple(sim.faults.strike(call, sim.clock.now())))


def _peek_prompt(body: bytes) -> str | None:
    try:
        value = read_json(body)
    except NotJsonError:
        return None
    if not isinstance(value, dict):
        return None
    prompt = cast("dict[str, object]", value).get("prompt")
    return prompt if isinstance(prompt, str) else None


async def _interfere(sim: Simulator, endpoint: Endpoint, effects: Effects) -> Response | None:
    """Carry out the faults that come before acceptance; an answer ends the call."""
    for delay in effects.all_of(Delay):
        await sim.clock.sleep(timedelta(seconds=delay.before_seconds))
    answer = effects.find(Answer)
    if answer is not None and not answer.accept:
        return _scripted(answer)
    drop = effects.find(Drop)
    if drop is not None and not drop.accept:
        return HangingUp(drop.how)
    storm = effects.find(Storm)
    if storm is not None:
        return rejections.rate_limited(endpoint.family, storm.retry_after).response()
    return None


async def _late_answer(sim: Simulator, effects: Effects, response: Response) -> Response:
    """Carry out the faults that come after acceptance."""
    for delay in effects.all_of(Delay):
        await sim.clock.sleep(timedelta(seconds=delay.after_seconds))
    answer = effects.find(Answer)
    if answer is not None:
        return _scripted(answer)
    drop = effects.find(Drop)
    return response if drop is None else HangingUp(drop.how)


def _scripted(answer: Answer) -> Response:
    if answer.body is None:
        return Response(status_code=answer.status, headers=answer.headers)
    if isinstance(answer.body, str):
        return HTMLResponse(answer.body, answer.status, headers=answer.headers)
    return JSONResponse(answer.body, answer.status, headers=answer.headers)


def _retry_after(sim: Simulator, wait: timedelta, effects: Effects) -> str | None:
    asked = effects.find(RetryAfter)
    form = sim.settings.retry_after
    if asked is not None:
        if asked.form == "none":
            return None
        if asked.form == "literal":
            return asked.value
        form = asked.form
    return rejections.retry_after_value(wait, now=sim.clock.now(), form=form)


def _note_throttled(sim: Simulator, endpoint: Endpoint, response: Response) -> None:
    if response.status_code == 429:  # noqa: PLR2004 - an HTTP word
        sim.bills.throttled[endpoint.name] += 1
