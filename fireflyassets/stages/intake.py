"""Intake: requests become ledger rows. The one path behind the API, briefs and the job queue.

In: rows of raw requests of one campaign. Out: queued ledger rows, manifests, wake-ups.
Spends: nothing; no vendor is called here.

The order is what makes it safe to stop anywhere. Everything is validated before anything is
written. The manifests of a call come first, as one object under a key that its content decides:
without their rows they are litter, and no other request can overwrite them. The row's conditional
write is the claim of the idempotency key; from then on the job is durable. Before the first of many
rows goes the word that all are to be written, so that somebody finishes them
(``stages/finishing.py``). The wake-up comes last and may be lost.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from fireflyassets.core import ids, manifest, message
from fireflyassets.core.brief import Row
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import ServiceDown
from fireflyassets.core.job import JobRow
from fireflyassets.core.request import KEY_FIELD, Problem
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import Conflict, Duplicate, Recorded, Recording
from fireflyassets.ports.guardrail import Guardrail
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.queue import JobQueue
from fireflyassets.stages.admission import Admission, Overloaded
from fireflyassets.stages.budgeting import Hold, Unaffordable
from fireflyassets.stages.drafting import Draft, Invalid, card_of_day, drafted, judged
from fireflyassets.stages.finishing import whole
from fireflyassets.stages.pinning import pin, pin_card
from fireflyassets.stages.repeats import Repeats
from fireflyassets.stages.steering import held_with_campaign

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Withheld:
    """The request is fine, but another one of its file is not, and only all or none was asked."""

    job_id: str


@dataclass(frozen=True, slots=True)
class Priced:
    """The request would be recorded as this row; it was not, since only its price was asked."""

    row: JobRow


Answer = Recorded | Duplicate | Conflict | Invalid | Withheld | Priced | Unaffordable | Overloaded


@dataclass(frozen=True, slots=True)
class Intake:
    """The use case and its ports."""

    ledger: JobLedger
    objects: ObjectStore
    queue: JobQueue
    catalogue: Catalogue
    clock: Clock
    guardrail: Guardrail
    admission: Admission | None = None
    """None: everything is taken, however long it will wait."""

    def accept(
        self,
        rows: Sequence[Row],
        *,
        customer: str,
        campaign: str,
        partial: bool = False,
        wake: bool = True,
        dry_run: bool = False,
        insist: Callable[[Campaign], None] = lambda _: None,
    ) -> list[Answer]:
        """Record the requests and answer each, in order. Sending the same again is safe.

        Without *partial*, one bad or conflicting request means that none is written; a conflict
        that only a race creates stops just itself. *wake* is False where the caller dispatches.
        A *dry_run* writes nothing. *insist* is asked whether new rows may come into the campaign
        as it is, and raises if not.

        Raises:
            UnknownCampaign: There is none of that name for this customer.
            UnusableConfiguration: No rate card prices the campaign's recipe today.
            BudgetsUnreadable: The customer's budgets can't be read.
        """
        known = self.ledger.jobs(customer, _named(rows, customer))
        repeats = Repeats(self.objects, known, customer=customer, campaign=campaign)
        # Before any rule: what was taken once is taken, whatever the campaign says by now.
        before = [repeats.of(row) for row in rows]
        rest = [row for row, known_as in zip(rows, before, strict=True) if known_as is None]
        if not rest:
            return [*filter(None, before)]
        loaded = self.catalogue.campaign(customer, campaign)
        insist(loaded)
        told = iter(self._take(rest, loaded, known, partial=partial, wake=wake, dry_run=dry_run))
        return [known_as or next(told) for known_as in before]

    def _take(
        self,
        rows: Sequence[Row],
        loaded: Campaign,
        known: Mapping[str, JobRow],
        *,
        partial: bool,
        wake: bool,
        dry_run: bool,
    ) -> list[Answer]:
        """Answer what was not sent before in the same words."""
        now = self.clock.now()
        card = card_of_day(self.catalogue, now.date())
        drafts = drafted(rows, loaded, card, now=now)
        there = cache(self.objects.exists)  # Of this call: one picture may serve a whole brief.
        # What stands under a known key is another request: no word of this one is used.
        drafts = [
            judged(draft, loaded, self.guardrail, there)
            if isinstance(draft, Draft) and draft.job_id not in known
            else draft
            for draft in drafts
        ]
        valid = [draft for draft in drafts if isinstance(draft, Draft)]
        # Of two drafts of one key in one call, the first is the claim.
        fresh = {draft.job_id: draft for draft in reversed(valid) if draft.job_id not in known}
        owners = {**known, **{job_id: draft.row for job_id, draft in fresh.items()}}
        if not partial and any(_is_bad(draft, owners) for draft in drafts):
            return [_withheld(draft, known, owners) for draft in drafts]
        claims = [draft for draft in valid if fresh.get(draft.job_id) is draft]
        hold = Hold(self.catalogue, loaded, now, partial=partial)
        turned = self._turned_away(claims, loaded, partial=partial)
        claims = [draft for draft in claims if draft.job_id not in turned]
        if dry_run:
            over = turned | hold.look(self.ledger, [draft.row for draft in claims])
            return [
                (isinstance(draft, Draft) and over.get(draft.job_id)) or _priced(draft, owners)
                for draft in drafts
            ]
        if claims:
            # Before the rows: a wave works from what its jobs were priced under.
            pin(self.objects, self.catalogue, loaded)
            pin_card(self.objects, card)
        told = turned | self._record(claims, hold, wake=wake)
        if self.admission:
            self.admission.outlook.waiting.note(loaded.config, len(claims))
        refused = {job for job, one in told.items() if isinstance(one, Unaffordable | Overloaded)}
        owners |= {
            job: one.row
            for job, one in told.items()
            if not isinstance(one, Unaffordable | Overloaded)
        }
        return [
            told[draft.job_id]
            if isinstance(draft, Draft)
            and (fresh.get(draft.job_id) is draft or draft.job_id in refused)
            else _repeated(draft, owners)
            for draft in drafts
        ]

    def _turned_away(
        self, claims: Sequence[Draft], campaign: Campaign, *, partial: bool
    ) -> dict[str, Recording | Unaffordable | Overloaded]:
        """Return which jobs would not be made in time."""
        if self.admission is None:
            return {}
        return {**self.admission.turned_away(claims, campaign, partial=partial)}

    def _record(
        self, claims: Sequence[Draft], hold: Hold, *, wake: bool
    ) -> dict[str, Recording | Unaffordable]:
        if not claims:
            return {}
        kept = manifest.bundle([draft.request for draft in claims])
        self.objects.put(kept.key, kept.content, media_type=manifest.MEDIA_TYPE)
        rows = [
            replace(draft.row, input_manifest=pointer)
            for draft, pointer in zip(claims, kept.pointers, strict=True)
        ]
        with whole(self.ledger, rows, kept.key, now=hold.now, partial=hold.partial):
            found = hold.record(self.ledger, rows)
        new = [told.row for told in found.values() if isinstance(told, Recorded)]
        held = held_with_campaign(self.ledger, new, now=hold.now)
        if wake:
            due = [row.job_id for row in new if row.job_id not in held]
            self._wake(due, claims[0].row.customer_id)
        return found | {job: Recorded(row) for job, row in held.items()}

    def _wake(self, job_ids: Sequence[str], customer: str) -> None:
        if not job_ids:
            return
        try:
            self.queue.send(message.wakes(job_ids), tenant=customer)
        except (ServiceDown, ConnectionError):
            _log.warning("Wake-up for %d jobs not sent; dispatch finds them anyway.", len(job_ids))


def _named(rows: Sequence[Row], customer: str) -> set[str]:
    """Return the ids of the jobs that the rows' keys stand for."""
    keys = (row.raw.key for row in rows if row.raw)
    return {ids.job_id(customer, key) for key in keys if ids.KEY.fullmatch(key)}


def _is_bad(draft: Draft | Invalid, owners: Mapping[str, JobRow]) -> bool:
    if isinstance(draft, Invalid):
        return True
    return draft.row.body_hash != owners[draft.job_id].body_hash


def _priced(draft: Draft | Invalid, owners: Mapping[str, JobRow]) -> Answer:
    if isinstance(draft, Draft) and draft.row is owners[draft.job_id]:
        return Priced(draft.row)
    return _repeated(draft, owners)


def _withheld(
    draft: Draft | Invalid, known: Mapping[str, JobRow], owners: Mapping[str, JobRow]
) -> Answer:
    if _is_bad(draft, owners) or (isinstance(draft, Draft) and draft.job_id in known):
        return _repeated(draft, owners)
    return Withheld(draft.job_id) if isinstance(draft, Draft) else draft


def _repeated(draft: Draft | Invalid, owners: Mapping[str, JobRow]) -> Answer:
    if isinstance(draft, Invalid):
        return draft
    owner = owners[draft.job_id]
    return Conflict(owner) if _is_bad(draft, owners) else Duplicate(owner)


def problems_of(rows: Sequence[Row], answers: Sequence[Answer]) -> list[Problem]:
    """Return the problems of all rows; a conflict is one of the key.

    What no row of the brief got past, such as a budget without room, is told once and of no row.
    """
    none_fits = not any(isinstance(answer, Recorded | Priced) for answer in answers)
    refused = [one for one in answers if isinstance(one, Unaffordable | Overloaded)]
    over = {one.over: one for one in refused if none_fits}
    told = [one.problem() for one in over.values()]
    for row, answer in zip(rows, answers, strict=True):
        if isinstance(answer, Invalid):
            told += answer.problems
        elif isinstance(answer, Conflict):
            named = row.raw.key_field if row.raw else KEY_FIELD
            told.append(replace(conflict(), field=named, row=row.number))
        elif isinstance(answer, Unaffordable | Overloaded) and answer.over not in over:
            told.append(answer.problem(row.number))
    return told


def conflict() -> Problem:
    """Return the problem of a key that stands for another request."""
    return Problem(
        KEY_FIELD,
        "conflict",
        "Another request was recorded under this key.",
        "Send it under a new key, or repeat the first request exactly.",
    )
