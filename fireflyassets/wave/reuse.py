"""A job that is done, told again: what it made, its checks, and that nothing was spent now.

Belongs here: reports from stored results. Does not: making anything.
"""

from collections.abc import Mapping
from decimal import Decimal
from itertools import chain

from fireflyassets.core import ids, manifest
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import UnreadableManifest
from fireflyassets.core.job import JobRow, StepResult
from fireflyassets.core.money import Cost
from fireflyassets.core.origin import origin_of
from fireflyassets.core.stage import Stage
from fireflyassets.core.status import Status
from fireflyassets.core.tags import rendition_tags
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.bench import StoredJob
from fireflyassets.stages.deliver import Delivered
from fireflyassets.stages.retries import spent
from fireflyassets.stages.showing import lies_at
from fireflyassets.wave.job import (
    cost_check,
    review_check,
    stored,
    stored_renditions,
    tagging,
)
from fireflyassets.wave.reports import Check, Checked, Ended, Handed, Made, Report, Subject, Turn


def reuse(ledger: JobLedger, objects: ObjectStore, campaign: Campaign, row: JobRow) -> list[Report]:
    """Return the reports of a finished job, its tags read back anew.

    Raises:
        UnreadableManifest: Its stored input is gone.
    """
    told = "done before; nothing was spent"
    return [
        *retold(ledger, objects, campaign, row),
        Ended(row.job_id, Turn.SUCCEEDED, row.status, told),
    ]


def retold(
    ledger: JobLedger, objects: ObjectStore, campaign: Campaign, row: JobRow
) -> list[Report]:
    """Return what a job of any status has made so far, with the checks that it came to.

    Raises:
        UnreadableManifest: Its stored input is gone.
    """
    job = _stored(ledger, objects, row)
    recipe = campaign.config.recipe
    subject = Subject(row, job.request, reused=True)
    pictures = tuple(made for one in recipe.pictures() if (made := job.made(one.name)))
    renditions = stored_renditions(job, recipe)
    reports: list[Report] = []
    if pictures:
        reports.append(Made(subject, Stage.GENERATE, pictures))
    if row.status is not Status.SUCCEEDED and set(renditions) != set(job.request.aspects):
        return reports
    if recipe.composes and renditions:
        fanned = [one for one in recipe.steps if one.name in recipe.fanned]
        made = [stored(job, one, composed=True).values() for one in fanned]
        reports.append(Made(subject, Stage.COMPOSE, tuple(chain.from_iterable(made))))
    reports.append(cost_check(row, job.history.cost, campaign))
    if row.status is Status.SUCCEEDED:
        deliveries = _delivered(objects, campaign, job, renditions)
        retries = spent(row, job.history, recipe)
        reports.append(Handed(subject, deliveries, job.history.cost, retries))
        reports += [tagging(row.job_id, deliveries), review_check(row)]
    return reports


def settled(row: JobRow, campaign: Campaign) -> list[Checked]:
    """Return the checks of a job that succeeded, by its row.

    Its tags were kept, else it would not have succeeded.
    """
    cost = Cost(row.cost_actual or Decimal(0), row.cost_possible or Decimal(0))
    return [
        Checked(row.job_id, Check.TAGGING, passed=True, blocks=True, facts={}),
        cost_check(row, cost, campaign),
        review_check(row),
    ]


def _delivered(
    objects: ObjectStore, campaign: Campaign, job: StoredJob, renditions: Mapping[str, StepResult]
) -> tuple[Delivered, ...]:
    config, row = campaign.config, job.row
    pictures = (made for one in config.recipe.pictures() if (made := job.made(one.name)))
    wanted = rendition_tags(config, row, origin_of(config.recipe, pictures))
    by_aspect = {ids.delivered_aspect(key): key for key in row.outputs}
    return tuple(
        Delivered(
            aspect,
            by_aspect[aspect],
            made.picture,
            wanted,
            objects.tags(lies_at(by_aspect[aspect], row.human_reviewed)) or {},
        )
        for aspect, made in renditions.items()
        if aspect in by_aspect
    )


def _stored(ledger: JobLedger, objects: ObjectStore, row: JobRow) -> StoredJob:
    place = manifest.place(row.input_manifest)
    content = objects.get(place.key, part=place.part)
    if not content:
        raise UnreadableManifest(row.job_id)
    return StoredJob(row, manifest.load(content), ledger.history(row.job_id))
