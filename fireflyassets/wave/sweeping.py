"""The collecting sweep: what was paid for and lost its owner is polled, kept and booked.

Belongs here: open sends of jobs that no wave works on. Does not: sending anything; sends whose
outcome only a person can tell. No ticket, wave or breaker stands in the way: a result's URL lives
one hour and its record about a day, and both are paid for.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core import errors
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import ENDED, Status
from fireflyassets.fence.resolving import look_again
from fireflyassets.ports.entries import Attempt
from fireflyassets.ports.workshop import PaidServices
from fireflyassets.stages.bench import Receiver
from fireflyassets.wave.assembly import Shop
from fireflyassets.wave.stray import Found, Stray, can_be_asked, of_step

_log: Final = logging.getLogger("fireflyassets.sweep")
YOUNG: Final = timedelta(minutes=2)
"""Sends up to this age mostly have an owner that is about to hear from them."""
AT_ONCE: Final = 16
LONGEST: Final = timedelta(seconds=40)
"""Of one credential's sends in a slice; credentials are looked after side by side."""
_Sends = list[tuple[JobRow, Attempt]]
_Receivers = dict[tuple[str, str], Receiver]
"""Slug and version of a campaign -> what its results are received with."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What one slice of the sweep looked at and found."""

    found: Counter[Found]
    after: datetime | None
    """Where the next slice begins; None: at the oldest send again."""
    behind: str | None = None
    """The same for the unsettled rows, by job id."""
    troubles: tuple[str, ...] = ()
    """Of credentials whose sends could not be looked after."""

    def sentence(self) -> str:
        """Return the slice in one line."""
        parts = [f"{count} {found}" for found, count in sorted(self.found.items())]
        counts = f"{', '.join(parts) or 'no'} open sends without an owner."
        return " ".join([counts, *self.troubles])


@dataclass(slots=True)
class Sweep:
    """Looks after one slice of open sends. Used by one event loop, once."""

    shop: Shop
    _found: Counter[Found] = field(default_factory=Counter[Found])
    _troubles: list[str] = field(default_factory=list[str])

    async def run(self, *, after: datetime | None, most: int, behind: str | None = None) -> Slice:
        """Collect up to *most* open sends, the oldest first, beginning behind *after*.

        Then let as many unsettled rows, beginning behind *behind*, follow what is known by now.
        """
        shop, now = self.shop, self.shop.clock.now()
        attempts = await shop.lanes.ledger(
            shop.ledger.open_attempts, before=now - YOUNG, after=after, most=most
        )
        askable = [one for one in attempts if can_be_asked(one, now=now)]
        self._found[Found.UNKNOWN] += len(attempts) - len(askable)
        unowned = await self._unowned(askable)
        # Before anything is asked, so that whoever dies then leaves them among the unsettled.
        await self._look_again(row.job_id for row, _ in unowned if row.status in ENDED)
        await asyncio.gather(*(self._group(sends) for sends in self._by_credential(unowned)))
        rows = await shop.lanes.ledger(shop.ledger.unsettled, after=behind, most=most)
        await self._look_again(row.job_id for row in [*rows, *(row for row, _ in unowned)])
        full, more = len(attempts) == most, len(rows) == most
        return Slice(
            found=+self._found,
            after=attempts[-1].submitted_at if full else None,
            behind=rows[-1].job_id if more else None,
            troubles=tuple(sorted(self._troubles)),
        )

    async def _look_again(self, jobs: Iterable[str]) -> None:
        """Let rows follow their sends: the boundary around each."""
        shop = self.shop

        async def one(job_id: str) -> None:
            try:
                await shop.lanes.ledger(look_again, shop.ledger, job_id, now=shop.clock.now())
            except errors.FactoryError as trouble:
                _log.warning("job %s is looked at again later: %s", job_id, trouble)

        await asyncio.gather(*(one(job_id) for job_id in dict.fromkeys(jobs)))

    async def _unowned(self, attempts: Sequence[Attempt]) -> _Sends:
        rows: dict[str, JobRow | None] = {}
        for job_id in dict.fromkeys(one.job_id for one in attempts):
            rows[job_id] = await self.shop.lanes.ledger(self.shop.ledger.job, job_id)
        found = [(rows[one.job_id], one) for one in attempts]
        return [(row, one) for row, one in found if row and row.status is not Status.RUNNING]

    def _by_credential(self, found: _Sends) -> list[_Sends]:
        groups: dict[tuple[str, str], _Sends] = {}
        for row, attempt in found:
            groups.setdefault((row.credential, row.customer_id), []).append((row, attempt))
        return list(groups.values())

    async def _group(self, sends: _Sends) -> None:
        """Look after one credential's sends: the boundary around whatever is wrong with it."""
        first, seen = sends[0][0], list[JobRow]()
        try:
            await self._look(sends, seen)
        except errors.FactoryError as trouble:
            self._stuck(first, len(sends) - len(seen), str(trouble))
        except Exception as bug:  # noqa: BLE001 - one credential's bug must not stop the others.
            _log.exception("open sends of %s under %s", first.customer_id, first.credential)
            self._stuck(first, len(sends) - len(seen), f"{type(bug).__name__}; see the log")

    def _stuck(self, first: JobRow, count: int, why: str) -> None:
        self._found[Found.STUCK] += count
        said = f"Sends of {first.customer_id} under {first.credential} are stuck: {why}"
        _log.error(said)
        self._troubles.append(f"{said.removesuffix('.')}.")

    async def _look(self, sends: _Sends, seen: list[JobRow]) -> None:
        shop, first = self.shop, sends[0][0]
        credential = shop.catalogue.credential(first.credential, customer=first.customer_id)
        gate, receivers = asyncio.Semaphore(AT_ONCE), _Receivers()

        async def one(services: PaidServices, row: JobRow, attempt: Attempt) -> None:
            async with gate:
                self._found[await self._one(services, receivers, row, attempt)] += 1
                seen.append(row)

        # In any order: where the time is too short, it is not the same ones that are left.
        shuffled = sorted(sends, key=lambda _: shop.chance())
        try:
            async with (
                asyncio.timeout(LONGEST.total_seconds()),
                shop.adobe.open(credential) as services,
            ):
                await asyncio.gather(*(one(services, *send) for send in shuffled))
        except TimeoutError:
            _log.warning("sends under %s: not done after %s", first.credential, LONGEST)
            self._found[Found.UNREACHED] += len(sends) - len(seen)

    async def _one(
        self, services: PaidServices, receivers: _Receivers, row: JobRow, attempt: Attempt
    ) -> Found:
        """Look after one send: the boundary around whatever is wrong with it."""
        try:
            transfer = self.shop.lanes.transfers
            campaign = await transfer(self.shop.pins.campaign, row)
            card = await transfer(self.shop.pins.card, row)
            # One for all sends of a version: it keeps what it has read of the templates.
            version = (campaign.slug, campaign.version)
            if version not in receivers:
                receivers[version] = self._receiver(services, campaign)
            step = of_step(receivers[version], row, attempt, card)
            if step is None:
                return Found.STUCK
            return await Stray(receivers[version], self.shop.limiter, row, attempt, step).look()
        except errors.FactoryError as trouble:
            _log.warning("send %s of job %s: %s", attempt.step, row.job_id, trouble)
        except Exception:  # noqa: BLE001 - one send's bug must not leave the others uncollected.
            _log.exception("send %s of job %s could not be looked after", attempt.step, row.job_id)
        return Found.STUCK

    def _receiver(self, services: PaidServices, campaign: Campaign) -> Receiver:
        shop = self.shop
        return Receiver(
            ledger=shop.ledger,
            objects=shop.objects,
            images=services.images,
            documents=services.documents,
            cutter=services.cutter,
            pictures=shop.pictures,
            clock=shop.clock,
            offload=shop.lanes.ledger,
            transfer=shop.lanes.transfers,
            campaign=campaign,
            chance=shop.chance,
        )


def sweep(shop: Shop, *, after: datetime | None, behind: str | None, most: int) -> Slice:
    """Run one slice in a loop of its own."""
    return asyncio.run(Sweep(shop).run(after=after, most=most, behind=behind))
