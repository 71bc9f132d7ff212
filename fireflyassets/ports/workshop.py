"""Where the paid services of a credential are opened, as a port.

Belongs here: opening and closing. Does not: calls.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from fireflyassets.ports.catalogue import Credential
from fireflyassets.ports.custom_models import CustomModels
from fireflyassets.ports.documents import DocumentComposer, PictureCutter
from fireflyassets.ports.images import ImageGenerator
from fireflyassets.ports.references import ReferenceStore
from fireflyassets.ports.tokens import TokenCounts


@dataclass(frozen=True, slots=True)
class PaidServices:
    """The clients of one credential."""

    images: ImageGenerator
    documents: DocumentComposer
    cutter: PictureCutter
    references: ReferenceStore
    models: CustomModels
    token_counts: Callable[[], TokenCounts] = TokenCounts
    """How the token cache does so far; the share of hits should stay over 99 %."""


class Workshop(ABC):
    """Opens the paid services of a credential inside a running event loop."""

    @abstractmethod
    def open(self, credential: Credential) -> AbstractAsyncContextManager[PaidServices]:
        """Open the clients; leaving the context closes their connections."""
