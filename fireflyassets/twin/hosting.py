"""Serving the twin's own output files, in the manner of S3.

Belongs here: the signature, the expiry, the refusal of a second auth scheme, ranges.
Does not belong here: where the bytes lie (`outputs.py`).
"""

import re
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from fireflyassets.twin.firefly_pictures import generated
from fireflyassets.twin.outputs import ends_at
from fireflyassets.twin.rejections import RejectionError
from fireflyassets.twin.simulator import Simulator

_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


def _s3_error(status: HTTPStatus, code: str, message: str) -> Response:
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    )
    return Response(body, status, media_type="application/xml")


async def serve_output(sim: Simulator, request: Request) -> Response:
    """Answer `GET /_out/{name}`: the bytes, or S3's refusal."""
    refused = _refused(sim, request)
    if refused is not None:
        return refused
    output = sim.jobs.output(str(request.path_params["name"]).partition(".")[0])
    if output is None:
        return _s3_error(HTTPStatus.NOT_FOUND, "NoSuchKey", "The specified key does not exist.")
    content = sim.store.find(output.id)
    if content is None and output.recipe is not None:
        content = await sim.pool.run(generated, output.recipe)
        sim.store.cache(output.id, content)
    if content is None:
        return _s3_error(HTTPStatus.NOT_FOUND, "NoSuchKey", "The specified key does not exist.")
    return _ranged(request, content, output.media_type)


def _refused(sim: Simulator, request: Request) -> Response | None:
    query = request.url.query
    if "authorization" in request.headers:
        return _s3_error(
            HTTPStatus.BAD_REQUEST,
            "InvalidArgument",
            "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, "
            "Signature query string parameter or the Authorization header should be specified",
        )
    genuine = sim.signer.is_genuine(_raw_path(request), query)
    if request.method != "GET" or not genuine:
        return _s3_error(
            HTTPStatus.FORBIDDEN,
            "SignatureDoesNotMatch",
            "The request signature we calculated does not match the signature you provided.",
        )
    if sim.clock.now() >= ends_at(query):
        return _s3_error(HTTPStatus.FORBIDDEN, "AccessDenied", "Request has expired")
    return None


def _raw_path(request: Request) -> str:
    raw: bytes = request.scope.get("raw_path", request.url.path.encode())
    return raw.partition(b"?")[0].decode("latin-1")


def _ranged(request: Request, content: bytes, media_type: str) -> Response:
    asked = _RANGE.fullmatch(request.headers.get("range", ""))
    headers = {"Accept-Ranges": "bytes"}
    if asked is None:
        return Response(content, media_type=media_type, headers=headers)
    first = int(asked[1])
    last = min(int(asked[2] or len(content)), len(content) - 1)
    if first > last:
        raise RejectionError(416, "", {"Content-Range": f"bytes */{len(content)}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    return Response(content[first : last + 1], 206, media_type=media_type, headers=headers)
