"""The image generator (Adobe Firefly) as a port: one request type and one submit for each kind.

Belongs here: what a picture is made from. Does not: polling and fetching (``ports/paid.py``),
uploads (``ports/references.py``), custom models (``ports/custom_models.py``).
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum

from fireflyassets.core.recipe_step import Model
from fireflyassets.ports.paid import PaidService, PollFailed, Submission


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A picture in the vendor's own storage, good for a week."""

    upload_id: str


@dataclass(frozen=True, slots=True)
class Linked:
    """A picture behind a signed URL, signed just now."""

    url: str = field(repr=False)


Source = Uploaded | Linked


@dataclass(frozen=True, slots=True)
class Style:
    """What a picture should look like: by a reference, by presets, or both."""

    reference: Source | None = None
    presets: tuple[str, ...] = ()
    strength: int | None = None
    """1 to 100."""


@dataclass(frozen=True, slots=True)
class Structure:
    """A picture whose outlines the result keeps."""

    reference: Source
    strength: int | None = None
    """0 to 100."""


@dataclass(frozen=True, slots=True)
class Varied:
    """What all kinds share: one seed makes one picture, and each further seed one that is paid."""

    seed: int
    more_seeds: tuple[int, ...] = field(default=(), kw_only=True)
    """Extra variants: named one by one, because each has its price."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """Return all seeds; their number is the number of outputs, and of operations."""
        return (self.seed, *self.more_seeds)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequest(Varied):
    """Pictures from a text."""

    seed: int
    prompt: str = field(repr=False)
    model: Model
    width: int
    height: int
    locale: str
    content_class: str | None = None
    negative_prompt: str | None = field(default=None, repr=False)
    custom_model: str | None = None
    """Asset id; with one of the ``*_custom`` models, and only with them."""
    style: Style | None = None
    structure: Structure | None = None
    visual_intensity: int | None = None
    upsampler: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateV4Request:
    """One picture from a text with the next version of the service, which is behind a setting."""

    prompt: str = field(repr=False)
    seed: int
    locale: str
    aspect_ratio: str | None = None
    resolution: str = "2.4MP"
    reasoner: str = "speed"
    reference: Source | None = None


@dataclass(frozen=True, slots=True)
class Mask:
    """Where to paint: white is painted, black is kept."""

    source: Source
    invert: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the old picture stands in the new one; insets in pixels."""

    horizontal: str = "center"
    vertical: str = "center"
    left: int | None = None
    top: int | None = None
    right: int | None = None
    bottom: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandRequest(Varied):
    """A picture continued beyond its edges; a mask or a placement, not both."""

    seed: int
    source: Source
    width: int
    height: int
    prompt: str | None = field(default=None, repr=False)
    mask: Mask | None = None
    placement: Placement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FillRequest(Varied):
    """A picture painted anew where a mask is white."""

    seed: int
    source: Source
    mask: Mask
    width: int
    height: int
    locale: str
    prompt: str | None = field(default=None, repr=False)
    negative_prompt: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarRequest(Varied):
    """Pictures like another one."""

    seed: int
    source: Source
    model: Model
    width: int
    height: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UpscaleRequest(Varied):
    """A picture with more pixels: *factor* times as many in each direction."""

    seed: int
    source: Source
    factor: int = 2


class CancelAnswer(StrEnum):
    """What the vendor said to a cancel; none of it says that nothing was billed."""

    REQUESTED = "requested"
    """Taken, which is no proof: poll to the end."""
    COMPLETED = "completed"
    """It was done before: fetch the result, which is paid for."""
    CANCELLED = "cancelled"
    """It was cancelled before."""
    NOT_CANCELLED = "not-cancelled"
    """It goes on: poll to the end."""
    TIMED_OUT = "timed-out"
    """It had ended by itself, with nothing made."""
    GONE = "gone"
    """The vendor knows no such job."""


class ImageGenerator(PaidService):
    """Makes pictures; every accepted submit is billed by its outputs.

    No submit ever raises for anything the vendor or the network does, and none sends what the
    vendor would refuse.
    """

    @abstractmethod
    async def generate(self, request: GenerateRequest) -> Submission:
        """Send one generate."""

    @abstractmethod
    async def generate_v4(self, request: GenerateV4Request) -> Submission:
        """Send one generate of the next version."""

    @abstractmethod
    async def expand(self, request: ExpandRequest) -> Submission:
        """Send one expand."""

    @abstractmethod
    async def fill(self, request: FillRequest) -> Submission:
        """Send one fill."""

    @abstractmethod
    async def similar(self, request: SimilarRequest) -> Submission:
        """Send one generate-similar."""

    @abstractmethod
    async def upscale(self, request: UpscaleRequest) -> Submission:
        """Send one upscale."""

    @abstractmethod
    async def cancel(self, cancel_url: str) -> CancelAnswer | PollFailed:
        """Ask for the end of a job. *cancel_url* goes out byte for byte, to allowed hosts only."""
