"""Uploads and custom models: Firefly's two free calls beside status and cancel.

Belongs here: `POST /v2/storage/image` and `GET /v3/custom-models`. Does not belong here: the
records of uploads (`uploads.py`).
"""

import io
from uuid import uuid4

from PIL import Image, UnidentifiedImageError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fireflyassets.twin.calls import Desk
from fireflyassets.twin.effects import Effects
from fireflyassets.twin.gateway import Caller
from fireflyassets.twin.rejections import RejectionError, coded, too_large
from fireflyassets.twin.settings import CustomModelSetting

MAX_UPLOAD_BYTES = 15_000_000
UPLOAD_TYPES = frozenset({"image/jpeg", "image/png", "image/webp", "image/tiff", "image/jxl"})
_UNREADABLE_HERE = frozenset({"image/jxl"})  # Pillow has no decoder: taken without a look.
_STATES = frozenset(
    {"all", "ready", "published", "unpublished", "queued", "training", "failed", "cancelled"}
)
_SORTS = frozenset({"assetName", "createdDate", "modifiedDate"})
_LARGEST_PAGE = 50
_CREATED = "2026-01-15T09:00:00Z"  # Any date will do; a fixed one keeps answers repeatable.


async def upload(desk: Desk, request: Request, caller: Caller, _: Effects) -> Response:
    """Answer an upload with its id, valid for a week."""
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type not in UPLOAD_TYPES:
        raise coded(415, "invalid_content_type", "Send the image as the raw body.")
    content = await _content(request)
    if not content:
        raise coded(400, "empty_input_body", "The request body is empty.")
    if media_type not in _UNREADABLE_HERE and not _is_picture(content):
        raise coded(400, "bad_request", "The body is not an image.")
    sim = desk.simulator
    kept = sim.uploads.add(uuid4(), caller.organisation, content, sim.clock.now())
    sim.keep_upload(kept)
    return JSONResponse({"images": [{"id": kept.id}]})


async def _content(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_UPLOAD_BYTES:
            raise too_large()
        parts.append(part)
    return b"".join(parts)


def _is_picture(content: bytes) -> bool:
    try:
        with Image.open(io.BytesIO(content)):
            return True
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return False


def _reason(status: int, reason: str, message: str) -> RejectionError:
    return RejectionError(status, {"reason": reason, "message": message})


async def custom_models(desk: Desk, request: Request, caller: Caller, _: Effects) -> Response:
    """Answer with the organisation's custom models; errors have a shape of their own."""
    if "x-request-id" not in request.headers:
        raise _reason(400, "bad_request", "x-request-id is required")
    if "custom_models" not in caller.account.entitlements:
        raise _reason(403, "forbidden", "The organisation has no custom models")
    query = request.query_params
    if query.get("sortBy", "modifiedDate").removeprefix("-") not in _SORTS:
        raise _reason(400, "bad_request", "unknown sortBy")
    state = query.get("publishedState", "published")
    if state not in _STATES:
        raise _reason(400, "bad_request", "unknown publishedState")
    models = desk.simulator.settings.custom_models
    shown = models if state in {"all", "ready", "published"} else ()
    page = shown[_page(request)]
    return JSONResponse(
        {
            "custom_models": [_model(model) for model in page],
            "total_count": len(shown),
            "_links": {},
        }
    )


def _page(request: Request) -> slice:
    start, limit = request.query_params.get("start"), request.query_params.get("limit")
    if limit is not None and start is None:
        raise _reason(400, "bad_request", "limit requires start")
    try:
        first = int(start or 0)
        count = _LARGEST_PAGE if limit is None else int(limit)
    except ValueError as error:
        raise _reason(400, "bad_request", "start and limit are numbers") from error
    if first < 0 or not 1 <= count <= _LARGEST_PAGE:
        raise _reason(400, "bad_request", f"limit is 1 to {_LARGEST_PAGE}")
    return slice(first, first + count)


def _model(model: CustomModelSetting) -> dict[str, object]:
    name = model.asset_id.rpartition(":")[2]
    described: dict[str, object] = {
        "assetId": model.asset_id,
        "assetName": name,
        "displayName": f"Twin {model.training_mode} model",
        "trainingMode": model.training_mode,
        "publishedState": "published",
        "baseModel": {"name": model.base_model, "version": "1"},
        "version": "1",
        "createdDate": _CREATED,
        "modifiedDate": _CREATED,
    }
    if model.training_mode == "subject":
        described["conceptId"] = f"twin-{name[:8]}"
    return described
