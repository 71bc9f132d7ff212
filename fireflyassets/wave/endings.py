"""How a job's turn ends in the ledger: finished, given back, held, or not ours any more.

Belongs here: the map from trouble to a row's new state. Does not: the trouble itself.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.campaign import Campaign, Retention
from fireflyassets.core.failure import ACTIONS, Action
from fireflyassets.core.job import FACTORY, FENCE, Hold, JobRow
from fireflyassets.core.money import Cost
from fireflyassets.core.recipe_step import OnFailure
from fireflyassets.core.status import KEPT, HumanReview, Status
from fireflyassets.ports.entries import Ending, Release
from fireflyassets.stages.deliver import Delivered
from fireflyassets.stages.pinning import Pins

KEEP: Final[dict[Retention, timedelta]] = {
    Retention.STANDARD: timedelta(days=90),
    Retention.AUDIT: timedelta(days=7 * 365),
}
"""How long a closed row stays."""


def keeping(pins: Pins) -> Callable[[JobRow], timedelta]:
    """Return what says how long a row stays once it is settled: longest where nothing says it."""

    def keep(row: JobRow) -> timedelta:
        try:
            return KEEP[pins.campaign(row).config.retention]
        except errors.UnknownCampaign:
            return KEEP[Retention.AUDIT]

    return keep


STORE_PARK: Final = timedelta(minutes=1)
"""How long a job waits that met a ledger or bucket which did not answer."""

_BY_ACTION: Final[dict[Action, Status]] = {
    Action.REVIEW: Status.REVIEW,
    Action.DLQ: Status.DLQ,
    Action.RETRY: Status.DLQ,
}
_BY_RECIPE: Final[dict[OnFailure, Status]] = {
    OnFailure.REVIEW: Status.REVIEW,
    OnFailure.DLQ: Status.DLQ,
}


def succeeded(
    row: JobRow,
    deliveries: tuple[Delivered, ...],
    *,
    cost: Cost,
    campaign: Campaign,
    now: datetime,
) -> Ending:
    """Return the ending of a job whose renditions are all in place.

    While its review is open its row does not expire: somebody must still look at it.
    """
    is_open = row.human_reviewed is HumanReview.PENDING
    return Ending(
        status=Status.SUCCEEDED,
        reason=None,
        outputs=tuple(one.key for one in deliveries),
        cost=cost,
        ended_at=now,
        ttl=None if is_open else now + KEEP[campaign.config.retention],
        looks=tuple(one.look for one in deliveries if one.look is not None),
    )


def troubled(
    trouble: errors.JobFailed,
    wish: OnFailure | None,
    *,
    cost: Cost,
    campaign: Campaign,
    now: datetime,
) -> Ending | Release:
    """Return how a failed job ends: its class decides; the recipe's *wish* where it is free to."""
    action = ACTIONS[trouble.failure]
    wish = wish if wish and wish.decides(trouble.failure) else None
    if action is Action.HOLD or wish is OnFailure.HOLD:
        return Release(str(trouble), hold=Hold(str(trouble), now, FACTORY))
    if action is Action.PARK:
        return Release(str(trouble), not_before=now + timedelta(minutes=10))
    status = _BY_RECIPE.get(wish, _BY_ACTION[action]) if wish else _BY_ACTION[action]
    return Ending(
        status=status,
        reason=str(trouble),
        outputs=(),
        cost=cost,
        ended_at=now,
        ttl=None if status in KEPT else now + KEEP[campaign.config.retention],
        failure=trouble.failure,
    )


def delayed(trouble: errors.JobDelayed, *, now: datetime) -> Release:
    """Return how a job goes back that is only late: parked until a time, or held for a person."""
    if trouble.until is None:
        by = FENCE if isinstance(trouble, errors.OutcomeUnknown) else FACTORY
        return Release(str(trouble), hold=Hold(str(trouble), now, by))
    return Release(str(trouble), not_before=trouble.until, held_by=trouble.held_by)
