"""The image generator (Adobe Firefly) as a port: one request type, one submit.

Belongs here: what a picture is made from. Does not: polling and fetching (``ports/paid.py``).
"""

from abc import abstractmethod
from dataclasses import dataclass, field

from fireflyassets.core.recipe import Model
from fireflyassets.ports.paid import PaidService, Submission


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One picture from a text."""

    prompt: str = field(repr=False)
    model: Model
    width: int
    height: int
    seed: int
    locale: str
    content_class: str | None = None


class ImageGenerator(PaidService):
    """Makes pictures; every accepted submit is billed."""

    @abstractmethod
    async def generate(self, request: GenerateRequest) -> Submission:
        """Send one generate. Never raises for anything the vendor or the network does."""
