"""The vendor's services that cost nothing, in memory: uploads and the list of custom models.

Belongs here: doubles that take everything. Does not: paid services (``paid_services.py``).
"""

import hashlib
from collections.abc import Awaitable, Callable

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.recipe import Model
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
    """Knows no custom model."""

    async def models(self) -> tuple[CustomModel, ...] | NotReady:
        return ()

    async def check(self, asset_id: str, model: Model) -> Ready | NotReady:
        return NotReady(Fault(Family.FIREFLY, None, "model_unknown"))
