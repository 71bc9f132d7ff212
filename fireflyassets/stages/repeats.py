"""Repeats: which requests were sent before, word for word, told without any rule of today.

In: rows as they came, and what the ledger holds under their keys. Out: the jobs they are.
Spends: nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fireflyassets.core import ids
from fireflyassets.core.brief import Row
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.errors import UnknownCampaign
from fireflyassets.core.job import JobRequest, JobRow
from fireflyassets.core.request import as_sent, ordered
from fireflyassets.ports.entries import Duplicate
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.pinning import pinned


@dataclass(frozen=True, slots=True)
class Repeats:
    """What one call may repeat."""

    objects: ObjectStore
    known: Mapping[str, JobRow]
    """By job id."""
    customer: str
    campaign: str
    _pinned: dict[str, Campaign | None] = field(default_factory=dict[str, Campaign | None])

    def of(self, row: Row) -> Duplicate | None:
        """Return the job that a row asked for before; None where it says anything else."""
        raw = row.raw
        if raw is None or row.problems or not ids.KEY.fullmatch(raw.key):
            return None
        owner = self.known.get(ids.job_id(self.customer, raw.key))
        request = as_sent(raw, customer=self.customer, campaign=self.campaign)
        if owner is None or (raw.reference and request.reference is None):
            return None
        return Duplicate(owner) if self._is_same(request, owner) else None

    def _is_same(self, request: JobRequest, owner: JobRow) -> bool:
        if request.is_of(owner.body_hash):
            return True
        if owner.campaign_id != self.campaign:
            return False
        # Rows of before were hashed with the aspects in the order of their campaign's version.
        then = self._version(owner)
        if then is None or len(set(request.aspects)) < len(request.aspects):
            return False
        aspects = ordered(request.aspects, then.config)
        is_whole = len(aspects) == len(request.aspects)
        return is_whole and replace(request, aspects=aspects).is_of(owner.body_hash)

    def _version(self, row: JobRow) -> Campaign | None:
        version = row.campaign_version
        if version not in self._pinned:
            try:
                campaign = pinned(self.objects, self.customer, self.campaign, version)
            except UnknownCampaign:
                campaign = None
            self._pinned[version] = campaign
        return self._pinned[version]
