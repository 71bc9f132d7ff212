"""The document composer (Adobe Photoshop v2) as ports: one request type and one submit per kind.

Belongs here: what a composite and its sisters need. Does not: polling and fetching
(``ports/paid.py``). All URLs are signed just now; outputs are PUT-signed URLs of ours, except
where the vendor keeps the result itself (``PictureCutter``).
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from fireflyassets.core.text_style import TextStyle
from fireflyassets.ports.paid import PaidService, Submission


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file that is written to one URL of ours."""

    url: str = field(repr=False)
    width: int | None = None
    height: int | None = None
    """Both None: as the document comes out."""
    media_type: str = "image/jpeg"


@dataclass(frozen=True, slots=True)
class CompositeRequest:
    """A template with its slots filled, written to URLs of ours."""

    template_url: str = field(repr=False)
    pictures: Mapping[str, str] = field(repr=False)
    """Smart-object layer -> URL of its picture."""
    texts: Mapping[str, str] = field(repr=False)
    """Text layer -> its words."""
    output_url: str = field(repr=False)
    width: int
    height: int
    media_type: str = "image/jpeg"
    styles: Mapping[str, TextStyle] = field(default_factory=dict[str, TextStyle])
    """Text layer -> the style that the template declares for it."""
    layer_ids: Mapping[str, int] = field(default_factory=dict[str, int])
    """Layer -> its id, where it is known: names need not be unique."""
    more_outputs: tuple[OutputFile, ...] = ()
    """Further files from the same opening of the document; one may fail them all."""
    fonts: tuple[str, ...] = field(default=(), repr=False)
    """URLs of fonts that the vendor does not have."""

    @property
    def outputs(self) -> tuple[OutputFile, ...]:
        """Return all files, in the order in which the vendor keeps them."""
        first = OutputFile(self.output_url, self.width, self.height, self.media_type)
        return (first, *self.more_outputs)


@dataclass(frozen=True, slots=True)
class ActionsRequest:
    """A document on which recorded actions, or a script, are played."""

    template_url: str = field(repr=False)
    outputs: tuple[OutputFile, ...]
    actions: tuple[tuple[str, str | None], ...] = field(default=(), repr=False)
    """URL of an action file, and the name of the action in it."""
    written: str | None = field(default=None, repr=False)
    """Actions as JSON, in the request itself, played after those of files."""
    script_url: str | None = field(default=None, repr=False)
    contents: tuple[str, ...] = field(default=(), repr=False)
    """URLs of further files that the script names by number."""


@dataclass(frozen=True, slots=True)
class ManifestRequest:
    """A document whose layers are listed, as JSON, to a URL of ours."""

    template_url: str = field(repr=False)
    output_url: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ArtboardRequest:
    """Pictures side by side in one document."""

    pictures: tuple[str, ...] = field(repr=False)
    outputs: tuple[OutputFile, ...]
    spacing: int = 50


@dataclass(frozen=True, slots=True)
class EditRequest:
    """A picture whose light and tone are adjusted."""

    picture_url: str = field(repr=False)
    output_url: str = field(repr=False)
    media_type: str = "image/jpeg"
    auto_tone: bool = False
    exposure: Decimal | None = None
    """-5 to 5."""
    contrast: int | None = None
    """-100 to 100."""


@dataclass(frozen=True, slots=True)
class CropRequest:
    """A picture that the vendor crops by what it shows."""

    picture_url: str = field(repr=False)
    mode: str = "smartCrop"
    ratios: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    """What to look for, in words; a subject crop needs it, and a smart crop takes none."""


@dataclass(frozen=True, slots=True)
class CutOutRequest:
    """A picture without its background."""

    picture_url: str = field(repr=False)
    mode: str = "cutout"
    media_type: str = "image/png"
    trim: bool = False


class DocumentComposer(PaidService):
    """Fills templates; every accepted submit is billed, by call or by output file.

    No submit ever raises for anything the vendor or the network does, and none sends what the
    vendor would refuse.
    """

    @abstractmethod
    async def compose(self, request: CompositeRequest) -> Submission:
        """Send one composite."""

    @abstractmethod
    async def play(self, request: ActionsRequest) -> Submission:
        """Send one execute-actions."""

    @abstractmethod
    async def list_layers(self, request: ManifestRequest) -> Submission:
        """Send one generate-manifest."""

    @abstractmethod
    async def lay_out(self, request: ArtboardRequest) -> Submission:
        """Send one create-artboard."""

    @abstractmethod
    async def edit(self, request: EditRequest) -> Submission:
        """Send one edit."""


class PictureCutter(PaidService):
    """Cuts pictures; the vendor keeps the results for an hour, so that a poll gives URLs."""

    @abstractmethod
    async def auto_crop(self, request: CropRequest) -> Submission:
        """Send one auto-crop."""

    @abstractmethod
    async def cut_out(self, request: CutOutRequest) -> Submission:
        """Send one remove-background."""
