"""Drafting: requests as the rows they would become, or everything that is wrong with them.

In: rows of raw requests of one campaign. Out: drafts, priced and judged; nothing is written.
Spends: nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

from fireflyassets.core import copy_check, ids, money
from fireflyassets.core.brief import Row
from fireflyassets.core.campaign import Campaign, ReviewMode
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.job import JobRequest, JobRow, Rewritten
from fireflyassets.core.recipe_step import JOB_TEXTS
from fireflyassets.core.request import Problem, prompt_problems, validate
from fireflyassets.core.review import SAMPLED_SHARE, is_sampled
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.guardrail import Declined, Guardrail, Verdict

A_PLACE: Final = timedelta(milliseconds=1)
"""Between two rows of a file: listings keep its order by the unit that ledgers store. It counts
backwards, so that no job is due later than now."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """The request breaks a rule; nothing of it was written."""

    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A request, and the row that it would be."""

    request: JobRequest
    row: JobRow
    number: int | None
    """As in `Row`."""

    @property
    def job_id(self) -> str:
        """Return the id of the job that it would be."""
        return self.row.job_id


def card_of_day(catalogue: Catalogue, day: date) -> money.RateCard:
    """Return the rate card that prices what comes in on *day*.

    Raises:
        UnusableConfiguration: None is valid then.
    """
    try:
        return money.card_for(catalogue.rate_cards(), day)
    except LookupError as error:
        raise UnusableConfiguration(str(error.args[0])) from error


def drafted(
    rows: Sequence[Row], campaign: Campaign, card: money.RateCard, *, now: datetime
) -> list[Draft | Invalid]:
    """Return each row as a draft, or what is wrong with it, in order."""
    return [
        _draft(row, campaign, card, created_at=now - behind * A_PLACE)
        for row, behind in zip(rows, reversed(range(len(rows))), strict=True)
    ]


def _draft(
    row: Row, campaign: Campaign, card: money.RateCard, *, created_at: datetime
) -> Draft | Invalid:
    request = _checked(row, campaign)
    if isinstance(request, Invalid):
        return request
    return Draft(request, row_of(request, campaign, card, created_at=created_at), row.number)


def row_of(
    request: JobRequest, campaign: Campaign, card: money.RateCard, *, created_at: datetime
) -> JobRow:
    """Return the row of a valid request, but for where its manifest lies."""
    job_id = ids.job_id(request.customer, request.key)
    return JobRow(
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
        human_reviewed=_review(campaign, request, job_id),
    )


def _review(campaign: Campaign, request: JobRequest, job_id: str) -> HumanReview:
    """Return whether a person must approve a job's outputs; the campaign's name seeds a sample."""
    config = campaign.config
    asked = {
        ReviewMode.NONE: False,
        ReviewMode.REQUIRED: True,
        ReviewMode.SAMPLED: is_sampled(job_id, seed=campaign.slug, share=SAMPLED_SHARE),
        ReviewMode.FLAGGED: request.rewritten is not None,
    }
    return HumanReview.PENDING if asked[config.review] else HumanReview.NOT_REQUIRED


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


def _declined(field: str, verdict: Verdict) -> Iterator[Problem]:
    """Yield what a verdict has against a text; what customers read is never rewritten."""
    if isinstance(verdict, Declined):
        sentence = f"The {field} says '{verdict.word}', which it must not say."
        yield Problem(field, verdict.rule, sentence, verdict.fix)
    elif isinstance(verdict, Rewritten) and field != "prompt":
        sentence = f"The {field} says what the rule {verdict.rule} rewrites; only prompts are."
        yield Problem(field, verdict.rule, sentence, f"Write the {field} without it.")


def judged(
    draft: Draft, campaign: Campaign, guardrail: Guardrail, exists: Callable[[str], bool]
) -> Draft | Invalid:
    """Return the draft as the guardrail lets it through; its picture must be there."""
    request = draft.request
    if request.reference and not exists(request.reference.key):
        sentence = "There is no such picture."
        fix = "Send it to POST /v1/references, and the name that it gets here."
        return Invalid((Problem("reference", "unknown", sentence, fix, draft.number),))
    of = {"customer": request.customer, "campaign": request.campaign, "locale": request.locale}
    verdict = guardrail.judge(request.prompt, **of)
    faults = (
        *_declined("prompt", verdict),
        *_declined("headline", guardrail.judge(request.headline, **of)),
    )
    if faults:
        return Invalid(tuple(replace(one, row=draft.number) for one in faults))
    if not isinstance(verdict, Rewritten):
        return draft
    request = replace(request, rewritten=verdict)
    texts = {name: request.text(name) for name in JOB_TEXTS}
    problems = prompt_problems(verdict.prompt) or copy_check.problems(
        campaign, texts, request.locale, request.aspects
    )
    if problems:
        return Invalid(tuple(_of_rewriting(one, verdict, draft.number) for one in problems))
    review = _review(campaign, request, draft.job_id)
    return replace(draft, request=request, row=replace(draft.row, human_reviewed=review))
