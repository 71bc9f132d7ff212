"""Plans as the JSON that customers' systems read.

Belongs here: names and forms of their fields. Does not: what a plan says (``core/plan.py``).
"""

from decimal import Decimal
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from fireflyassets.api.plan_tokens import LASTS
from fireflyassets.api.problems import ProblemPart, said
from fireflyassets.api.shapes import Operations
from fireflyassets.core.finish import Finish
from fireflyassets.core.plan import Change, Plan
from fireflyassets.stages import notify
from fireflyassets.stages.planning import Standing

_CENT = Decimal("0.01")


class PlannedFinish(TypedDict):
    """When it would be done under limits that are so many times as high as they are."""

    limits: Annotated[int, Field(description="1: as they are.", examples=[1])]
    likely: notify.Instant
    late: Annotated[notify.Instant, Field(description="One time in ten it is later than this.")]
    decidedBy: Annotated[str, Field(description="The API family whose limits decide.")]


class PlannedChange(TypedDict):
    """What could be left out, and what that saves."""

    change: str
    renditionsFewer: int
    operationsSaved: Operations
    likelyFinish: notify.Instant
    fits: Annotated[bool, Field(description="Whether budget and deadline are kept to, then.")]


class PlannedJobs(TypedDict):
    """What a brief would come to; nothing of it is written."""

    campaignId: str
    campaignVersion: str
    token: Annotated[
        str | None,
        Field(description="What releases it; null: there is nothing to release, or no key here."),
    ]
    expiresAt: notify.Instant
    jobs: Annotated[int, Field(description="How many would be new.")]
    renditions: int
    repeated: int
    refused: int
    operations: Operations
    price: Annotated[
        str | None, Field(description="By the contract; null: it names no price of an operation.")
    ]
    currency: str | None
    calls: Annotated[dict[str, int], Field(description="Paid calls by API family.")]
    finishes: list[PlannedFinish]
    fits: Annotated[bool, Field(description="Whether all rows keep to budget and deadline.")]
    changes: Annotated[list[PlannedChange], Field(description="The cheapest first.")]
    problems: list[ProblemPart]


class PlanStanding(TypedDict):
    """The last released plan of a campaign beside what became of its jobs."""

    releasedAt: notify.Instant
    jobsPlanned: int
    jobs: int
    jobsEnded: int
    operationsPlanned: Operations
    operationsActual: Annotated[Operations, Field(description="Certainly billed so far.")]
    finishPlanned: notify.Instant
    finishPlannedLate: notify.Instant
    finishActual: Annotated[notify.Instant | None, Field(description="Null while a job is open.")]


class CampaignPlan(TypedDict):
    """A campaign's last released plan."""

    campaignId: str
    plan: Annotated[PlanStanding | None, Field(description="Null: none was released.")]


def plan(made: Plan, token: str | None, *, api_url: str) -> PlannedJobs:
    """Return a plan."""
    sums = made.sums
    return {
        "campaignId": made.campaign.config.campaign,
        "campaignVersion": made.campaign.version,
        "token": token,
        "expiresAt": notify.instant(made.made_at + LASTS),
        "jobs": sums.jobs,
        "renditions": sums.renditions,
        "repeated": made.repeated,
        "refused": made.refused,
        "operations": str(sums.operations),
        "price": None if made.price is None else str(made.price.quantize(_CENT)),
        "currency": made.currency,
        "calls": {family.value: round(count) for family, count in sums.calls.items()},
        "finishes": [_finish(factor, one) for factor, one in made.finishes.items()],
        "fits": made.fits,
        "changes": [_change(one) for one in made.changes],
        "problems": [said(problem, api_url=api_url) for problem in made.problems],
    }


def standing(one: Standing) -> PlanStanding:
    """Return how a released plan stands."""
    promise = one.released.promise
    return {
        "releasedAt": notify.instant(one.released.at),
        "jobsPlanned": promise.jobs,
        "jobs": one.jobs,
        "jobsEnded": one.ended,
        "operationsPlanned": str(promise.operations),
        "operationsActual": str(one.operations),
        "finishPlanned": notify.instant(promise.p50),
        "finishPlannedLate": notify.instant(promise.p90),
        "finishActual": None if one.finished_at is None else notify.instant(one.finished_at),
    }


def _finish(factor: int, finish: Finish) -> PlannedFinish:
    return {
        "limits": factor,
        "likely": notify.instant(finish.p50),
        "late": notify.instant(finish.p90),
        "decidedBy": finish.held_by.value,
    }


def _change(one: Change) -> PlannedChange:
    return {
        "change": one.what,
        "renditionsFewer": one.renditions,
        "operationsSaved": str(one.operations),
        "likelyFinish": notify.instant(one.finish),
        "fits": one.fits,
    }
