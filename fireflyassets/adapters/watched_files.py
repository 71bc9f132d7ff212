"""A project folder that is read again by itself once its files have changed.

Belongs here: when to look and when to read. Does not: reading (``files.py``). A look costs one
``stat`` for each file and is taken at most every few seconds, by whoever asks for something then.
A change is taken once nothing has touched it for as long, or two looks have seen the same: a file
that is still being copied is not read, nor is a folder that is being exchanged. So whoever asks
first after a quiet time is answered by the files as they are, not as they were then.
What is pinned already does not change by it.
"""

import logging
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Final

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.core.budget import Cap
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.failure import Family
from fireflyassets.core.money import RateCard
from fireflyassets.limiter.limits import Limits
from fireflyassets.ports.catalogue import Catalogue, Credential, Quarantined
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.guardrail import Guardrail, Verdict

LOOK_EVERY: Final = timedelta(seconds=5)
_FOLDERS: Final = ("budgets", "credentials", "guardrails", "limits", "rates")

_log: Final = logging.getLogger("fireflyassets.catalogue")

_Seen = Mapping[Path, tuple[int, int, int]]
"""File -> inode, size, time of its last change in nanoseconds."""


class WatchedCatalogue(Catalogue, Guardrail):
    """Everything configured under one project folder, as it was at most some seconds ago."""

    def __init__(self, project: Path, clock: Clock, *, v4: bool = False) -> None:
        """Read the folder; *v4*: version 4 of generate may be called."""
        self._project = project
        self._v4 = v4
        self._clock = clock
        self._lock = Lock()
        self._read = FileCatalogue(project, clock, v4=v4)
        self._taken = self._seen = self._look()
        self._looked_at: datetime = clock.now()

    def campaigns(self) -> Mapping[str, Campaign]:
        """Return the usable campaigns by slug (``customer/campaign``)."""
        return self.now().campaigns()

    def campaign(self, customer: str, campaign: str) -> Campaign:
        """Return one campaign.

        Raises:
            UnknownCampaign: There is none of that name.
            CampaignOutOfService: There is, and its files can't be used now.
        """
        return self.now().campaign(customer, campaign)

    def quarantined(self) -> tuple[Quarantined, ...]:
        """Return the files that can't be used."""
        return self.now().quarantined()

    def template(self, campaign: Campaign, name: str) -> bytes:
        """Return an aspect's template, or a file of actions by its path, if it is as pinned.

        Raises:
            TemplateChanged: The file has changed since it was checked.
            UnusableTemplate: There is none.
        """
        return self.now().template(campaign, name)

    def credential(self, name: str, *, customer: str) -> Credential:
        """Return a credential that may carry *customer*'s jobs.

        Raises:
            UnusableConfiguration: There is none, or it is not allowed for this customer.
        """
        return self.now().credential(name, customer=customer)

    def caps(self, customer: str, day: date) -> tuple[Cap, ...]:
        """Return every cap that is set for a customer and in force on *day*.

        Raises:
            BudgetsUnreadable: The customer's file can't be used.
        """
        return self.now().caps(customer, day)

    def rate_cards(self) -> tuple[RateCard, ...]:
        """Return all rate cards."""
        return self.now().rate_cards()

    def limits_for(self, organisation: str, family: Family) -> Limits:
        """Return the limits to pace an organisation's calls of *family* by."""
        return self.now().limits_for(organisation, family)

    def judge(self, text: str, *, customer: str, campaign: str, locale: str) -> Verdict:
        """Return whether and how *text* may be used, by the lists as they are.

        Raises:
            UnusableConfiguration: A list can't be used.
        """
        return (
            self.now().guardrail().judge(text, customer=customer, campaign=campaign, locale=locale)
        )

    # -- looking --------------------------------------------------------------------------------
    def now(self) -> FileCatalogue:
        """Return the files as they were at the last look."""
        if self._is_due():
            # Whoever comes meanwhile waits: an answer by what was read long ago could be wrong.
            with self._lock:
                if self._is_due():
                    try:
                        self._refresh()
                    finally:
                        self._looked_at = self._clock.now()
        return self._read

    def _is_due(self) -> bool:
        return self._clock.now() - self._looked_at >= LOOK_EVERY

    def _refresh(self) -> None:
        before, self._seen = self._seen, self._look()
        if self._seen == self._taken or not (self._seen == before or self._is_settled()):
            return
        if not (self._project / "campaigns").is_dir():
            return  # The folder is being exchanged: nobody takes all campaigns away.
        changed = {path for path, _ in self._seen.items() ^ self._taken.items()}
        self._read = FileCatalogue(self._project, self._clock, v4=self._v4, earlier=self._read)
        self._taken = self._seen
        names = ", ".join(sorted({path.name for path in changed})[:10])
        _log.info("Read the project's files anew; changed: %s.", names)
        for bad in self._read.quarantined():
            _log.warning("Quarantined %s: %s", bad.path, bad.reason)

    def _is_settled(self) -> bool:
        """Say whether nothing that differs from what was read was touched of late."""
        since = self._clock.now() - LOOK_EVERY
        changed = {path for path, _ in self._seen.items() ^ self._taken.items()}
        return all(_touched_at(path) <= since.timestamp() for path in changed)

    def _look(self) -> _Seen:
        seen: dict[Path, tuple[int, int, int]] = {}
        for path in {*self._files(), *self._read.files()}:
            try:
                fact = path.stat()
            except OSError:
                continue  # Gone: its absence is the change.
            seen[path] = (fact.st_ino, fact.st_size, fact.st_mtime_ns)
        return seen

    def _files(self) -> Iterator[Path]:
        """Yield what is read, and the folders in which more could appear."""
        for folder in _FOLDERS:
            yield from (self._project / folder).glob("*.y*ml")
        for home in (self._project / "campaigns").glob("*/*"):
            yield from (path for path in home.glob("*") if path.is_file())


def _touched_at(path: Path) -> float:
    """Return when a file was last touched, in seconds since 1970; of one that is gone, its folder.

    A copy may keep the time of its original; when the file itself came here can't be set back.
    """
    try:
        fact = (path if path.exists() else path.parent).stat()
    except OSError:
        return float("inf")
    return max(fact.st_mtime, fact.st_ctime)
