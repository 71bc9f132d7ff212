"""Plan tokens: what a plan said and binds, sealed, so that it can be released for a while.

Belongs here: tokens made and read. Does not: plans (``stages/planning.py``), the cipher
(``seals.py``).
"""

from datetime import timedelta
from http import HTTPStatus
from typing import Final
from uuid import uuid4

from pydantic import TypeAdapter

from fireflyassets.api.problems import ProblemRaised, not_found
from fireflyassets.api.seals import Purpose, Seals
from fireflyassets.core.plan import Plan, lock_of
from fireflyassets.core.request import Problem
from fireflyassets.ports.clock import Clock
from fireflyassets.stages.planning import Planning, Promise

LASTS: Final = timedelta(hours=24)
"""How long a plan can be released: prices and what waits move on, and its brief is kept so long."""
_PROMISE: Final = TypeAdapter(Promise)


def issued(
    plan: Plan, content: bytes, planning: Planning, seals: Seals | None, *, is_csv: bool
) -> str | None:
    """Keep a plan's brief and return its token; None: it has no new jobs, or there is no key."""
    if not plan.sums.jobs or seals is None:
        return None
    planning.keep(plan, content)
    promise = _promised(plan, is_csv=is_csv)
    return seals.close(Purpose.PLAN, _PROMISE.dump_python(promise, mode="json"))


def _promised(plan: Plan, *, is_csv: bool) -> Promise:
    """Return what a plan binds."""
    config = plan.campaign.config
    return Promise(
        plan_id=uuid4().hex[:16],
        customer=config.customer,
        campaign=config.campaign,
        version=plan.campaign.version,
        lock=lock_of(plan.campaign),
        brief=plan.brief,
        is_csv=is_csv,
        jobs=plan.sums.jobs,
        operations=plan.sums.operations,
        p50=plan.finish.p50,
        p90=plan.finish.p90,
        made_at=plan.made_at,
    )


def opened(token: str, seals: Seals | None, clock: Clock, *, tenant: str) -> Promise:
    """Return the promise that a token of *tenant* holds.

    Raises:
        ProblemRaised: 404; it is none of ours, or another tenant's. 410; it is too old.
    """
    said = seals.open(Purpose.PLAN, token) if seals else None
    promise = _PROMISE.validate_python(said) if said is not None else None
    if promise is None or promise.customer != tenant:
        raise not_found("There is no such plan.", "token")
    if clock.now() - promise.made_at >= LASTS:
        raise outdated("The plan is too old to be released.")
    return promise


def outdated(sentence: str) -> ProblemRaised:
    """Return the problem of a plan that can't be released any more."""
    problem = Problem("token", "expired", sentence, "Plan the brief anew, and release that plan.")
    return ProblemRaised(HTTPStatus.GONE, sentence, problem)
