"""Deliver: a rendition under its final key, with its tags, in one request; read back.

In: a job and its finished renditions. Out: final objects and what their tags really are.
Spends: nothing at Adobe.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fireflyassets.core import errors, ids
from fireflyassets.core.job import Picture, StepResult
from fireflyassets.core.status import HumanReview
from fireflyassets.core.tags import rendition_tags
from fireflyassets.stages.bench import JobInHand, Tools


@dataclass(frozen=True, slots=True)
class Delivered:
    """A rendition in its place."""

    aspect: str
    key: str
    picture: Picture
    wanted: Mapping[str, str]
    found: Mapping[str, str]
    look: int | None = None
    """Its perceptual hash; None where nobody had its bytes in hand."""

    @property
    def tagged(self) -> bool:
        """Say whether the store has exactly the tags that were wanted."""
        return dict(self.wanted) == dict(self.found)


async def deliver(
    tools: Tools, job: JobInHand, aspect: str, made: StepResult, *, model: str | None
) -> Delivered:
    """Put one rendition under its final key and read its tags back.

    *model* is the header that was sent for the picture inside; None where none was generated.
    """
    row = job.row
    content = await tools.transfer(tools.objects.get, made.picture.key)
    if content is None:
        raise errors.RenditionDefect(
            made.step, "its file is gone from our own bucket; restore an earlier version of it"
        )
    key = final_key(job, aspect, made.picture)
    wanted = rendition_tags(tools.campaign.config, model=model, review=row.human_reviewed)
    await tools.transfer(
        tools.objects.put, key, content, media_type=made.picture.media_type, tags=wanted
    )
    found = await tools.transfer(tools.objects.tags, key)
    look = await tools.transfer(tools.pictures.perceptual, content)
    return Delivered(aspect, key, made.picture, wanted, found or {}, look)


def final_key(job: JobInHand, aspect: str, picture: Picture) -> str:
    """Return where a rendition ends up; the name says what it is without its folder."""
    row = job.row
    suffix = ids.suffix(picture.media_type)
    name = f"{row.campaign_id}_{job.request.locale}_{aspect}_{row.job_id[:8]}.{suffix}"
    return ids.delivery_key(row.customer_id, row.campaign_id, row.job_id, aspect, name)


def publishable(review: HumanReview) -> bool:
    """Say whether a rendition of that verdict may be shown to the customer."""
    return review in {HumanReview.NOT_REQUIRED, HumanReview.APPROVED}
