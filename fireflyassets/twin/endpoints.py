"""The calls Adobe offers, as one table.

Belongs here: each call's short name (used by faults and bills), family, method, path, and the
shape and status of its answer. Does not belong here: what a call does.
"""

from dataclasses import dataclass
from enum import StrEnum


class Family(StrEnum):
    """Which service answers; limits are counted per organisation and family."""

    IMS = "ims"
    FIREFLY = "firefly"
    PHOTOSHOP = "photoshop"
    STORAGE = "storage"


class Shape(StrEnum):
    """How an accepted job is announced."""

    URLS = "urls"  # {jobId, statusUrl, cancelUrl} and a Link header.
    LINKS = "links"  # {links: {result, cancel}}, without a job id.
    PHOTOSHOP = "photoshop"  # {jobId, statusUrl}.


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One call. `paid` means that an accepted one is billed and listed."""

    name: str
    family: Family
    method: str
    path: str
    paid: bool = False
    shape: Shape = Shape.URLS
    accepted: int = 202


def _firefly(name: str, path: str, *, shape: Shape, accepted: int = 202) -> Endpoint:
    return Endpoint(
        name=name,
        family=Family.FIREFLY,
        method="POST",
        path=path,
        paid=True,
        shape=shape,
        accepted=accepted,
    )


def _photoshop(name: str, path: str) -> Endpoint:
    return Endpoint(
        name=name,
        family=Family.PHOTOSHOP,
        method="POST",
        path=path,
        paid=True,
        shape=Shape.PHOTOSHOP,
    )


GENERATE = _firefly("generate", "/v3/images/generate-async", shape=Shape.URLS)
GENERATE_V4 = _firefly("generate_v4", "/v4/images/generate-async", shape=Shape.LINKS, accepted=200)
SIMILAR = _firefly("similar", "/v3/images/generate-similar-async", shape=Shape.URLS)
EXPAND = _firefly("expand", "/v3/images/expand-async", shape=Shape.URLS)
FILL = _firefly("fill", "/v3/images/fill-async", shape=Shape.URLS)
UPSCALE = _firefly("upscale", "/v3/images/upscale", shape=Shape.LINKS)

COMPOSITE = _photoshop("composite", "/v2/create-composite")
ACTIONS = _photoshop("actions", "/v2/execute-actions")
MANIFEST = _photoshop("manifest", "/v2/generate-manifest")
ARTBOARD = _photoshop("artboard", "/v2/create-artboard")
EDIT = _photoshop("edit", "/v2/edit")
AUTO_CROP = _photoshop("auto_crop", "/v1/auto-crop")
REMOVE_BACKGROUND = _photoshop("remove_background", "/v2/remove-background")

TOKEN = Endpoint(name="token", family=Family.IMS, method="POST", path="/ims/token/v3")
STATUS = Endpoint(
    name="status", family=Family.FIREFLY, method="GET", path="/v3/status/{job_id:path}"
)
CANCEL = Endpoint(
    name="cancel", family=Family.FIREFLY, method="PUT", path="/v3/cancel/{job_id:path}"
)
UPLOAD = Endpoint(name="upload", family=Family.FIREFLY, method="POST", path="/v2/storage/image")
CUSTOM_MODELS = Endpoint(
    name="custom_models", family=Family.FIREFLY, method="GET", path="/v3/custom-models"
)
PHOTOSHOP_STATUS = Endpoint(
    name="photoshop_status",
    family=Family.PHOTOSHOP,
    method="GET",
    path="/v2/status/{job_id:path}",
)
OUTPUT = Endpoint(name="output", family=Family.STORAGE, method="GET", path="/_out/{name}")

PAID_FIREFLY = (GENERATE, GENERATE_V4, SIMILAR, EXPAND, FILL, UPSCALE)
PAID_PHOTOSHOP = (COMPOSITE, ACTIONS, MANIFEST, ARTBOARD, EDIT, AUTO_CROP, REMOVE_BACKGROUND)
ALL = (
    *PAID_FIREFLY,
    *PAID_PHOTOSHOP,
    TOKEN,
    STATUS,
    CANCEL,
    UPLOAD,
    CUSTOM_MODELS,
    PHOTOSHOP_STATUS,
    OUTPUT,
)
BY_NAME = {endpoint.name: endpoint for endpoint in ALL}
