"""Planning: a brief judged, priced and projected before anything of it is released.

In: rows of a brief. Out: a plan; later the jobs, under the campaign that was planned with.
Spends: nothing. The rows pass the same intake as when they are sent; there are no other checks.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Final

from pydantic import TypeAdapter

from fireflyassets.core import ids
from fireflyassets.core.brief import Brief, Row, read_csv, read_json_lines
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import CampaignMoved
from fireflyassets.core.job import JobRow
from fireflyassets.core.plan import Bounds, Plan, Reckoning, counted, lock_of
from fireflyassets.core.status import ENDED
from fireflyassets.ports.entries import Duplicate, Recorded
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.admission import Overloaded
from fireflyassets.stages.budgeting import Unaffordable
from fireflyassets.stages.drafting import A_PLACE, card_of_day
from fireflyassets.stages.intake import Answer, Intake, Priced, problems_of
from fireflyassets.stages.outlook import Outlook

_JSON: Final = "application/json"
_TEXT: Final = "text/plain"


@dataclass(frozen=True, slots=True)
class Promise:
    """What a plan said and binds; a token holds it."""

    plan_id: str
    customer: str
    campaign: str
    version: str
    lock: str
    brief: str
    """sha256 of the brief's bytes."""
    is_csv: bool
    jobs: int
    operations: Decimal
    p50: datetime
    p90: datetime
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Released:
    """A plan that was released: what it said, when that was, and which jobs are its own."""

    promise: Promise
    at: datetime
    manifests: frozenset[str]
    """Objects that the inputs of its jobs lie in, and no other job's."""


_RELEASED: Final = TypeAdapter(Released)


@dataclass(frozen=True, slots=True)
class Standing:
    """How the jobs of a released plan stand against what was planned."""

    released: Released
    jobs: int
    ended: int
    operations: Decimal
    """Certainly billed so far."""
    finished_at: datetime | None
    """When the last one ended; None while one is open."""


@dataclass(frozen=True, slots=True)
class Planning:
    """The use case over intake and outlook."""

    intake: Intake
    outlook: Outlook

    @property
    def _objects(self) -> ObjectStore:
        return self.intake.objects

    def plan(self, rows: Sequence[Row], digest: str, *, customer: str, campaign: str) -> Plan:
        """Return what *rows* would come to; nothing is written.

        Raises:
            UnknownCampaign, CampaignOutOfService: There is none of that name, or not now.
            UnusableConfiguration: Nothing prices it, or its credential can't be used.
            BudgetsUnreadable: The customer's budgets can't be read.
        """
        answers = self.intake.accept(
            rows, customer=customer, campaign=campaign, partial=True, dry_run=True
        )
        loaded = self.intake.catalogue.campaign(customer, campaign)
        now = self.intake.clock.now()
        card = card_of_day(self.intake.catalogue, now.date())
        bounds = Bounds(_room(answers), loaded.config.deadline)
        reckoning = Reckoning(loaded, card, self.outlook.traffic(loaded), bounds)
        pairs = [(row.raw, one) for row, one in zip(rows, answers, strict=True) if row.raw]
        new = [(raw.locale, frozenset(raw.aspects)) for raw, one in pairs if _is_new(one)]
        wished = [(raw.locale, frozenset(raw.aspects)) for raw, one in pairs if _is_wished(one)]
        sums, wanted = reckoning.sums(counted(new)), counted(wished)
        repeated = sum(isinstance(one, Duplicate) for one in answers)
        return Plan(
            campaign=loaded,
            brief=digest,
            made_at=now,
            sums=sums,
            repeated=repeated,
            refused=len(rows) - len(new) - repeated,
            problems=tuple(problems_of(rows, answers)),
            finishes=reckoning.finishes(sums),
            changes=reckoning.changes(wanted) if wanted else (),
            price=None if card.per_operation is None else sums.operations * card.per_operation,
            currency=card.currency,
            fits=reckoning.fits(reckoning.sums(wanted)),
        )

    def keep(self, plan: Plan, content: bytes) -> None:
        """Keep the brief of a plan for as long as that lasts."""
        key = ids.planned_key(plan.campaign.config.customer, plan.brief)
        self._objects.put(key, content, media_type=_TEXT)

    def brief(self, promise: Promise) -> Brief | None:
        """Return the brief that was planned, as it was; None where it is no longer kept."""
        content = self._objects.get(ids.planned_key(promise.customer, promise.brief))
        if content is None or digest_of(content) != promise.brief:
            return None
        return read(content, is_csv=promise.is_csv)

    def release(self, promise: Promise, rows: Sequence[Row]) -> list[Answer]:
        """Record the rows of a plan that fit, as they were planned. Doing it again is safe.

        Raises:
            CampaignMoved: The campaign or its templates are others than were planned with.
        """
        answers = self.intake.accept(
            rows,
            customer=promise.customer,
            campaign=promise.campaign,
            partial=True,
            insist=partial(insist_on, promise),
        )
        key = ids.plan_key(promise.customer, promise.campaign, promise.made_at, promise.plan_id)
        # Where an earlier release died before this, its jobs are repeated ones by now.
        mine = [one.row for one in answers if isinstance(one, Recorded | Duplicate)]
        # A brief's rows come in a place apart, the last one when it is recorded.
        since = promise.made_at - len(rows) * A_PLACE
        inputs = {_input(row) for row in mine if row.created_at >= since}
        if inputs and not self._objects.exists(key):
            released = Released(promise, self.intake.clock.now(), frozenset(inputs))
            self._objects.put(key, _RELEASED.dump_json(released), media_type=_JSON)
        return answers

    def standing(self, customer: str, campaign: str) -> Standing | None:
        """Return how the last plan that was released stands; all rows are read if there is one."""
        keys = self._objects.keys(ids.plans_of(customer, campaign))
        content = self._objects.get(keys[-1]) if keys else None
        if content is None:
            return None
        rows = self.intake.ledger.campaign_jobs(customer, campaign)
        return _standing(_RELEASED.validate_json(content), rows)


def read(content: bytes, *, is_csv: bool) -> Brief:
    """Return a brief's rows."""
    return read_csv(content) if is_csv else read_json_lines(content)


def digest_of(content: bytes) -> str:
    """Return the sha256 that stands for a brief."""
    return hashlib.sha256(content).hexdigest()


def _input(row: JobRow) -> str:
    return row.input_manifest.partition("#")[0]


def insist_on(promise: Promise, campaign: Campaign) -> None:
    """Make sure that a campaign is what was planned with.

    Raises:
        CampaignMoved: It, or a template or font of it, has changed.
    """
    lock = lock_of(campaign)
    if (promise.version, promise.lock) != (campaign.version, lock):
        raise CampaignMoved(campaign.slug, documents=promise.lock != lock)


def _is_new(answer: Answer) -> bool:
    return isinstance(answer, Priced)


def _is_wished(answer: Answer) -> bool:
    """Say whether nothing is wrong with a row but that it does not fit."""
    return isinstance(answer, Priced | Unaffordable | Overloaded)


def _room(answers: Sequence[Answer]) -> Decimal | None:
    """Return the room of the tightest budget that not all rows fit into."""
    rooms = [one.over.room for one in answers if isinstance(one, Unaffordable)]
    return min(rooms, default=None)


def _standing(released: Released, rows: Sequence[JobRow]) -> Standing:
    mine = [row for row in rows if _input(row) in released.manifests]
    ended = [row for row in mine if row.status in ENDED]
    last = max((row.ended_at or row.updated_at for row in ended), default=None)
    return Standing(
        released,
        jobs=len(mine),
        ended=len(ended),
        operations=sum((row.cost_actual or Decimal(0) for row in mine), Decimal(0)),
        finished_at=last if mine and len(ended) == len(mine) else None,
    )
