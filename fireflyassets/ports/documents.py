"""The document composer (Adobe Photoshop v2) as a port: one request type, one submit.

Belongs here: what a composite needs. Does not: polling and fetching (``ports/paid.py``).
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from fireflyassets.ports.paid import PaidService, Submission


@dataclass(frozen=True, slots=True)
class CompositeRequest:
    """A template with its slots filled, written to one URL of ours. All URLs signed just now."""

    template_url: str = field(repr=False)
    pictures: Mapping[str, str] = field(repr=False)
    """Smart-object layer -> URL of its picture."""
    texts: Mapping[str, str] = field(repr=False)
    """Text layer -> its words."""
    output_url: str = field(repr=False)
    """PUT-signed."""
    width: int
    height: int
    media_type: str = "image/jpeg"


class DocumentComposer(PaidService):
    """Fills templates; every accepted submit is billed."""

    @abstractmethod
    async def compose(self, request: CompositeRequest) -> Submission:
        """Send one composite. Never raises for anything the vendor or the network does."""
