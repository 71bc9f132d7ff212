"""Status and cancel: the free calls about a job.

Belongs here: finding the job, counting polls, signing output links, the cancel table.
Does not belong here: the bodies (`statuses.py`), the end of a job (`work.py`).
"""

from collections.abc import Callable
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fireflyassets.twin.calls import Desk
from fireflyassets.twin.effects import Effects
from fireflyassets.twin.fault_language import CancelFailed, ExpiredUrl, Lost
from fireflyassets.twin.gateway import Caller
from fireflyassets.twin.jobs import Job, Output, is_identifier
from fireflyassets.twin.rejections import Flaw, RejectionError, coded
from fireflyassets.twin.simulator import Simulator
from fireflyassets.twin.statuses import firefly_body, photoshop_body

_CANCELLED = frozenset({"cancelled", "canceled"})


def _found(sim: Simulator, request: Request, caller: Caller, *, photoshop: bool) -> Job:
    name = str(request.path_params["job_id"])
    if not is_identifier(name):
        raise _malformed(photoshop=photoshop)
    sim.tidy()
    job = sim.jobs.find(name, photoshop=photoshop, organisation=caller.organisation)
    if job is None or job.effects.find(Lost) is not None:
        raise coded(404, "unknown_job_id", "No job has this id.")
    return job


def _malformed(*, photoshop: bool) -> RejectionError:
    if photoshop:
        return coded(400, "validation_error", "Invalid job id.")
    flaw = Flaw(loc=("parameters", "jobId"), msg="invalid job identifier format")
    return RejectionError(
        422, {"error_code": "validation_error", "validation_errors": [flaw.as_json()]}
    )


async def firefly_status(desk: Desk, request: Request, caller: Caller, _: Effects) -> Response:
    """Answer `GET /v3/status/{jobId}`."""
    sim = desk.simulator
    job = _found(sim, request, caller, photoshop=False)
    sim.bills.polls[job.name] += 1
    return JSONResponse(firefly_body(job, sim.clock.now(), _links(sim, request, job)))


async def photoshop_status(desk: Desk, request: Request, caller: Caller, _: Effects) -> Response:
    """Answer `GET /v2/status/{jobId}`."""
    sim = desk.simulator
    job = _found(sim, request, caller, photoshop=True)
    sim.bills.polls[job.name] += 1
    links = _links(sim, request, job)
    return JSONResponse(photoshop_body(job, sim.clock.now(), links, sim.settings))


async def cancel(desk: Desk, request: Request, caller: Caller, _: Effects) -> Response:
    """Answer `PUT /v3/cancel/{jobId}`; 200 says that it was asked, not that it is done."""
    sim = desk.simulator
    job = _found(sim, request, caller, photoshop=False)
    word = job.status_at(sim.clock.now())
    if word in _CANCELLED or word == "cancel_pending":
        raise coded(409, "job_already_canceled", "The job is already cancelled.")
    if word == "timeout":
        raise coded(410, "job_timeout", "The job has timed out.")
    if job.has_ended(sim.clock.now()):
        raise coded(409, "job_completed", "The job has completed.")
    if job.effects.find(CancelFailed) is not None:
        raise coded(409, "job_cancel_failed", "The job could not be cancelled.")
    desk.worker.cancel(job)
    return Response(status_code=200)


def _links(sim: Simulator, request: Request, job: Job) -> Callable[[Output], str]:
    """Return how to link an output in this answer; each answer counts once for `expired_url`."""
    base = sim.base_url(request)
    now = sim.clock.now()
    ended_at = job.ends_at or now
    signed_at = now if sim.settings.fresh_urls else ended_at
    if job.has_ended(now):
        job.answers_given += 1
    expired = job.effects.find(ExpiredUrl)
    stale = expired is not None and (
        expired.answers is None or job.answers_given <= expired.answers
    )

    def link(output: Output) -> str:
        life = output.lifetime or sim.settings.output_ttl
        moment = signed_at - life - timedelta(minutes=1) if stale else signed_at
        return base + sim.signer.path(output.id, output.media_type, signed_at=moment, life=life)

    return link
