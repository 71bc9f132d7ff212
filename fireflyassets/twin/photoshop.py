"""Photoshop's paid calls: from a submission to a plan.

Belongs here: one planner per call. Inputs are fetched while the job runs, as the service does,
so a bad URL fails the job and not the submit. Does not belong here: field types
(`photoshop_bodies.py`), rules (`photoshop_rules.py`), pixels (`photoshop_pictures.py`).
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from fireflyassets.twin import photoshop_rules as rules
from fireflyassets.twin.bodies import Body
from fireflyassets.twin.effects import Effects
from fireflyassets.twin.encoding import OutputSpec
from fireflyassets.twin.flaws import check
from fireflyassets.twin.jobs import Output
from fireflyassets.twin.layers import LayerReader
from fireflyassets.twin.photoshop_bodies import (
    ActionsBody,
    ArtboardBody,
    CompositeBody,
    EditBody,
    ManifestBody,
    RemoveBackgroundBody,
)
from fireflyassets.twin.photoshop_parts import (
    Canvas,
    Destination,
    Document,
    LightroomOutput,
    ManifestOutput,
    PhotoshopOutput,
)
from fireflyassets.twin.photoshop_pictures import (
    Composition,
    adjusted,
    artboard,
    composed,
    cut_out,
    manifest,
)
from fireflyassets.twin.plans import Plan, Planner, Produce, Submission
from fireflyassets.twin.rejections import invalid_photoshop
from fireflyassets.twin.simulator import Simulator

B = TypeVar("B", bound=Body)
AnyOutput = PhotoshopOutput | ManifestOutput | LightroomOutput

RATE = "photoshop"
_HOUR = timedelta(hours=1)


class PhotoshopPlanner:
    """Makes the plan of each paid Photoshop call."""

    def __init__(self, simulator: Simulator) -> None:
        self._sim = simulator
        self._reader = LayerReader(simulator)

    def planners(self) -> Mapping[str, Planner]:
        """Return the planner of each endpoint by its short name."""
        return {
            "composite": self.composite,
            "actions": self.actions,
            "manifest": self.manifest,
            "artboard": self.artboard,
            "edit": self.edit,
            "remove_background": self.remove_background,
        }

    async def composite(self, asked: Submission) -> Plan:
        """Plan a composite: fetch, render once, encode per output."""
        body = _read(CompositeBody, asked.body)
        rules.check_transforms(body.edits.layers)
        rules.refuse_if(
            rules.canvas_flaws(body.image),
            rules.layer_flaws(body.edits.layers),
            rules.output_flaws(_destinations(body.outputs)),
        )

        async def produce(effects: Effects) -> Sequence[bytes]:
            strategy = body.font_options.missing_font_strategy
            edits = await self._reader.edits(
                body.edits.layers,
                keep_pictures=effects.spoils("unchanged_picture"),
                missing_font=strategy,
            )
            composition = Composition(
                document=await self._document(body.image),
                canvas=_canvas(body.image),
                edits=edits,
                missing_font=strategy,
                changes=body.edits.document or Document(),
                specs=_specs(body.outputs),
            )
            return await self._sim.pool.run(composed, self._sim.renderer, composition)

        return _plan(body.outputs, produce)

    async def actions(self, asked: Submission) -> Plan:
        """Plan an execute-actions: the document comes out as it is."""
        body = _read(ActionsBody, asked.body)
        rules.refuse_if(
            rules.canvas_flaws(body.image),
            rules.actions_flaws(body.options),
            rules.output_flaws(_destinations(body.outputs)),
        )

        async def produce(_: Effects) -> Sequence[bytes]:
            composition = Composition(
                document=await self._document(body.image),
                canvas=_canvas(body.image),
                specs=_specs(body.outputs),
            )
            return await self._sim.pool.run(composed, self._sim.renderer, composition)

        return _plan(body.outputs, produce)

    async def manifest(self, asked: Submission) -> Plan:
        """Plan a generate-manifest: the layer tree goes to every output."""
        body = _read(ManifestBody, asked.body)
        rules.refuse_if(
            rules.source_flaws(body.image.source, "image", "source"),
            rules.output_flaws(_destinations(body.outputs)),
        )

        async def produce(_: Effects) -> Sequence[bytes]:
            document = await self._reader.fetch(body.image.source, "image.source")
            made = await self._sim.pool.run(manifest, self._sim.renderer, document)
            return [made] * len(body.outputs)

        return _plan(body.outputs, produce)

    async def artboard(self, asked: Submission) -> Plan:
        """Plan a create-artboard: the images side by side."""
        body = _read(ArtboardBody, asked.body)
        rules.refuse_if(
            *(
                rules.source_flaws(image.source, "images", index, "source")
                for index, image in enumerate(body.images)
            ),
            rules.output_flaws(_destinations(body.outputs)),
        )

        async def produce(_: Effects) -> Sequence[bytes]:
            documents = [
                await self._reader.fetch(image.source, f"images.{index}.source")
                for index, image in enumerate(body.images)
            ]
            return await self._sim.pool.run(
                artboard, self._sim.renderer, documents, body.artboard_spacing,
                _specs(body.outputs),
            )  # fmt: skip

        return _plan(body.outputs, produce)

    async def edit(self, asked: Submission) -> Plan:
        """Plan an edit: tone, exposure and contrast."""
        body = _read(EditBody, asked.body)
        rules.refuse_if(
            rules.source_flaws(body.image.source, "image", "source"),
            rules.output_flaws(_destinations(body.outputs)),
        )
        light = (body.edits.auto_tone, body.edits.light.exposure, body.edits.light.contrast)

        async def produce(_: Effects) -> Sequence[bytes]:
            document = await self._reader.fetch(body.image.source, "image.source")
            specs = _specs(body.outputs)
            return await self._sim.pool.run(adjusted, self._sim.renderer, document, light, specs)

        return _plan(body.outputs, produce)

    async def remove_background(self, asked: Submission) -> Plan:
        """Plan a remove-background; its one output is hosted for an hour."""
        body = _read(RemoveBackgroundBody, asked.body)
        rules.refuse_if(rules.source_flaws(body.image.source, "image", "source"))
        chosen = body.output.media_type or "image/png"
        media_type = "image/vnd.adobe.photoshop" if body.mode == "psd" else chosen

        async def produce(_: Effects) -> Sequence[bytes]:
            picture = await self._reader.fetch(body.image.source, "image.source")
            return await self._sim.pool.run(cut_out, picture, body.mode, media_type)

        output = Output(id="", media_type=media_type, lifetime=_HOUR)
        return Plan(rate=RATE, outputs=[output], produce=produce)

    async def _document(self, image: Canvas) -> bytes | None:
        if image.source is None:
            return None
        return await self._reader.fetch(image.source, "image.source")


def _read(model: type[B], body: object) -> B:
    checked = check(model, body)
    if isinstance(checked, list):
        raise invalid_photoshop(checked)
    return checked


def _destinations(outputs: Sequence[AnyOutput]) -> list[tuple[str, Destination]]:
    return [(output.media_type, output.destination) for output in outputs]


def _canvas(image: Canvas) -> tuple[int, int, str] | None:
    if image.width is None or image.height is None:
        return None
    return image.width, image.height, image.fill


def _specs(outputs: Sequence[PhotoshopOutput | LightroomOutput]) -> list[OutputSpec]:
    return [_spec(output) for output in outputs]


def _spec(output: PhotoshopOutput | LightroomOutput) -> OutputSpec:
    if isinstance(output, LightroomOutput):
        return OutputSpec(media_type=output.media_type, quality=output.quality)
    return OutputSpec(
        media_type=output.media_type,
        width=output.width,
        height=output.height,
        max_width=output.max_width,
        quality=output.quality,
        compression=output.compression,
        resample=output.resample,
        crop_mode=output.crop_mode,
    )


def _plan(outputs: Sequence[AnyOutput], produce: Produce) -> Plan:
    return Plan(rate=RATE, outputs=[_output(each) for each in outputs], produce=produce)


def _output(asked: AnyOutput) -> Output:
    destination = asked.destination
    hosted = destination.validity_period
    given = destination.model_dump(by_alias=True, exclude_none=True)
    return Output(
        id="",
        media_type=asked.media_type,
        lifetime=None if hosted is None else timedelta(seconds=hosted),
        destination=None if hosted is not None else given,
    )
