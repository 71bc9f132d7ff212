"""A job that is done, told again: what it made, its checks, and that nothing was spent now.

Belongs here: reports from stored results. Does not: making anything.
"""

from collections.abc import Mapping

from fireflyassets.core import ids, manifest
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import UnreadableManifest
from fireflyassets.core.job import JobRow, StepResult
from fireflyassets.core.stage import Stage
from fireflyassets.core.status import Status
from fireflyassets.core.tags import rendition_tags
from fireflyassets.ports.entries import Claim
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.bench import JobInHand, limited_cost
from fireflyassets.stages.deliver import Delivered
from fireflyassets.wave.job import cost_check, review_check, stored_renditions, tagging
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
        reports.append(Made(subject, Stage.COMPOSE, tuple(renditions.values())))
    reports.append(cost_check(row, limited_cost(job.spent), campaign))
    if row.status is Status.SUCCEEDED:
        model = next((one.model for one in pictures), None)
        deliveries = _delivered(objects, campaign, row, renditions, model=model)
        reports += [Handed(subject, deliveries), tagging(row.job_id, deliveries), review_check(row)]
    return reports


def settled(row: JobRow) -> list[Checked]:
    """Return the checks of a job that succeeded, by its row alone.

    Those that block have passed, else it would not have succeeded.
    """
    facts = {
        "operations_actual": str(row.cost_actual or 0),
        "operations_estimate": str(row.cost_estimate),
    }
    return [
        Checked(row.job_id, Check.TAGGING, passed=True, blocks=True, facts={}),
        Checked(row.job_id, Check.COST, passed=True, blocks=True, facts=facts),
        review_check(row),
    ]


def _delivered(
    objects: ObjectStore,
    campaign: Campaign,
    row: JobRow,
    renditions: Mapping[str, StepResult],
    *,
    model: str | None,
) -> tuple[Delivered, ...]:
    wanted = rendition_tags(campaign.config, model=model, review=row.human_reviewed)
    by_aspect = {ids.delivered_aspect(key): key for key in row.outputs}
    return tuple(
        Delivered(
            aspect, by_aspect[aspect], made.picture, wanted, objects.tags(by_aspect[aspect]) or {}
        )
        for aspect, made in renditions.items()
        if aspect in by_aspect
    )


def _stored(ledger: JobLedger, objects: ObjectStore, row: JobRow) -> JobInHand:
    content = objects.get(row.input_manifest)
    if content is None:
        raise UnreadableManifest(row.job_id)
    history = ledger.history(row.job_id)
    claim = Claim(row.job_id, row.customer_id, row.wave or "", row.epoch)
    return JobInHand(row, claim, manifest.load(content), history, list(history.operations))
