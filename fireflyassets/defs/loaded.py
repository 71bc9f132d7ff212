"""The catalogue as a code location sees it: its definitions stay as they were when it was loaded.

Belongs here: which campaigns runs may be asked for. Does not: reading files. Files are read anew
by themselves; assets are not made anew, and a request for one that is not there fails a whole tick.
"""

from collections.abc import Iterable, Mapping
from datetime import date

from fireflyassets.core.budget import Cap
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.money import RateCard
from fireflyassets.ports.catalogue import Catalogue, Credential, Quarantined


class LoadedCatalogue(Catalogue):
    """A catalogue whose listed campaigns all have assets in this location.

    Requests for the others are taken in; their jobs wait until the location is loaded again.
    """

    def __init__(self, catalogue: Catalogue, slugs: Iterable[str]) -> None:
        self._catalogue = catalogue
        self._slugs = frozenset(slugs)

    def campaigns(self) -> Mapping[str, Campaign]:
        """Return the usable campaigns that have assets here, by slug."""
        found = self._catalogue.campaigns()
        return {slug: one for slug, one in found.items() if slug in self._slugs}

    def campaign(self, customer: str, campaign: str) -> Campaign:
        """Return one campaign, with assets here or not.

        Raises:
            UnknownCampaign: There is none of that name.
            CampaignOutOfService: There is, and its files can't be used now.
        """
        return self._catalogue.campaign(customer, campaign)

    def fault(self, slug: str) -> str | None:
        """Return why no run of that campaign may be asked for; None where it may."""
        fault = self._catalogue.fault(slug)
        if fault is None and slug not in self._slugs:
            return (
                "it was added or mended after its code was loaded: the local stack loads it by "
                "itself; elsewhere restart the code server"
            )
        return fault

    def quarantined(self) -> tuple[Quarantined, ...]:
        """Return the files that can't be used."""
        return self._catalogue.quarantined()

    def template(self, campaign: Campaign, name: str) -> bytes:
        """Return an aspect's template, or a file of actions by its path, with the pinned hash.

        Raises:
            TemplateChanged: The document is another one now, and will be read anew.
            UnusableTemplate: There is none.
        """
        return self._catalogue.template(campaign, name)

    def credential(self, name: str, *, customer: str) -> Credential:
        """Return a credential that may carry *customer*'s jobs.

        Raises:
            UnusableConfiguration: There is none, or it is not allowed for this customer.
        """
        return self._catalogue.credential(name, customer=customer)

    def caps(self, customer: str, day: date) -> tuple[Cap, ...]:
        """Return every cap that is set for a customer and in force on *day*.

        Raises:
            BudgetsUnreadable: The customer's file can't be used.
        """
        return self._catalogue.caps(customer, day)

    def rate_cards(self) -> tuple[RateCard, ...]:
        """Return all rate cards."""
        return self._catalogue.rate_cards()
