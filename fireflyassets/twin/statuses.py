"""What a poll sees, in the words of each service.

Belongs here: the status bodies of Firefly and Photoshop jobs. Does not belong here: when a job is
in which state (`jobs.py`), HTTP (`polling.py`).
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from fireflyassets.twin.auto_crop import crop_result
from fireflyassets.twin.endpoints import AUTO_CROP, UPSCALE
from fireflyassets.twin.fault_language import Flags
from fireflyassets.twin.jobs import Job, Output
from fireflyassets.twin.settings import Settings

Link = Callable[[Output], str]


def firefly_body(job: Job, now: datetime, link: Link) -> dict[str, object]:
    """Return the status of a Firefly job.

    Open jobs show the bare id and ended ones the URN, as Adobe's examples do: whoever compares
    ids as text finds out here.
    """
    word = job.status_at(now)
    if not job.has_ended(now):
        return {"status": word, "jobId": job.id, "progress": _progress(job, now)}
    body: dict[str, object] = {"status": word, "jobId": job.name}
    if not word:
        del body["status"]
    if word == "succeeded":
        body["result"] = _firefly_result(job, link)
    if job.error_code is not None:
        body["error_code"] = job.error_code
    if job.message is not None:
        body["message"] = job.message
    return body


def _progress(job: Job, now: datetime) -> float:
    if job.ends_at is None:
        return 0.5
    whole = max(job.ends_at - job.accepted_at, timedelta(microseconds=1))
    return round(min(0.99, max(0.0, (now - job.accepted_at) / whole)), 2)


def _firefly_result(job: Job, link: Link) -> dict[str, object]:
    if job.endpoint is UPSCALE:
        files = [
            {"id": output.id, "presignedUrl": link(output), "name": f"{output.id}.jpg"}
            for output in job.outputs
        ]
        return {"outputs": files, **job.answer}
    outputs = [{"seed": output.seed, "image": {"url": link(output)}} for output in job.outputs]
    flags = job.effects.find(Flags)
    said: dict[str, object] = {}
    if flags is not None and flags.denied_words:
        said["promptHasDeniedWords"] = True
    if flags is not None and flags.blocked_artists:
        said["promptHasBlockedArtists"] = True
    return {"outputs": outputs, **job.answer, **said}


def photoshop_body(job: Job, now: datetime, link: Link, settings: Settings) -> dict[str, object]:
    """Return the status of a Photoshop job: one word, outputs or error details."""
    word = job.status_at(now)
    ended = job.has_ended(now)
    modified = job.ends_at if ended and job.ends_at else now
    body: dict[str, object] = {
        "jobId": job.name,
        "status": word,
        "createdTime": _time(job.accepted_at),
        "modifiedTime": _time(modified),
    }
    if not word:
        del body["status"]
    if ended and word == "succeeded":
        body["result"] = _photoshop_result(job, link, settings)
    elif ended and (job.error_code or job.message):
        details = {"errorCode": job.error_code or "500600", "message": job.message or ""}
        body["errorDetails"] = [details]
    return body


def _photoshop_result(job: Job, link: Link, settings: Settings) -> dict[str, object]:
    if job.endpoint is AUTO_CROP:
        return crop_result(job, link)
    flat = settings.photoshop_result == "flat"
    return {"outputs": [_photoshop_output(output, link, flat=flat) for output in job.outputs]}


def _photoshop_output(output: Output, link: Link, *, flat: bool) -> dict[str, object]:
    hosted = output.destination is None
    destination: dict[str, object] = (
        {"url": link(output)} if hosted else {**(output.destination or {}), **output.extra}
    )
    if flat and "url" in destination:
        return {"mediaType": output.media_type, "url": destination["url"]}
    return {"mediaType": output.media_type, "destination": destination}


def _time(instant: datetime) -> str:
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
