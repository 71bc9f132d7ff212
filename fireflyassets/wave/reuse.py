"""A job that is done, told again: what it made, its checks, and that nothing was spent now.

Belongs here: reports from stored results. Does not: making anything.
"""

from fireflyassets.core import manifest
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import UnreadableManifest
from fireflyassets.core.job import JobRow
from fireflyassets.core.stage import Stage
from fireflyassets.core.tags import rendition_tags
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.bench import StoredJob
from fireflyassets.stages.deliver import Delivered
from fireflyassets.wave.job import cost_check, review_check, stored_renditions, tagging
from fireflyassets.wave.reports import Ended, Handed, Made, Report, Subject, Turn


def reuse(ledger: JobLedger, objects: ObjectStore, campaign: Campaign, row: JobRow) -> list[Report]:
    """Return the reports of a finished job, its tags read back anew.

    Raises:
        UnreadableManifest: Its stored input is gone.
    """
    job = _stored(ledger, objects, row)
    recipe = campaign.config.recipe
    subject = Subject(row, job.request, reused=True)
    pictures = tuple(made for one in recipe.pictures() if (made := job.made(one.name)))
    renditions = stored_renditions(job, recipe)
    model = next((one.model for one in pictures), None)
    wanted = rendition_tags(campaign.config, model=model, review=row.human_reviewed)
    by_aspect = {key.split("/")[3]: key for key in row.outputs}
    deliveries = tuple(
        Delivered(
            aspect, by_aspect[aspect], made.picture, wanted, objects.tags(by_aspect[aspect]) or {}
        )
        for aspect, made in renditions.items()
        if aspect in by_aspect
    )
    reports: list[Report] = []
    if pictures:
        reports.append(Made(subject, Stage.GENERATE, pictures))
    if recipe.composes:
        reports.append(Made(subject, Stage.COMPOSE, tuple(renditions.values())))
    return [
        *reports,
        cost_check(row, job.history.cost, campaign),
        Handed(subject, deliveries, job.history.cost),
        tagging(row.job_id, deliveries),
        review_check(row),
        Ended(row.job_id, Turn.SUCCEEDED, row.status, "done before; nothing was spent"),
    ]


def _stored(ledger: JobLedger, objects: ObjectStore, row: JobRow) -> StoredJob:
    content = objects.get(row.input_manifest)
    if content is None:
        raise UnreadableManifest(row.job_id)
    return StoredJob(row, manifest.load(content), ledger.history(row.job_id))
