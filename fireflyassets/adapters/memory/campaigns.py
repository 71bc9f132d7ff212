"""Campaigns in memory: a store that takes each name once. Does not belong here: files."""

from fireflyassets.core.campaign import CampaignConfig, load
from fireflyassets.ports.campaign_store import Added, CampaignStore, NameTaken, Unusable


class MemoryCampaigns(CampaignStore):
    """Keeps what was added; documents are taken on trust."""

    def __init__(self) -> None:
        self.added: dict[str, CampaignConfig] = {}
        """Slug -> what was added."""

    def add(
        self, config: CampaignConfig, *, like: str | None = None
    ) -> Added | NameTaken | Unusable:
        """Keep a campaign under its name, once."""
        slug = f"{config.customer}/{config.campaign}"
        if slug in self.added:
            return NameTaken()
        self.added[slug] = config
        return Added(load(config, dict.fromkeys(config.templates, "0" * 64)))
