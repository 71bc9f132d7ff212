"""The catalogue as a port: campaigns, credentials and rate cards, as they are configured.

Belongs here: what is asked of the configuration. Does not: how files are read and judged.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from fireflyassets.core.budget import Cap
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.failure import Family
from fireflyassets.core.money import RateCard

PACED: Final = frozenset({Family.FIREFLY, Family.PHOTOSHOP})
"""The API families that have limits."""
REASON_LIMIT: Final = 300
"""Characters of a fault in a job's row, which must stay small."""


@dataclass(frozen=True, slots=True)
class Credential:
    """One Adobe client: whose it is, and which customers' jobs it may carry."""

    name: str
    organisation: str
    secret: str
    """Reference for the secret store; never the secret."""
    scopes: tuple[str, ...]
    customers: frozenset[str]
    weights: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    """Customer -> its share of the organisation's rate, beside others; 1 where none is said."""
    families: frozenset[Family] = PACED
    """The API families that the client may use."""

    def weight_of(self, customer: str) -> int:
        """Return a customer's share of the rate, relative to the others' who want some."""
        return self.weights.get(customer, 1)


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A file that can't be used, and why; it takes nothing else down."""

    path: str
    reason: str
    campaigns: frozenset[str] = frozenset()
    """Slugs of the campaigns that are out of service by it: of its folder and of what it says."""


class Catalogue(ABC):
    """What is configured, read once; a reload makes a new one."""

    @abstractmethod
    def campaigns(self) -> Mapping[str, Campaign]:
        """Return the usable campaigns by slug (``customer/campaign``)."""

    @abstractmethod
    def campaign(self, customer: str, campaign: str) -> Campaign:
        """Return one campaign.

        Raises:
            UnknownCampaign: There is none of that name.
            CampaignOutOfService: There is, and its files can't be used now.
        """

    @abstractmethod
    def quarantined(self) -> tuple[Quarantined, ...]:
        """Return the files that can't be used."""

    def fault(self, slug: str) -> str | None:
        """Return why the campaign of that slug can't be used; None where it can."""
        if slug in self.campaigns():
            return None
        told = (f"{one.path}: {one.reason}" for one in self.quarantined() if slug in one.campaigns)
        return next(told, "its file is gone")

    @abstractmethod
    def template(self, campaign: Campaign, name: str) -> bytes:
        """Return an aspect's template, or a file of actions by its path, with the pinned hash.

        Raises:
            TemplateChanged: The document is another one now, and will be read anew.
            UnusableTemplate: There is none.
        """

    @abstractmethod
    def credential(self, name: str, *, customer: str) -> Credential:
        """Return a credential that may carry *customer*'s jobs.

        Raises:
            UnusableConfiguration: There is none, or it is not allowed for this customer.
        """

    @abstractmethod
    def caps(self, customer: str, day: date) -> tuple[Cap, ...]:
        """Return every cap that is set for a customer and in force on *day*; none: no budget.

        Raises:
            BudgetsUnreadable: The customer's file can't be used: nothing may be reserved.
        """

    @abstractmethod
    def rate_cards(self) -> tuple[RateCard, ...]:
        """Return all rate cards."""
