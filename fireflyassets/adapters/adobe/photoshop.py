"""Photoshop's create-composite, v2.

Belongs here: its path, body and limits. Does not: what all services share.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

from pydantic import BaseModel

from fireflyassets.adapters.adobe.hosts import parse_address
from fireflyassets.adapters.adobe.service import AdobeService
from fireflyassets.core.failure import Family
from fireflyassets.core.request import Problem
from fireflyassets.ports.documents import CompositeRequest, DocumentComposer
from fireflyassets.ports.paid import Done, Poll, Submission

_PATH: Final = "/v2/create-composite"
_MOST_BYTES: Final = 1_000_000
_WIDEST: Final = 32_000
_TEXT_LONGEST: Final = 51_200
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class _Url(BaseModel):
    url: str


class _Source(BaseModel):
    source: _Url


class _Edit(BaseModel):
    type: Literal["edit"] = "edit"


class _SmartObject(BaseModel):
    smartObjectFile: _Source  # noqa: N815 - Adobe's name, as below.


class _SmartObjectLayer(BaseModel):
    type: Literal["smart_object_layer"] = "smart_object_layer"
    name: str
    operation: _Edit = _Edit()
    smartObject: _SmartObject  # noqa: N815


class _Text(BaseModel):
    content: str


class _TextLayer(BaseModel):
    type: Literal["text_layer"] = "text_layer"
    name: str
    operation: _Edit = _Edit()
    text: _Text


class _Edits(BaseModel):
    layers: tuple[_SmartObjectLayer | _TextLayer, ...]


class _FontOptions(BaseModel):
    # `use_default` would render a wrong font and succeed.
    missingFontStrategy: Literal["fail"] = "fail"  # noqa: N815


class _Output(BaseModel):
    mediaType: Literal["image/jpeg", "image/png"]  # noqa: N815
    destination: _Url
    width: int
    height: int
    quality: Literal["maximum"] | None = None


class _CompositeBody(BaseModel):
    """The part of `CreateCompositeRequest` that we send."""

    image: _Source
    edits: _Edits
    fontOptions: _FontOptions = _FontOptions()  # noqa: N815 - top level in this call only.
    outputs: tuple[_Output]


class PhotoshopDocuments(AdobeService, DocumentComposer):
    """Fills templates with Photoshop."""

    family: Family = Family.PHOTOSHOP

    async def compose(self, request: CompositeRequest) -> Submission:
        """Send one composite; a request that Photoshop would refuse is not sent."""
        problems = check(request)
        content = b"" if problems else _body(request)
        if len(content) >= _MOST_BYTES:
            problems = [f"The request has {len(content)} bytes; it must stay under {_MOST_BYTES}."]
        if problems:
            return self._refuse(tuple(Problem("", "limits", one, "") for one in problems))
        hide = tuple(request.texts.values())
        return await self._submit(_PATH, content, headers={}, hide=hide)

    async def poll(self, status_url: str) -> Poll:
        """Ask how a job stands. Its outputs have no URL: they were written to ours."""
        poll = await super().poll(status_url)
        if isinstance(poll, Done):
            outputs = tuple(replace(output, url=None) for output in poll.outputs)
            return replace(poll, outputs=outputs)
        return poll


def check(request: CompositeRequest) -> list[str]:
    """Return what Photoshop would refuse in *request*, without its words and URLs."""
    return [*_size_problems(request), *_layer_problems(request), *_url_problems(request)]


def _size_problems(request: CompositeRequest) -> Iterator[str]:
    if not (0 < request.width <= _WIDEST and 0 < request.height <= _WIDEST):
        yield f"{request.width}x{request.height} is not a size from 1 to {_WIDEST} pixels."
    if request.media_type not in {"image/jpeg", "image/png"}:
        yield "The output is image/jpeg or image/png."


def _layer_problems(request: CompositeRequest) -> Iterator[str]:
    names = [*request.pictures, *request.texts]
    if not names or not all(names):
        yield "Name at least one layer, and none with an empty name."
    if both := set(request.pictures) & set(request.texts):
        yield f"{len(both)} layers are named both as a picture and as a text."
    if any(_SURROGATE.search(text) for text in (*names, *request.texts.values())):
        yield "A layer's name or text holds half of a surrogate pair."
    for name, text in request.texts.items():
        if len(text) > _TEXT_LONGEST:
            yield f"The text of layer {name[:80]!r} has more than {_TEXT_LONGEST} characters."


def _url_problems(request: CompositeRequest) -> Iterator[str]:
    urls = {
        "template": request.template_url,
        "output": request.output_url,
        **{f"picture of layer {name[:80]!r}": url for name, url in request.pictures.items()},
    }
    for name, url in urls.items():
        address = parse_address(url)
        if address is None or (address.scheme != "https" and not address.is_loopback):
            yield f"The URL of the {name} is not a whole HTTPS URL."


def _body(request: CompositeRequest) -> bytes:
    pictures = (
        _SmartObjectLayer(name=name, smartObject=_SmartObject(smartObjectFile=_source(url)))
        for name, url in request.pictures.items()
    )
    texts = (
        _TextLayer(name=name, text=_Text(content=text)) for name, text in request.texts.items()
    )
    jpeg = request.media_type == "image/jpeg"
    output = _Output(
        mediaType="image/jpeg" if jpeg else "image/png",
        destination=_Url(url=request.output_url),
        width=request.width,
        height=request.height,
        quality="maximum" if jpeg else None,
    )
    body = _CompositeBody(
        image=_source(request.template_url),
        edits=_Edits(layers=(*pictures, *texts)),
        outputs=(output,),
    )
    return body.model_dump_json(exclude_none=True).encode()


def _source(url: str) -> _Source:
    return _Source(source=_Url(url=url))
