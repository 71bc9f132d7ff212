"""Pinning: a campaign's configuration, templates and rate card at rest, under their versions.

In: a campaign and its card as loaded. Out: immutable objects that jobs and waves name, so that a
reload in mid-wave changes nothing that is already priced. Spends: nothing.
"""

from fireflyassets.core import campaign as campaigns
from fireflyassets.core import errors, ids
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import RateCard, card_for
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.objects import ObjectStore


def pin(objects: ObjectStore, catalogue: Catalogue, campaign: Campaign) -> None:
    """Store the campaign's version and all that it names, unless they are there already."""
    config = campaign.config
    pinned_key = ids.campaign_key(config.customer, config.campaign, campaign.version)
    if objects.exists(pinned_key):
        return
    for aspect, digest in campaign.templates.items():
        key = ids.template_key(digest)
        if not objects.exists(key):
            content = catalogue.template(campaign, aspect)
            objects.put(key, content, media_type="image/vnd.adobe.photoshop")
    for path, digest in campaign.actions.items():
        key = ids.actions_key(digest)
        if not objects.exists(key):
            content = catalogue.template(campaign, path)
            objects.put(key, content, media_type="application/octet-stream")
    # Last, so that whoever finds the version finds its templates too.
    objects.put(pinned_key, campaign.to_json(), media_type="application/json")


def pin_card(objects: ObjectStore, card: RateCard) -> None:
    """Store a rate card's version, unless it is there already."""
    key = ids.rate_card_key(card.version)
    if not objects.exists(key):
        objects.put(key, card.model_dump_json().encode(), media_type="application/json")


def card_of(objects: ObjectStore, catalogue: Catalogue, row: JobRow) -> RateCard:
    """Return the rate card that a job's estimate was made by; an older row goes by its day.

    Raises:
        UnusableConfiguration: That version was never pinned.
    """
    if not row.rate_card:
        return card_for(catalogue.rate_cards(), row.created_at.date())
    return card_named(objects, row.rate_card)


def card_named(objects: ObjectStore, version: str) -> RateCard:
    """Return a version of the rate card.

    Raises:
        UnusableConfiguration: That version was never pinned.
    """
    content = objects.get(ids.rate_card_key(version))
    if content is None:
        raise errors.UnusableConfiguration(f"The rate card {version!r} was never pinned.")
    return RateCard.model_validate_json(content)


class Pins:
    """What is pinned, as it was read: no version ever changes, so each is read once.

    Shared by threads; two that miss at the same moment read the same.
    """

    def __init__(self, objects: ObjectStore, catalogue: Catalogue) -> None:
        self._objects = objects
        self._catalogue = catalogue
        self._campaigns: dict[tuple[str, str, str], Campaign] = {}
        self._cards: dict[str, RateCard] = {}

    def campaign(self, row: JobRow) -> Campaign:
        """Return the campaign as it was when the job was priced.

        Raises:
            UnknownCampaign: That version was never pinned.
        """
        version = (row.customer_id, row.campaign_id, row.campaign_version)
        if version not in self._campaigns:
            self._campaigns[version] = pinned(self._objects, *version)
        return self._campaigns[version]

    def card(self, row: JobRow) -> RateCard:
        """Return the rate card that the job's estimate was made by.

        Raises:
            UnusableConfiguration: That version was never pinned.
        """
        priced_by = row.rate_card or row.created_at.date().isoformat()
        if priced_by not in self._cards:
            self._cards[priced_by] = card_of(self._objects, self._catalogue, row)
        return self._cards[priced_by]


def pinned(objects: ObjectStore, customer: str, campaign: str, version: str) -> Campaign:
    """Return a campaign as it was when a job was priced under *version*.

    Raises:
        UnknownCampaign: That version was never pinned.
    """
    content = objects.get(ids.campaign_key(customer, campaign, version))
    if content is None:
        raise errors.UnknownCampaign(f"{customer}/{campaign}@{version}")
    return campaigns.from_json(content)
