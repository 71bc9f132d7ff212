"""Rebinding: jobs in a line that no loaded campaign serves any more.

In: the ledger's lines, the campaigns as loaded. Out: jobs in the line of their campaign's present
credential, or a reason for which they wait. Spends: nothing.

A campaign may come to name another credential, or leave, while jobs of it wait. A job is bound to
a credential of its own customer, not to the name that it was recorded under. Only a paid call that
is still open keeps it there, until the sweep has collected that: another client may not be able to
ask for it.
"""

import logging
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Final

from fireflyassets.core.job import JobRow
from fireflyassets.ports.catalogue import REASON_LIMIT, Catalogue
from fireflyassets.ports.entries import Release, Wave
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.stages.dispatch import STALE_AFTER
from fireflyassets.stages.forming import Batch, Lane, form, let_go, next_batch, works_on

_log: Final = logging.getLogger("fireflyassets.dispatch")


class Moved(StrEnum):
    """What became of a job in a line of nobody."""

    REBOUND = "rebound"
    PARKED = "parked"


def lanes_of(catalogue: Catalogue) -> set[Lane]:
    """Return the lanes that loaded campaigns are served in."""
    configs = [one.config for one in catalogue.campaigns().values()]
    return {Lane(config.credential, config.customer) for config in configs}


def rebind(
    ledger: JobLedger,
    catalogue: Catalogue,
    *,
    now: datetime,
    most: int,
    new_id: Callable[[], str],
) -> Counter[Moved]:
    """Look after about *most* due jobs in lines of nobody; the rest is the next call's.

    A wave that is never launched claims them, so that whoever dies here leaves nothing that the
    sweeps do not know already.
    """
    found: Counter[Moved] = Counter()
    while found.total() < most:
        before = found.total()
        for batch in _lost(ledger, catalogue, most=most, now=now):
            wave = form(ledger, batch, wave_id=new_id(), now=now)
            if wave is not None:
                found += _give_back(ledger, catalogue, wave, now=now)
                ledger.end(wave.wave_id)
        if found.total() == before:
            break
    if found:
        _log.warning("jobs whose line nobody serves any more: %s", dict(found))
    return found


def _lost(ledger: JobLedger, catalogue: Catalogue, *, most: int, now: datetime) -> list[Batch]:
    """Return a batch of each line of nobody in which no wave is open."""
    configs = [one.config for one in catalogue.campaigns().values()]
    served = {(one.credential, one.customer, one.campaign) for one in configs}
    waves = ledger.open_waves()
    open_lines = {(one.credential, one.customer, one.campaign) for one in waves}
    batches = (
        next_batch(ledger, Lane(credential, customer), campaign, most=most, now=now)
        for credential, customer, campaign in sorted(ledger.lines() - served - open_lines)
    )
    return [batch for batch in batches if batch]


def _give_back(
    ledger: JobLedger, catalogue: Catalogue, wave: Wave, *, now: datetime
) -> Counter[Moved]:
    found: Counter[Moved] = Counter()
    for row in ledger.jobs(wave.customer, wave.jobs).values():
        moved, release = _release(ledger, row, catalogue, now=now)
        if works_on(wave, row) and let_go(ledger, row, release, now=now):
            found[moved] += 1
    return found


def _release(
    ledger: JobLedger, row: JobRow, catalogue: Catalogue, *, now: datetime
) -> tuple[Moved, Release]:
    campaign = catalogue.campaigns().get(f"{row.customer_id}/{row.campaign_id}")
    if campaign is None:
        fault = (catalogue.fault(f"{row.customer_id}/{row.campaign_id}") or "")[:REASON_LIMIT]
        why = f"Its campaign {row.campaign_id!r} is not loaded: {fault}."
        return Moved.PARKED, Release(why, not_before=now + STALE_AFTER)
    credential = campaign.config.credential
    if ledger.history(row.job_id).unanswered:
        why = (
            f"A paid call of it is open under credential {row.credential!r}, which its campaign "
            f"does not name any more (now {credential!r}). It is collected first; keep the old "
            f"credential's file until then."
        )
        return Moved.PARKED, Release(why, not_before=now + STALE_AFTER)
    why = f"Its campaign's credential is now {credential!r}; it was {row.credential!r}."
    return Moved.REBOUND, Release(why, not_before=now, credential=credential)
