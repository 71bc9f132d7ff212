"""Waves as a part of the ledger's port: their own items, from forming to ended.

Belongs here: which state a wave's write may come from; who may move a campaign's partition keys.
Does not: the jobs in a wave (``ports/ledger.py``).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime

from fireflyassets.ports.entries import Wave


class WaveLedger(ABC):
    """The waves' part of the truth."""

    @abstractmethod
    def lease_keys(
        self, customer: str, campaign: str, owner: str, *, until: datetime, now: datetime
    ) -> bool:
        """Take the right to move a campaign's partition keys; False while another's lasts."""

    @abstractmethod
    def free_keys(self, customer: str, campaign: str, owner: str) -> None:
        """Give that right back; another's stays."""

    @abstractmethod
    def form(self, wave: Wave) -> None:
        """Write a new wave, ``forming``, with its candidates.

        Raises:
            OwnershipLost: The id is another wave's.
        """

    @abstractmethod
    def formed(self, wave_id: str, jobs: Sequence[str]) -> None:
        """Write the winners' list: not yet running -> formed. An empty list ends the wave.

        Raises:
            OwnershipLost: The wave runs, has ended, or was never written.
        """

    @abstractmethod
    def launched(self, wave_id: str) -> int:
        """Count a launch and return its number; formed or launched -> launched.

        Raises:
            OwnershipLost: The wave runs, has ended, or was never formed.
        """

    @abstractmethod
    def wave(self, wave_id: str) -> Wave | None:
        """Return a wave, read consistently."""

    @abstractmethod
    def open_waves(self) -> list[Wave]:
        """Return the waves that have not ended: proposals, read from an index."""

    @abstractmethod
    def start(self, wave_id: str, run_id: str, *, lease_until: datetime) -> Wave | None:
        """Bind the wave to a run, once: None if it has ended, or was started, by that run too."""

    @abstractmethod
    def heartbeat(self, wave_id: str, run_id: str, *, lease_until: datetime) -> bool:
        """Extend the lease; False if the wave is not this run's any more."""

    @abstractmethod
    def draining(self, wave_id: str) -> None:
        """Note that the wave needs no more first tickets."""

    @abstractmethod
    def end(self, wave_id: str) -> None:
        """Close the wave; one that has ended stays so."""
