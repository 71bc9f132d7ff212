"""Intake: requests become ledger rows. The one path behind the API, briefs and the job queue.

In: rows of raw requests of one campaign. Out: queued ledger rows, manifests, wake-ups.
Spends: nothing; no vendor is called here.

The order is what makes it safe to stop anywhere. Everything is validated before anything is
written. The manifests of a call come first, as one object under a key that its content decides:
without their rows they are litter, and no other request can overwrite them. The row's conditional
write is the claim of the idempotency key; from then on the job is durable. The wake-up comes last
and may be lost.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal

from fireflyassets.core import copy_check, ids, manifest, message, money
from fireflyassets.core.brief import Row
from fireflyassets.core.campaign import Campaign, ReviewMode
from fireflyassets.core.errors import ServiceDown, UnusableConfiguration
from fireflyassets.core.job import JobRequest, JobRow, Rewritten
from fireflyassets.core.recipe import JOB_TEXTS
from fireflyassets.core.request import Problem, prompt_problems, validate
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import Conflict, Duplicate, Recorded, Recording
from fireflyassets.ports.guardrail import Allowed, Declined, Guardrail
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.queue import JobQueue
from fireflyassets.stages.budgeting import Hold, Unaffordable
from fireflyassets.stages.pinning import pin, pin_card

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Invalid:
    """The request breaks a rule; nothing of it was written."""

    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Withheld:
    """The request is fine, but another one of its file is not, and only all or none was asked."""

    job_id: str


Answer = Recorded | Duplicate | Conflict | Invalid | Withheld | Unaffordable


@dataclass(frozen=True, slots=True)
class _Draft:
    request: JobRequest
    row: JobRow
    number: int | None
    """As in `Row`."""

    @property
    def job_id(self) -> str:
        return self.row.job_id


@dataclass(frozen=True, slots=True)
class Intake:
    """The use case and its ports."""

    ledger: JobLedger
    objects: ObjectStore
    queue: JobQueue
    catalogue: Catalogue
    clock: Clock
    guardrail: Guardrail

    def accept(
        self,
        rows: Sequence[Row],
        *,
        customer: str,
        campaign: str,
        partial: bool = False,
        wake: bool = True,
    ) -> list[Answer]:
        """Record the requests and answer each, in order. Sending the same again is safe.

        Without *partial*, one bad or conflicting request means that none is written; a conflict
        that only a race creates stops just itself. *wake* is False where the caller dispatches.

        Raises:
            UnknownCampaign: There is none of that name for this customer.
            UnusableConfiguration: No rate card prices the campaign's recipe today.
            BudgetsUnreadable: The customer's budgets can't be read.
        """
        loaded = self.catalogue.campaign(customer, campaign)
        now = self.clock.now()
        card = self._card(now.date())
        drafts = _drafts(rows, loaded, card, now=now)
        named = {draft.job_id for draft in drafts if isinstance(draft, _Draft)}
        known = self.ledger.jobs(customer, named)
        # A known request was judged when it was new.
        drafts = [
            self._judged(draft, loaded)
            if isinstance(draft, _Draft) and draft.job_id not in known
            else draft
            for draft in drafts
        ]
        valid = [draft for draft in drafts if isinstance(draft, _Draft)]
        # Of two drafts of one key in one call, the first is the claim.
        fresh = {draft.job_id: draft for draft in reversed(valid) if draft.job_id not in known}
        owners = {**known, **{job_id: draft.row for job_id, draft in fresh.items()}}
        if not partial and any(_is_bad(draft, owners) for draft in drafts):
            return [_withheld(draft, known, owners) for draft in drafts]
        claims = [draft for draft in valid if fresh.get(draft.job_id) is draft]
        if claims:
            # Before the rows: a wave works from what its jobs were priced under.
            pin(self.objects, self.catalogue, loaded)
            pin_card(self.objects, card)
        told = self._record(claims, loaded, now=now, partial=partial, wake=wake)
        refused = {job for job, one in told.items() if isinstance(one, Unaffordable)}
        owners |= {job: one.row for job, one in told.items() if not isinstance(one, Unaffordable)}
        return [
            told[draft.job_id]
            if isinstance(draft, _Draft)
            and (fresh.get(draft.job_id) is draft or draft.job_id in refused)
            else _repeated(draft, owners)
            for draft in drafts
        ]

    def _judged(self, draft: _Draft, campaign: Campaign) -> _Draft | Invalid:
        """Return the draft as the guardrail lets it through."""
        request = draft.request
        verdict = self.guardrail.judge(
            request.prompt,
            customer=request.customer,
            campaign=request.campaign,
            locale=request.locale,
        )
        if isinstance(verdict, Allowed):
            return draft
        if isinstance(verdict, Declined):
            sentence = "The prompt says what it must not say."
            problems = (Problem("prompt", verdict.rule, sentence, verdict.fix),)
            return Invalid(tuple(replace(one, row=draft.number) for one in problems))
        request = replace(request, rewritten=verdict)
        texts = {name: request.text(name) for name in JOB_TEXTS}
        problems = prompt_problems(verdict.prompt) or copy_check.problems(
            campaign, texts, request.locale, request.aspects
        )
        if problems:
            return Invalid(tuple(_of_rewriting(one, verdict, draft.number) for one in problems))
        return replace(draft, request=request)

    def _card(self, day: date) -> money.RateCard:
        try:
            return money.card_for(self.catalogue.rate_cards(), day)
        except LookupError as error:
            raise UnusableConfiguration(str(error.args[0])) from error

    def _record(
        self,
        claims: Sequence[_Draft],
        campaign: Campaign,
        *,
        now: datetime,
        partial: bool,
        wake: bool,
    ) -> dict[str, Recording | Unaffordable]:
        if not claims:
            return {}
        kept = manifest.bundle([draft.request for draft in claims])
        self.objects.put(kept.key, kept.content, media_type=manifest.MEDIA_TYPE)
        rows = [
            replace(draft.row, input_manifest=pointer)
            for draft, pointer in zip(claims, kept.pointers, strict=True)
        ]
        hold = Hold(self.catalogue, campaign, now, partial=partial)
        found = hold.record(self.ledger, rows)
        if wake:
            self._wake([job for job, told in found.items() if isinstance(told, Recorded)])
        return found

    def _wake(self, job_ids: Sequence[str]) -> None:
        if not job_ids:
            return
        try:
            self.queue.send(message.wakes(job_ids))
        except (ServiceDown, ConnectionError):
            _log.warning("Wake-up for %d jobs not sent; dispatch finds them anyway.", len(job_ids))


def _drafts(
    rows: Sequence[Row], campaign: Campaign, card: money.RateCard, *, now: datetime
) -> list[_Draft | Invalid]:
    # Listings keep the order of the file: a millisecond apart, which is what ledgers store, and
    # backwards, so that no job is due later than now.
    return [
        _draft(row, campaign, card, now=now, behind=timedelta(milliseconds=behind))
        for row, behind in zip(rows, reversed(range(len(rows))), strict=True)
    ]


def _draft(
    row: Row,
    campaign: Campaign,
    card: money.RateCard,
    *,
    now: datetime,
    behind: timedelta,
) -> _Draft | Invalid:
    request = _checked(row, campaign)
    if isinstance(request, Invalid):
        return request
    created_at = now - behind
    job_id = ids.job_id(request.customer, request.key)
    review = campaign.config.review is ReviewMode.REQUIRED
    return _Draft(
        request,
        JobRow(
            job_id=job_id,
            customer_id=request.customer,
            campaign_id=request.campaign,
            status=Status.QUEUED,
            run_id=None,
            input_manifest="",  # Where it lies is known once it is clear which rows are new.
            outputs=(),
            cost_estimate=_price(campaign, request, card),
            cost_actual=None,
            created_at=created_at,
            updated_at=created_at,
            ttl=None,
            body_hash=request.digest(),
            idempotency_key=request.key,
            credential=campaign.config.credential,
            campaign_version=campaign.version,
            rate_card=card.version,
            human_reviewed=HumanReview.PENDING if review else HumanReview.NOT_REQUIRED,
        ),
        row.number,
    )


def _price(campaign: Campaign, request: JobRequest, card: money.RateCard) -> Decimal:
    try:
        return money.estimate(
            campaign.config.recipe,
            locale=request.locale,
            aspects=len(request.aspects),
            card=card,
        )
    except LookupError as error:
        raise UnusableConfiguration(str(error.args[0])) from error


def _checked(row: Row, campaign: Campaign) -> JobRequest | Invalid:
    """Return the request, or all its problems: of its form, of what it says, of its copy."""
    raw = row.raw
    if raw is None:
        return Invalid(row.problems)
    told = validate(raw, campaign.config)
    texts = {"prompt": raw.prompt, "headline": raw.headline, "locale": raw.locale}
    problems = [*row.problems]
    for more in (
        () if isinstance(told, JobRequest) else told,
        copy_check.problems(campaign, texts, raw.locale, dict.fromkeys(raw.aspects)),
    ):
        named = {problem.field for problem in problems}
        problems += [replace(one, row=row.number) for one in more if one.field not in named]
    return told if isinstance(told, JobRequest) and not problems else Invalid(tuple(problems))


def _of_rewriting(problem: Problem, verdict: Rewritten, number: int | None) -> Problem:
    """Return a problem of what a rule made of a prompt, in words for whoever wrote the prompt."""
    sentence = f"As the rule {verdict.rule} rewrites it: {problem.message}"
    return replace(problem, message=sentence, row=number)


def _is_bad(draft: _Draft | Invalid, owners: Mapping[str, JobRow]) -> bool:
    if isinstance(draft, Invalid):
        return True
    return draft.row.body_hash != owners[draft.job_id].body_hash


def _withheld(
    draft: _Draft | Invalid, known: Mapping[str, JobRow], owners: Mapping[str, JobRow]
) -> Answer:
    if _is_bad(draft, owners) or (isinstance(draft, _Draft) and draft.job_id in known):
        return _repeated(draft, owners)
    return Withheld(draft.job_id) if isinstance(draft, _Draft) else draft


def _repeated(draft: _Draft | Invalid, owners: Mapping[str, JobRow]) -> Answer:
    if isinstance(draft, Invalid):
        return draft
    owner = owners[draft.job_id]
    return Conflict(owner) if _is_bad(draft, owners) else Duplicate(owner)
