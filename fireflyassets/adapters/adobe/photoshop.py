"""Photoshop's calls, v2.

Belongs here: paths, and our words turned into bodies. Does not: the bodies' rules
(``photoshop_bodies.py``), what all services share (``service.py``). Version 1 has ended.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from fireflyassets.adapters.adobe import cutting_bodies
from fireflyassets.adapters.adobe import photoshop_bodies as bodies
from fireflyassets.adapters.adobe.bodies import Body, made
from fireflyassets.adapters.adobe.photoshop_text import text_fields
from fireflyassets.adapters.adobe.service import AdobeService, ServiceParts
from fireflyassets.core.failure import Family
from fireflyassets.core.request import Problem
from fireflyassets.ports.documents import (
    ActionsRequest,
    ArtboardRequest,
    CompositeRequest,
    CropRequest,
    CutOutRequest,
    DocumentComposer,
    EditRequest,
    ManifestRequest,
    OutputFile,
    PictureCutter,
)
from fireflyassets.ports.paid import Done, Poll, Submission

_MOST_BYTES: Final = 1_000_000


class _Photoshop(AdobeService):
    """What the two ports share: the way of a body to the wire."""

    family: Family = Family.PHOTOSHOP

    async def _send(
        self, path: str, body: Body | tuple[Problem, ...], *, hide: Iterable[str] = ()
    ) -> Submission:
        if not isinstance(body, Body):
            return self._refuse(body)
        content = body.wire()
        if len(content) >= _MOST_BYTES:
            message = f"The request has {len(content)} bytes, not under {_MOST_BYTES}."
            fix = "Shorten the texts, or split the call."
            return self._refuse((Problem("body", "bytes", message, fix),))
        return await self._submit(path, content, headers={}, hide=hide)


class PhotoshopDocuments(_Photoshop, DocumentComposer):
    """Fills templates with Photoshop."""

    async def compose(self, request: CompositeRequest) -> Submission:
        """Send one composite."""
        fields: dict[str, object] = {
            "image": _file(request.template_url),
            "edits": {"layers": _layers(request)},
            "font_options": {"additional_fonts": tuple(map(_file, request.fonts)) or None},
            "outputs": _outputs(request.outputs),
        }
        body = made(bodies.CompositeBody, fields)
        return await self._send("/v2/create-composite", body, hide=tuple(request.texts.values()))

    async def play(self, request: ActionsRequest) -> Submission:
        """Send one execute-actions."""
        actions: tuple[dict[str, object], ...] = tuple(
            {"source": {"url": url}, "action_name": name} for url, name in request.actions
        )
        if request.written is not None:
            actions = (*actions, {"source": {"content": request.written}})
        fields: dict[str, object] = {
            "image": _file(request.template_url),
            "options": {
                "actions": actions or None,
                "uxp": None if request.script_url is None else _file(request.script_url),
                "additional_contents": tuple(map(_file, request.contents)) or None,
            },
            "outputs": _outputs(request.outputs),
        }
        return await self._send("/v2/execute-actions", made(bodies.ActionsBody, fields))

    async def list_layers(self, request: ManifestRequest) -> Submission:
        """Send one generate-manifest."""
        output = {"destination": {"url": request.output_url}}
        fields: dict[str, object] = {"image": _file(request.template_url), "outputs": (output,)}
        return await self._send("/v2/generate-manifest", made(bodies.ManifestBody, fields))

    async def lay_out(self, request: ArtboardRequest) -> Submission:
        """Send one create-artboard."""
        fields: dict[str, object] = {
            "images": tuple(map(_file, request.pictures)),
            "artboard_spacing": request.spacing,
            "outputs": _outputs(request.outputs),
        }
        return await self._send("/v2/create-artboard", made(bodies.ArtboardBody, fields))

    async def edit(self, request: EditRequest) -> Submission:
        """Send one edit."""
        exposure = None if request.exposure is None else float(request.exposure)
        output = {"media_type": request.media_type, "destination": {"url": request.output_url}}
        fields: dict[str, object] = {
            "image": _file(request.picture_url),
            "edits": {
                "auto_tone": request.auto_tone or None,
                "light": {"exposure": exposure, "contrast": request.contrast},
            },
            "outputs": (output,),
        }
        return await self._send("/v2/edit", made(bodies.EditBody, fields))

    async def poll(self, status_url: str) -> Poll:
        """Ask how a job stands. Its outputs have no URL: they were written to ours."""
        poll = await super().poll(status_url)
        if isinstance(poll, Done):
            outputs = tuple(replace(output, url=None) for output in poll.outputs)
            return replace(poll, outputs=outputs)
        return poll


class PhotoshopCutter(_Photoshop, PictureCutter):
    """Cuts pictures; remove-background lives on a host of its own."""

    def __init__(self, parts: ServiceParts, *, base_url: str, cut_out_url: str) -> None:
        """Take the shared parts and both addresses.

        Raises:
            UnusableConfiguration: One of them is not a URL.
        """
        super().__init__(parts, base_url=base_url)
        self._cut_outs = _CutOuts(parts, base_url=cut_out_url)

    async def auto_crop(self, request: CropRequest) -> Submission:
        """Send one auto-crop."""
        fields: dict[str, object] = {
            "image": _file(request.picture_url),
            "mode": request.mode,
            "aspect_ratio": request.ratios or None,
            "focus": request.focus or None,
        }
        return await self._send("/v1/auto-crop", made(cutting_bodies.CropBody, fields))

    async def cut_out(self, request: CutOutRequest) -> Submission:
        """Send one remove-background."""
        fields: dict[str, object] = {
            "image": _file(request.picture_url),
            "mode": request.mode,
            "output": {"media_type": request.media_type},
            "trim": request.trim,
        }
        return await self._cut_outs.send(made(cutting_bodies.CutOutBody, fields))


class _CutOuts(_Photoshop):
    """The host of remove-background."""

    async def send(self, body: Body | tuple[Problem, ...]) -> Submission:
        """Send one remove-background."""
        return await self._send("/v2/remove-background", body)


def _layers(request: CompositeRequest) -> tuple[Mapping[str, object], ...]:
    """Return pictures, then texts: the service draws the first named layer first."""
    pictures = (
        {
            "type": "smart_object_layer",
            "id": request.layer_ids.get(name),
            "name": name,
            "smart_object": {"smart_object_file": _file(url)},
        }
        for name, url in request.pictures.items()
    )
    texts = (
        {
            "type": "text_layer",
            "id": request.layer_ids.get(name),
            "name": name,
            "text": text_fields(words, request.styles.get(name)),
        }
        for name, words in request.texts.items()
    )
    return (*pictures, *texts)


def _outputs(files: tuple[OutputFile, ...]) -> tuple[dict[str, object], ...]:
    return tuple(
        {
            "media_type": file.media_type,
            "destination": {"url": file.url},
            "width": file.width,
            "height": file.height,
            "quality": "maximum" if file.media_type == "image/jpeg" else None,
        }
        for file in files
    )


def _file(url: str) -> dict[str, object]:
    return {"source": {"url": url}}
