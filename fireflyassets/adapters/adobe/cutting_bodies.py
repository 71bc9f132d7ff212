"""Request bodies of the services beside Photoshop v2 that cut: auto-crop and remove-background.

Belongs here: their fields and bounds. Does not: the layered calls (``photoshop_bodies.py``).
"""

from typing import Literal, Self

from pydantic import model_validator

from fireflyassets.adapters.adobe.bodies import Body, broken
from fireflyassets.adapters.adobe.photoshop_bodies import FileBody

Ratio = Literal["1:1", "16:9", "9:16", "4:3", "3:4", "4:5", "5:4", "3:2", "2:3", "21:9"]


class CropBody(Body):
    """`POST /v1/auto-crop`, on the host of v2."""

    image: FileBody
    mode: Literal["smartCrop", "subjectCrop", "fullSceneDetection", "objectDetection"]
    aspect_ratio: tuple[Ratio, ...] | None = None
    focus: tuple[str, ...] | None = None
    output_type: Literal["images"] = "images"

    @model_validator(mode="after")
    def _focus_where_it_is_looked_for(self) -> Self:
        looks = self.mode in {"subjectCrop", "objectDetection"}
        if looks != bool(self.focus):
            raise broken(
                "focus",
                "A subject crop and an object detection need a focus; no other mode takes one.",
                "Say what to look for, or take another mode.",
                field="focus",
            )
        return self


class CutOutOutputBody(Body):
    """How a cut-out is kept."""

    media_type: Literal["image/jpeg", "image/png", "image/webp", "image/vnd.adobe.photoshop"]


class CutOutBody(Body):
    """`POST /v2/remove-background`."""

    image: FileBody
    mode: Literal["cutout", "mask", "psd"]
    output: CutOutOutputBody
    trim: bool
