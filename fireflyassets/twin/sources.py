"""Inputs of Firefly calls: upload ids and URLs, turned into bytes before the call is accepted.

Belongs here: the refusals a bad reference earns, and Adobe's list of allowed hosts.
Does not belong here: HTTP transfer (`transfer.py`) and uploads' records (`uploads.py`).
"""

from urllib.parse import urlsplit

from fireflyassets.twin.firefly_bodies import BlobSource, Source
from fireflyassets.twin.plans import Submission
from fireflyassets.twin.rejections import Flaw, RejectionError, invalid_firefly
from fireflyassets.twin.simulator import Simulator
from fireflyassets.twin.transfer import UnreachableError

ALLOWED_HOSTS = (
    "amazonaws.com",
    "windows.net",
    "dropboxusercontent.com",
    "storage.googleapis.com",
)


def is_allowed(url: str) -> bool:
    """Return whether *url* is https on a host of Adobe's list, matched at a label's border."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    on_list = any(host == each or host.endswith(f".{each}") for each in ALLOWED_HOSTS)
    return parts.scheme == "https" and on_list


async def fetch_source(
    simulator: Simulator, asked: Submission, source: Source | BlobSource, loc: tuple[str | int, ...]
) -> bytes:
    """Return the input's bytes, or refuse the call naming the field."""
    if source.upload_id is not None:
        now = simulator.clock.now()
        found = simulator.uploads.find(source.upload_id, asked.caller.organisation, now)
        if found is None:
            raise _refused((*loc, "uploadId"), "unknown or expired upload id")
        return found
    url = source.url or ""
    if simulator.settings.strict_domains and not is_allowed(url):
        raise _refused((*loc, "url"), "the URL's host is not allowed")
    try:
        return await simulator.transfer.get(url)
    except UnreachableError as error:
        raise _refused((*loc, "url"), f"the input cannot be fetched: {error}") from error


def _refused(loc: tuple[str | int, ...], message: str) -> RejectionError:
    return invalid_firefly([Flaw(loc=("body", *loc), msg=message)])
