"""What an accepted submit says, in any of its three shapes.

Belongs here: finding the poll link, the cancel link and the job's id. Does not: the HTTP status.

    Firefly v3       {jobId, statusUrl, cancelUrl}
    Firefly v4 etc.  {links: {result: {href}, cancel: {href}}}, no id
    Photoshop v2     {jobId, statusUrl}
"""

import re
from typing import Final, cast
from urllib.parse import unquote

from fireflyassets.ports.paid import Accepted

_LINK: Final = re.compile(r"[\x21-\x7e]{1,4096}")
_ID: Final = re.compile(r"[\x21-\x7e]{1,512}")


def read(payload: object) -> Accepted | None:
    """Return the accepted job, its URLs untouched; None where there is no link to poll."""
    body = _object(payload)
    links = _object(body.get("links"))
    status_url = _text(_LINK, body.get("statusUrl")) or _href(links, "result")
    if status_url is None:
        return None
    return Accepted(
        vendor_id=_text(_ID, body.get("jobId")) or _id_in(status_url),
        status_url=status_url,
        cancel_url=_text(_LINK, body.get("cancelUrl")) or _href(links, "cancel"),
    )


def _id_in(status_url: str) -> str:
    """Return the last path segment, decoded: where no id is given, it is the id."""
    path = status_url.partition("#")[0].partition("?")[0]
    segment = unquote(path.rstrip("/").rpartition("/")[2])
    return _text(_ID, segment) or path[:512] or "-"


def _href(links: dict[str, object], name: str) -> str | None:
    return _text(_LINK, _object(links.get(name)).get("href"))


def _text(legal: re.Pattern[str], value: object) -> str | None:
    return value if isinstance(value, str) and legal.fullmatch(value) else None


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
