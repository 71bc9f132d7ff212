"""Briefs in mid-writing as a part of the ledger's port: what was begun is finished by somebody.

Belongs here: the word that a brief is being written, before its first row. Does not: its requests,
which lie in its manifest; who finishes it (``stages/finishing.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime
from typing import Final

ROWS_AT_ONCE: Final = 49
"""Rows that `record` writes all or none, whatever dies; more need the word."""


@dataclass(frozen=True, slots=True)
class BegunBrief:
    """A brief whose rows are being written: all that it takes to write them anew."""

    word: str
    """Its writer's own: two writers of the same brief share its manifest, not their words."""
    customer: str
    campaign: str
    version: str
    """Of the campaign, pinned before."""
    rate_card: str
    manifest: str
    """Key of the object that holds its requests, stored before; no other brief's."""
    made_at: datetime
    partial: bool
    """Whether its first rows are taken where a budget has no room for all."""


class BriefLedger(ABC):
    """The briefs' part of the truth."""

    @abstractmethod
    def begin_brief(self, brief: BegunBrief) -> None:
        """Note that a brief is being written; the same again stays one."""

    @abstractmethod
    def end_brief(self, brief: BegunBrief) -> None:
        """Take the word back: every row is there, or none will be; none is fine."""

    @abstractmethod
    def begun_briefs(self, *, before: datetime, most: int) -> list[BegunBrief]:
        """Return up to *most* briefs begun before then and not ended, the oldest first."""
