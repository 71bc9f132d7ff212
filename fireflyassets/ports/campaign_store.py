"""Where campaigns' files are kept, as a port: new ones are put there.

Belongs here: what becomes of a file that is to be added. Does not: what may be in one
(``core/campaign.py``), reading them (``ports/catalogue.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from fireflyassets.core.campaign import Campaign, CampaignConfig


@dataclass(frozen=True, slots=True)
class Added:
    """The campaign is there, usable with all that it names."""

    campaign: Campaign


@dataclass(frozen=True, slots=True)
class NameTaken:
    """A campaign of that name is there already, usable or not; nothing was written."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """It can't be used with what it names; nothing of it is left."""

    reason: str


class CampaignStore(ABC):
    """Takes new campaigns. Implementations: the project's folder, and one in memory for tests."""

    @abstractmethod
    def add(
        self, config: CampaignConfig, *, like: str | None = None
    ) -> Added | NameTaken | Unusable:
        """Put a campaign there, once: of two that add one name, one alone is `Added`.

        *like* names the customer's campaign whose documents it uses: their lock is taken along.
        """
