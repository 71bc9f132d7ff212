"""The vendor's services that cost nothing, in memory: uploads and the list of custom models.

Belongs here: doubles that take everything. Does not: paid services (``paid_services.py``).
"""

import hashlib
from collections import deque
from collections.abc import Awaitable, Callable

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.recipe_step import Model
from fireflyassets.ports.custom_models import CustomModel, CustomModels, NotReady, Ready
from fireflyassets.ports.images import Linked, Source, Uploaded
from fireflyassets.ports.references import ReferenceStore, UploadFailed


class FakeReferences(ReferenceStore):
    """Takes every URL as it is, and every picture under its hash."""

    async def upload(self, content: bytes) -> Uploaded | UploadFailed:
        return Uploaded(hashlib.sha256(content).hexdigest())

    async def offer(
        self, url: str, content: Callable[[], Awaitable[bytes]]
    ) -> Source | UploadFailed:
        return Linked(url)

    async def forget(self, content: bytes) -> None:
        pass


class FakeModels(CustomModels):
    """Tells of every custom model what stands in *said*, the last word for ever; of none at first.

    ``""`` makes a model ready, another word is the code of why it is not.
    """

    def __init__(self, *said: str) -> None:
        self.said = deque(said or ("model_unknown",))
        self.concept: str | None = None

    async def models(self) -> tuple[CustomModel, ...] | NotReady:
        return ()

    async def check(self, asset_id: str, model: Model) -> Ready | NotReady:
        code = self.said.popleft() if len(self.said) > 1 else self.said[0]
        if code:
            return NotReady(Fault(Family.FIREFLY, None, code))
        return Ready(CustomModel(asset_id, "a model", "ready", "", self.concept))
