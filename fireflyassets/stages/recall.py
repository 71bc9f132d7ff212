"""Recall: outputs that were published and must not be used any more.

In: what is wrong with them: a template, a model, a job, a time. Out: what would be hit and where it
was delivered; then decisions in the ledger, whose events tell customers. Spends: nothing. Objects
are tagged and moved to quarantine by whoever shows decisions (``stages/showing.py``).
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Final

from fireflyassets.core.endpoint import Outcome
from fireflyassets.core.errors import FactoryError
from fireflyassets.core.job import JobRow
from fireflyassets.core.review import Move
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.webhooks import Chosen, WebhookStore
from fireflyassets.stages.notify import is_published
from fireflyassets.stages.pinning import Pins
from fireflyassets.stages.review import MOST, Pick, Refused, Reviews, Ruling
from fireflyassets.stages.review import Outcome as Decided

_log: Final = logging.getLogger(__name__)
_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of a customer's published outputs are meant; what is None narrows nothing."""

    customer: str
    campaign: str | None = None
    template: str | None = None
    """The path that the campaign's file names, or the beginning of the document's sha256."""
    model: str | None = None
    job: str | None = None
    since: datetime | None = None
    """Made then or later."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A job whose outputs would be recalled."""

    row: JobRow
    delivered_to: tuple[str, ...] = field(default=())
    """Endpoints that were told of its outputs. Whoever asked by GET is not among them."""


@dataclass(frozen=True, slots=True)
class Recalls:
    """The use case."""

    ledger: JobLedger
    webhooks: WebhookStore
    catalogue: Catalogue
    pins: Pins
    reviews: Reviews

    def find(self, wanted: Wanted) -> list[Hit]:
        """Return what a recall would hit, in the order of campaigns and creation."""
        rows = [row for row in self._rows(wanted) if is_published(row) and self._is(row, wanted)]
        told = self._told(wanted.customer, {row.job_id for row in rows}) if rows else {}
        return [Hit(row, tuple(sorted(told.get(row.job_id, ())))) for row in rows]

    def go(self, hits: Sequence[Hit], *, by: str, why: str) -> tuple[list[JobRow], list[Refused]]:
        """Recall; return what was, and what has moved since it was found."""
        done: list[JobRow] = []
        refused: list[Refused] = []
        ruling = Ruling(Move.RECALL, by, note=why)
        for (customer, campaign), some in groupby((hit.row for hit in hits), key=_owner):
            rows = [*some]
            for start in range(0, len(rows), MOST):
                picks = [Pick(row.job_id, row.epoch) for row in rows[start : start + MOST]]
                told = self.reviews.judge(customer, campaign, picks, ruling)
                if isinstance(told, Decided):
                    done += told.rows
                    refused += told.refused
        return done, refused

    def _rows(self, wanted: Wanted) -> Iterator[JobRow]:
        if wanted.job is not None:
            yield from self.ledger.jobs(wanted.customer, [wanted.job]).values()
            return
        owned = (slug.partition("/") for slug in sorted(self.catalogue.campaigns()))
        known = [name for owner, _, name in owned if owner == wanted.customer]
        for campaign in [wanted.campaign] if wanted.campaign else known:
            yield from self.ledger.campaign_jobs(wanted.customer, campaign)

    def _is(self, row: JobRow, wanted: Wanted) -> bool:
        if wanted.campaign and row.campaign_id != wanted.campaign:
            return False
        if wanted.since and (row.ended_at is None or row.ended_at < wanted.since):
            return False
        if wanted.template and not self._is_made_with(row, wanted.template):
            return False
        return wanted.model is None or wanted.model in self._models(row)

    def _is_made_with(self, row: JobRow, template: str) -> bool:
        """Say whether a job's campaign, as it was pinned, names the template; unknown: it does.

        What can't be told is recalled rather than left in use.
        """
        try:
            campaign = self.pins.campaign(row)
        except FactoryError as error:
            _log.warning("job %s: its templates are not known: %s", row.job_id, error)
            return True
        digests = campaign.templates.values()
        paths = campaign.config.templates.values()
        return template in paths or any(one.startswith(template) for one in digests)

    def _models(self, row: JobRow) -> set[str]:
        steps = self.ledger.history(row.job_id).steps.items()
        return {
            made.model
            for (_, generation), made in steps
            if generation == row.generation and made.model
        }

    def _told(self, customer: str, jobs: set[str]) -> dict[str, set[str]]:
        """Return job -> the endpoints that were told of it."""
        urls = {one.endpoint_id: one.url for one in self.webhooks.endpoints(customer)}
        found: dict[str, set[str]] = {}
        chosen, after = Chosen(customer, outcome=Outcome.DELIVERED), None
        while page := self.webhooks.deliveries(chosen, after=after, most=_PAGE):
            for one in page:
                if one.job_id in jobs:
                    url = urls.get(one.endpoint_id, one.endpoint_id)
                    found.setdefault(one.job_id, set()).add(url)
            after = page[-1].delivery_id
        return found


def _owner(row: JobRow) -> tuple[str, str]:
    return row.customer_id, row.campaign_id
