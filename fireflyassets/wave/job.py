"""One job's way through a wave: its steps in order, aspects side by side, then delivery.

Belongs here: the order of stages, the gates between them, and what is reported.
Does not: the end of the turn in the ledger (``endings.py``).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeVar

from fireflyassets.core import copy_check, errors, layer_list
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.job import JobRow, StepResult
from fireflyassets.core.money import Cost
from fireflyassets.core.origin import origin_of
from fireflyassets.core.photoshop_step import ComposeStep, Step
from fireflyassets.core.recipe import Recipe, stored_name
from fireflyassets.core.recipe_step import JOB_TEXTS, REFERENCE, OnFailure
from fireflyassets.core.stage import Stage
from fireflyassets.stages.bench import JobInHand, StoredJob, Tools
from fireflyassets.stages.compose import compose
from fireflyassets.stages.deliver import Delivered, deliver, publishable
from fireflyassets.stages.generate import generate
from fireflyassets.stages.retries import spent
from fireflyassets.wave import counting
from fireflyassets.wave.reports import Check, Checked, Handed, Made, Report, Subject

_log: Final = logging.getLogger("fireflyassets.wave")
T = TypeVar("T")

_GRAVITY: Final = (
    errors.OwnershipLost,
    errors.OutcomeUnknown,
    errors.AwaitingOutcome,
    errors.JobFailed,
    errors.JobDelayed,
)
"""Which of several troubles of one job decides; the first that is there."""


@dataclass(slots=True)
class JobRun:
    """Takes one job from its request to its deliveries."""

    tools: Tools
    job: JobInHand
    report: Callable[[Report], None]

    async def go(self) -> tuple[tuple[Delivered, ...], Cost]:
        """Run the recipe and deliver, at what cost. What is finished is taken as it is.

        Raises:
            JobFailed, JobDelayed, OwnershipLost: The turn ends there; see ``core/errors.py``.
        """
        recipe = self.tools.campaign.config.recipe
        self._check_texts()
        given = self._given()
        pictures: dict[str, StepResult] = {}
        fanned: dict[str, dict[str, StepResult]] = {}
        try:
            for step in recipe.steps:
                if not await self._is_due(step, pictures):
                    continue
                if step.name in recipe.fanned:
                    fanned[step.name] = await self._fan_out(step, given | pictures, fanned)
                elif made := await self._work(step, given | pictures, None):
                    pictures[step.name] = made
        finally:
            # A picture that is made and paid for is shown, whatever becomes of its job.
            self._made(Stage.GENERATE, pictures.values())
        if recipe.composes:
            self._made(Stage.COMPOSE, (one for made in fanned.values() for one in made.values()))
        renditions = fanned.get(recipe.last.name, {})
        if not recipe.composes and (last := pictures.get(recipe.last.name)):
            renditions = dict.fromkeys(self.job.request.aspects, last)
        if missing := [one for one in self.job.request.aspects if one not in renditions]:
            raise errors.RenditionMissing(missing)
        return await self._deliver(pictures, renditions)

    def _given(self) -> dict[str, StepResult]:
        """Return the picture that came with the job, as steps take pictures."""
        row, picture = self.job.row, self.job.request.reference
        if picture is None:
            return {}
        result = StepResult(row.job_id, REFERENCE, row.generation, 0, picture, Decimal(0))
        return {REFERENCE: result}

    async def _is_due(self, step: Step, pictures: Mapping[str, StepResult]) -> bool:
        """Say whether a step runs, by its locale and by the layers that manifests list."""
        when = step.when
        if when is None or not when.holds(locale=self.job.request.locale):
            return when is None
        listed = {
            name: await self._layers(pictures[name]) for name in when.layers if name in pictures
        }
        return when.finds(listed)

    async def _layers(self, manifest: StepResult) -> frozenset[str]:
        tools = self.tools
        content = await tools.transfer(tools.objects.get, manifest.picture.key)
        listed = layer_list.read(content or b"")
        if listed is None:
            raise errors.RenditionDefect(manifest.step, "its list of layers is gone")
        return listed.layers

    def _check_texts(self) -> None:
        """Stop a job whose copy can't be set, before anything more is paid for it.

        Intake has looked already, by the rules of its day. What was sent is not judged again: it
        is paid, and only its answer tells.
        """
        request, campaign = self.job.request, self.tools.campaign
        generation = self.job.row.generation
        begun = {one.step for one in self.job.history.attempts if one.generation == generation}
        steps = campaign.config.recipe.compositions()
        aspects = [
            aspect
            for aspect in request.aspects
            if not any(stored_name(step, aspect) in begun for step in steps)
        ]
        texts = {name: request.text(name) for name in JOB_TEXTS}
        faults = copy_check.problems(campaign, texts, request.locale, aspects)
        if faults:
            raise errors.TextUnfit(f"{fault.message} {fault.fix}" for fault in faults)

    async def _work(
        self, step: Step, made: Mapping[str, StepResult], aspect: str | None
    ) -> StepResult | None:
        """Return a step's result; None where what it takes was skipped, or it is itself."""
        if step.taken(made) is None:
            return None
        try:
            with counting.step(self.tools.tally, step):
                if isinstance(step, ComposeStep):
                    return await compose(self.tools, self.job, step, aspect or "", made)
                return await generate(self.tools, self.job, step, made, aspect)
        except errors.JobFailed as failed:
            if step.on_failure is OnFailure.SKIP and step.on_failure.decides(failed.failure):
                return None
            raise

    async def _fan_out(
        self,
        step: Step,
        pictures: Mapping[str, StepResult],
        fanned: Mapping[str, Mapping[str, StepResult]],
    ) -> dict[str, StepResult]:
        """Return aspect -> a step's result; each aspect goes on from its own of earlier steps."""
        aspects = self.job.request.aspects
        before = {
            aspect: {name: one[aspect] for name, one in fanned.items() if aspect in one}
            for aspect in aspects
        }
        made = await all_ended(
            self._work(step, {**pictures, **before[aspect]}, aspect) for aspect in aspects
        )
        return {aspect: one for aspect, one in zip(aspects, made, strict=True) if one}

    async def _deliver(
        self, pictures: dict[str, StepResult], renditions: dict[str, StepResult]
    ) -> tuple[tuple[Delivered, ...], Cost]:
        if self.job.cancelled.is_set():
            now = self.tools.clock.now()
            raise errors.Stopped("The job is cancelled before it is delivered.", until=now)
        recipe = self.tools.campaign.config.recipe
        origin = origin_of(recipe, pictures.values())
        deliveries = tuple(
            await all_ended(
                deliver(self.tools, self.job, aspect, made, origin)
                for aspect, made in renditions.items()
            )
        )
        history = await self.tools.offload(self.tools.ledger.history, self.job.row.job_id)
        cost = history.cost
        checked = cost_check(self.job.row, cost, self.tools.campaign)
        self.report(checked)
        if not checked.passed:
            _log.warning("job %s is over its estimate: %s", self.job.row.job_id, checked.facts)
        retries = spent(self.job.row, history, recipe)
        self.report(Handed(self._subject(), deliveries, cost, retries))
        untagged = [one.aspect for one in deliveries if not one.tagged]
        self.report(tagging(self.job.row.job_id, deliveries))
        self.report(review_check(self.job.row))
        if untagged:
            raise errors.TagsNotKept(untagged)
        return deliveries, cost

    def _made(self, stage: Stage, results: Iterable[StepResult]) -> None:
        if made := tuple(results):
            self.report(Made(self._subject(), stage, made))

    def _subject(self) -> Subject:
        return Subject(self.job.row, self.job.request)


def tagging(job_id: str, deliveries: tuple[Delivered, ...]) -> Checked:
    """Return the tagging check of a job, from tags that were read back."""
    untagged = [one.aspect for one in deliveries if not one.tagged]
    return Checked(
        job_id,
        Check.TAGGING,
        passed=bool(deliveries) and not untagged,
        blocks=True,
        facts={"renditions": str(len(deliveries)), "untagged": ", ".join(untagged) or "none"},
    )


def cost_check(row: JobRow, cost: Cost, campaign: Campaign) -> Checked:
    """Return the cost check of a job: what was certainly billed against estimate and tolerance.

    It warns and ends nothing. All of it is paid by then: a job that is kept back would only be
    paid for once more, under a new key.
    """
    limit = row.cost_estimate * (Decimal(1) + campaign.config.cost_tolerance)
    facts = {
        "operations_actual": str(cost.certain),
        "operations_possible": str(cost.possible),
        "operations_estimate": str(row.cost_estimate),
        "operations_limit": str(limit),
    }
    passed = cost.certain <= limit
    return Checked(row.job_id, Check.COST, passed=passed, blocks=False, facts=facts)


def review_check(row: JobRow) -> Checked:
    """Return the review check of a job; a pending review only keeps it from being published."""
    review, last = row.human_reviewed, row.judged
    facts = {"human_reviewed": review.value}
    if last:
        facts |= {"decided": last.move.value, "by": last.by, "at": last.at.isoformat()}
        facts |= {"code": last.code.value} if last.code else {}
    return Checked(row.job_id, Check.REVIEW, passed=publishable(review), blocks=False, facts=facts)


def stored_renditions(job: StoredJob, recipe: Recipe) -> dict[str, StepResult]:
    """Return aspect -> stored result of a job that is done."""
    return stored(job, recipe.last, composed=recipe.composes)


def stored(job: StoredJob, step: Step, *, composed: bool) -> dict[str, StepResult]:
    """Return aspect -> what a step has made of it; *composed*: where the step fans out."""
    found = {
        aspect: job.made(stored_name(step, aspect if composed else None))
        for aspect in job.request.aspects
    }
    return {aspect: one for aspect, one in found.items() if one is not None}


async def all_ended(works: Iterable[Awaitable[T]]) -> list[T]:
    """Return all results once *all* have ended, or raise the gravest trouble then.

    Nothing paid may be in flight when a job is given back, so nothing is cancelled.
    """
    ended = await asyncio.gather(*works, return_exceptions=True)
    troubles = [one for one in ended if isinstance(one, BaseException)]
    for kind in _GRAVITY:
        for trouble in troubles:
            if isinstance(trouble, kind):
                raise trouble
    if troubles:
        raise troubles[0]
    return [one for one in ended if not isinstance(one, BaseException)]
