"""Photoshop's auto-crop: its plan and its own result shape.

Belongs here: one centred crop per asked ratio, hosted by the twin, with its box.
Does not belong here: the other Photoshop calls (`photoshop.py`).
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import cast

from fireflyassets.twin.effects import Effects
from fireflyassets.twin.flaws import check
from fireflyassets.twin.jobs import Job, Output
from fireflyassets.twin.layers import LayerReader
from fireflyassets.twin.photoshop_bodies import (
    AutoCropBody,
)
from fireflyassets.twin.photoshop_pictures import cropped
from fireflyassets.twin.photoshop_rules import focus_flaws, refuse_if, source_flaws
from fireflyassets.twin.plans import Plan, Submission
from fireflyassets.twin.rejections import invalid_photoshop
from fireflyassets.twin.simulator import Simulator

_HOUR = timedelta(hours=1)


class AutoCropPlanner:
    """Makes the plan of an auto-crop."""

    def __init__(self, simulator: Simulator) -> None:
        self._sim = simulator
        self._reader = LayerReader(simulator)

    async def plan(self, asked: Submission) -> Plan:
        """Plan one crop per aspect ratio; without one, a square."""
        body = check(AutoCropBody, asked.body)
        if isinstance(body, list):
            raise invalid_photoshop(body)
        refuse_if(source_flaws(body.image.source, "image", "source"), focus_flaws(body))
        source = body.image.source
        ratios = body.aspect_ratio or "1:1"
        ratios = [ratios] if isinstance(ratios, str) else ratios
        outputs = [
            Output(id="", media_type="image/jpeg", lifetime=_HOUR, extra={"ratio": ratio})
            for ratio in ratios
        ]

        async def produce(_: Effects) -> Sequence[bytes]:
            picture = await self._reader.fetch(source, "image.source")
            contents: list[bytes] = []
            for output, ratio in zip(outputs, ratios, strict=True):
                across, down = (int(part) for part in ratio.split(":"))
                content, box = await self._sim.pool.run(cropped, picture, (across, down))
                output.extra["box"] = box
                contents.append(content)
            return contents

        answer: dict[str, object] = {"outputType": body.output_type}
        return Plan(rate="photoshop", outputs=outputs, produce=produce, answer=answer)


def crop_result(job: Job, link: Callable[[Output], str]) -> dict[str, object]:
    """Return the result of an ended auto-crop: boxes, with a URL each when images were asked."""
    images = job.answer.get("outputType") == "images"
    crops: list[dict[str, object]] = []
    for output in job.outputs:
        placed = dict(cast("dict[str, object]", output.extra.get("box", {})))
        if images:
            placed["url"] = link(output)
        crops.append({"boundingBoxes": [placed]})
    return {"outputs": {"subject": [], "objects": [], "crops": crops}}
