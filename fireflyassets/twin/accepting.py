"""Accepting a call: the job record, its bill, and the announcement of each service.

Belongs here: drawing the latency, naming job and outputs, the accept shapes. Does not belong
here: whether to accept (`calls.py`).
"""

from datetime import datetime, timedelta
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fireflyassets.twin.bills import CallRow
from fireflyassets.twin.effects import Effects
from fireflyassets.twin.endpoints import Shape
from fireflyassets.twin.fault_language import Late, Stuck
from fireflyassets.twin.jobs import Job, draw_latency, job_identity
from fireflyassets.twin.plans import Plan, Submission
from fireflyassets.twin.simulator import Simulator


def accept(sim: Simulator, asked: Submission, plan: Plan, effects: Effects, row: CallRow) -> Job:
    """Open the job and bill it; from here on it is Adobe's promise."""
    sim.tidy()
    now = sim.clock.now()
    effects = Effects((*effects.struck, *plan.effects))
    bare, name = job_identity(asked.endpoint.family)
    for index, output in enumerate(plan.outputs):
        output.id = f"{bare}-{index}"
    job = Job(
        id=bare,
        name=name,
        call_id=row.id,
        organisation=asked.caller.organisation,
        endpoint=asked.endpoint,
        accepted_at=now,
        ends_at=_end_of(sim, asked, effects, now),
        effects=effects,
        outputs=plan.outputs,
        answer=plan.answer,
    )
    sim.jobs.add(job)
    sim.keep_job(job)
    row.prompt_sha256 = plan.prompt_sha256
    sim.bills.accept(row, job_id=name, rate=plan.rate, outputs=len(plan.outputs))
    return job


def _end_of(sim: Simulator, asked: Submission, effects: Effects, now: datetime) -> datetime | None:
    if effects.find(Stuck) is not None:
        return None
    dice = sim.dice("latency", asked.ordinal)
    latency = draw_latency(sim.settings.latency, asked.endpoint.family, dice=dice)
    for late in effects.all_of(Late):
        latency += timedelta(seconds=late.seconds)
    return now + latency


def accepted_response(sim: Simulator, request: Request, job: Job) -> Response:
    """Return the announcement of an accepted job, in the shape of its endpoint."""
    base = sim.status_base_url(request)
    name = quote(job.name, safe=":")
    if job.endpoint.shape is Shape.PHOTOSHOP:
        body: dict[str, object] = {"jobId": job.name, "statusUrl": f"{base}/v2/status/{name}"}
        return JSONResponse(body, job.endpoint.accepted)
    status_url, cancel_url = f"{base}/v3/status/{name}", f"{base}/v3/cancel/{name}"
    if job.endpoint.shape is Shape.LINKS:
        links = {"result": {"href": status_url}, "cancel": {"href": cancel_url}}
        return JSONResponse({"links": links, "progress": 0}, job.endpoint.accepted)
    body = {"jobId": job.name, "statusUrl": status_url, "cancelUrl": cancel_url}
    link = f'<{status_url}>; rel="status", <{cancel_url}>; rel="cancel"'
    return JSONResponse(body, job.endpoint.accepted, headers={"Link": link})
