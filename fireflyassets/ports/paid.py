"""What the two paid APIs have in common: submit once, poll, fetch the result.

Belongs here: the answers to a submit and to a poll. Does not: request bodies
(``ports/images.py``, ``ports/documents.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import timedelta

from fireflyassets.core.failure import Family, Fault


@dataclass(frozen=True, slots=True)
class Accepted:
    """The vendor took the job; it is paid for from here on."""

    vendor_id: str
    status_url: str
    cancel_url: str | None = None


@dataclass(frozen=True, slots=True)
class NotAccepted:
    """The vendor certainly did not take the job."""

    fault: Fault
    retry_after: timedelta | None = None
    possible_cost: bool = False
    """True for 5xx with the vendor's own error code: not accepted by its word, booked as maybe."""


@dataclass(frozen=True, slots=True)
class OutcomeLost:
    """Bytes were sent and no answer settles whether the job runs. Never sent again blindly."""

    fault: Fault


Submission = Accepted | NotAccepted | OutcomeLost


@dataclass(frozen=True, slots=True)
class Working:
    """Not done yet."""


@dataclass(frozen=True, slots=True)
class Output:
    """One output of a remote job."""

    url: str | None = None
    """Signed and short-lived; None where the vendor wrote to a URL of ours."""
    seed: int | None = None
    ignored_words: bool = False
    """The picture left out a part of the prompt: a success that a person must look at."""


@dataclass(frozen=True, slots=True)
class Done:
    """The remote job succeeded."""

    outputs: tuple[Output, ...]


@dataclass(frozen=True, slots=True)
class EndedBadly:
    """The remote job failed, timed out or was cancelled."""

    fault: Fault


@dataclass(frozen=True, slots=True)
class Gone:
    """The vendor knows no such job: purged, or never there. An unknown outcome, not a failure."""


@dataclass(frozen=True, slots=True)
class PollFailed:
    """The question itself failed; ask again later."""

    fault: Fault
    retry_after: timedelta | None = None


Poll = Working | Done | EndedBadly | Gone | PollFailed


@dataclass(frozen=True, slots=True)
class Fetched:
    """The bytes of a result, and what they are by their own first bytes."""

    content: bytes = field(repr=False)
    media_type: str


@dataclass(frozen=True, slots=True)
class FetchFailed:
    """The URL has expired or its store does not answer; the status call may give a fresh one."""

    fault: Fault


class PaidService(ABC):
    """What every paid API can do with a job it accepted."""

    family: Family

    @abstractmethod
    async def ready(self) -> NotAccepted | None:
        """Have what a submit needs before anything is spent on it; None, or why there is none.

        Costs nothing where it is in hand. Nothing is sent to the service itself.
        """

    @abstractmethod
    async def poll(self, status_url: str) -> Poll:
        """Ask how a job stands. *status_url* goes out byte for byte, to allowed hosts only."""

    @abstractmethod
    async def fetch(self, url: str) -> Fetched | FetchFailed:
        """Download a result without any of our credentials, the URL byte for byte."""
