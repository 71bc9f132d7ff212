"""A campaign's template, recipe and prices change while its jobs wait, and while they are made.

Here: one floor in virtual time, and a catalogue whose files are exchanged under it. Not here: how
a changed file is noticed (`fireflyassets_tests/adapters/test_watched_files.py`).
"""

import asyncio
from datetime import timedelta

from fireflyassets.core import ids
from fireflyassets.core.campaign import Campaign, CampaignConfig, load
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.documents import CompositeRequest
from fireflyassets.ports.paid import Submission
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue, config
from fireflyassets_tests.paid_services import FakeDocuments


class ExchangedFiles(FixedCatalogue):
    """A catalogue whose campaign can be exchanged for another, as a reload does it."""

    def exchange(self, said: CampaignConfig, digest: str) -> None:
        """Put another configuration in force, with templates of other bytes."""
        made = load(said, dict.fromkeys(said.templates, digest), actions={})
        self._campaigns = {made.slug: made}

    def template(self, campaign: Campaign, name: str) -> bytes:
        """Return bytes that say of which version they are."""
        return campaign.templates[name].encode()


class NotedDocuments(FakeDocuments):
    """A Photoshop that notes which template each composite was made from."""

    def __init__(self, here: Floor) -> None:
        super().__init__(here.clock, here.objects)
        self.templates: list[bytes] = []

    async def compose(self, request: CompositeRequest) -> Submission:
        """Compose as ever."""
        self.templates.append(self.objects.download(request.template_url))
        return await super().compose(request)


OLD, NEW = "0" * 64, "f" * 64


def standing(size: str = "20x20") -> CampaignConfig:
    """Return the campaign, with pictures of *size*."""
    templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
    return config(aspects=ASPECTS, templates=templates, recipe=recipe(size=size))


def test_a_change_touches_no_job_that_was_priced_before_it() -> None:
    """Waiting jobs and those at work keep template and sizes; jobs sent later have the new ones."""

    async def scenario() -> None:
        files = ExchangedFiles(standing())
        here = floor(catalogue=files)
        documents = NotedDocuments(here)
        here.documents = documents
        here.use_images(here.images)
        early = here.order(3, prefix="early")

        async def exchange() -> None:
            await here.clock.sleep(timedelta(seconds=3))  # The wave is at work.
            assert Status.RUNNING in {here.row(job).status for job in early}
            files.exchange(standing(size="30x30"), NEW)

        reload = asyncio.ensure_future(exchange())
        await here.work(early)
        await reload
        made_early, documents.templates = set(documents.templates), []
        late = here.order(2, prefix="late")
        await here.work(late)

        assert made_early == {OLD.encode()}
        assert set(documents.templates) == {NEW.encode()}
        rows = [here.row(job) for job in (*early, *late)]
        assert {row.status for row in rows} == {Status.SUCCEEDED}
        assert len({row.campaign_version for row in rows[:3]}) == 1
        assert rows[0].campaign_version != rows[-1].campaign_version
        assert here.objects.exists(ids.template_key(OLD))
        books_agree(here)

    run(scenario)
