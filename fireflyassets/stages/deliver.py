"""Deliver: a rendition under its final key, disclosed and tagged, in one request; read back.

In: a job and its finished renditions. Out: final objects, a sidecar beside each, and what their
tags really are. Spends: nothing at Adobe.

Nothing else writes a final key: what a vendor writes by a signed URL, and what it keeps itself,
comes through here, so that all files are disclosed and tagged alike.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fireflyassets.core import errors, ids, naming, sidecar
from fireflyassets.core.disclosure import Disclosure, marked
from fireflyassets.core.job import Picture, StepResult
from fireflyassets.core.origin import Origin
from fireflyassets.core.status import HumanReview
from fireflyassets.core.tags import rendition_tags
from fireflyassets.ports.pictures import PictureReader
from fireflyassets.stages.bench import JobInHand, Tools


@dataclass(frozen=True, slots=True)
class Delivered:
    """A rendition in its place."""

    aspect: str
    key: str
    picture: Picture
    """As it was made; the file in its place says besides who made it."""
    wanted: Mapping[str, str]
    found: Mapping[str, str]
    look: int | None = None
    """Its perceptual hash; None where nobody had its bytes in hand."""

    @property
    def tagged(self) -> bool:
        """Say whether the store has exactly the tags that were wanted."""
        return dict(self.wanted) == dict(self.found)


async def deliver(
    tools: Tools, job: JobInHand, aspect: str, made: StepResult, origin: Origin
) -> Delivered:
    """Put one rendition under its final key, its sidecar beside it, and read its tags back."""
    content = await tools.transfer(tools.objects.get, made.picture.key)
    if content is None:
        raise errors.RenditionDefect(
            made.step, "its file is gone from our own bucket; restore an earlier version of it"
        )
    config, row = tools.campaign.config, job.row
    creative = naming.creative_id(row.job_id, aspect, row.generation)
    file = await tools.transfer(
        _disclosed, tools.pictures, made, content, Disclosure(creative, origin.source, origin.model)
    )
    key = final_key(config.naming, job, aspect, made.picture)
    tags = rendition_tags(config, row, origin)
    put = tools.objects.put
    await tools.transfer(put, key, file, media_type=made.picture.media_type, tags=tags)
    told = replace(
        made.picture, key=key, sha256=hashlib.sha256(file).hexdigest(), size_bytes=len(file)
    )
    beside = sidecar.dump(tools.campaign, job.row, job.request, aspect, creative, told, origin)
    await tools.transfer(
        put, ids.sidecar_key(key), beside, media_type=sidecar.MEDIA_TYPE, tags=tags
    )
    found = await tools.transfer(tools.objects.tags, key)
    look = await tools.transfer(tools.pictures.perceptual, content)
    return Delivered(aspect, key, made.picture, tags, found or {}, look)


def _disclosed(
    pictures: PictureReader, made: StepResult, content: bytes, disclosure: Disclosure
) -> bytes:
    """Return a file that says who made it, as another reader than its writer reads it.

    Raises:
        RenditionDefect: It can't.
    """
    packet = disclosure.packet()
    try:
        file = marked(content, packet)
    except ValueError as error:
        raise errors.RenditionDefect(made.step, f"no disclosure fits its file: {error}") from error
    if pictures.xmp(file) != packet:
        raise errors.RenditionDefect(made.step, "its disclosure can't be read back")
    return file


def final_key(template: str, job: JobInHand, aspect: str, picture: Picture) -> str:
    """Return where a rendition ends up; the name says what it is without its folder."""
    row = job.row
    name = naming.file_name(
        template,
        campaign=row.campaign_id,
        concept=row.idempotency_key,
        locale=job.request.locale,
        aspect=aspect,
        creative=naming.creative_id(row.job_id, aspect, row.generation),
    )
    suffix = ids.suffix(picture.media_type)
    return ids.delivery_key(
        row.customer_id, row.campaign_id, row.job_id, aspect, f"{name}.{suffix}"
    )


def publishable(review: HumanReview) -> bool:
    """Say whether a rendition of that verdict may be shown to the customer."""
    return review in {HumanReview.NOT_REQUIRED, HumanReview.APPROVED}
