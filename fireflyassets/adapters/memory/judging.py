"""Reviews in the memory ledger. Here: decisions and their views. Not here: which decision fits."""

from collections.abc import Sequence
from datetime import datetime

from fireflyassets.adapters.ledger_rules import after_view, judged
from fireflyassets.adapters.memory.base import MemoryBase
from fireflyassets.adapters.outbox import asset_event
from fireflyassets.core.job import JobRow
from fireflyassets.core.review import Act, Judgement
from fireflyassets.core.status import HumanReview, Status
from fireflyassets.ports.entries import Place
from fireflyassets.ports.reviews import Judging, ReviewLedger, View


class MemoryJudging(MemoryBase, ReviewLedger):
    """The part of the ledger about reviews."""

    def judge(self, act: Act, judgings: Sequence[Judging]) -> list[JobRow | None]:
        """Write decisions and their act; None for each job that has moved."""
        with self._lock:
            done = [self._judge(one) for one in judgings]
            if any(done):
                self._reviews.acts.append(act)
            return done

    def _judge(self, one: Judging) -> JobRow | None:
        stands = self._rows.get(one.row.job_id)
        if stands is None or not _is_same(stands, one.row):
            return None
        row = judged(one)
        self._keep(row)
        self._reviews.judgements.append(one.judgement)
        self._reviews.unshown[row.job_id] = View.OBJECTS
        event = asset_event(one)
        self._events += [event] if event else []
        return row

    def unreviewed(
        self, customer: str, campaign: str, *, after: Place | None, most: int
    ) -> list[JobRow]:
        """Return up to *most* jobs that have succeeded and wait for a review, by creation."""
        bound = (after.created_at, after.job_id) if after else None
        found = [
            row
            for row in self.rows()
            if (row.customer_id, row.campaign_id) == (customer, campaign)
            and (row.status, row.human_reviewed) == (Status.SUCCEEDED, HumanReview.PENDING)
            and (bound is None or (row.created_at, row.job_id) > bound)
        ]
        return sorted(found, key=lambda row: (row.created_at, row.job_id))[:most]

    def judgements(self, job_id: str) -> list[Judgement]:
        """Return all decisions on a job, the first first."""
        with self._lock:
            return [one for one in self._reviews.judgements if one.job_id == job_id]

    def acts(self, customer: str, *, since: datetime) -> list[Act]:
        """Return what a customer's reviewers did since then, the first first."""
        with self._lock:
            acts = [*self._reviews.acts]
        mine = [one for one in acts if one.customer == customer and one.at >= since]
        return sorted(mine, key=lambda one: (one.at, one.act))

    def unshown(self, view: View, *, most: int) -> list[JobRow]:
        """Return up to *most* jobs whose last decision a view may not show, the oldest first."""
        with self._lock:
            due = [job_id for job_id, one in self._reviews.unshown.items() if one is view]
            rows = [self._rows[job_id] for job_id in due]
        return sorted(rows, key=lambda row: (row.updated_at, row.job_id))[:most]

    def shown(self, row: JobRow, view: View) -> bool:
        """Note that a view shows the row's decision; False if there was another since."""
        with self._lock:
            due = self._reviews.unshown
            if due.get(row.job_id) is not view or not _is_same(self._rows[row.job_id], row):
                return False
            del due[row.job_id]
            if following := after_view(view):
                due[row.job_id] = following
            return True


def _is_same(stands: JobRow, row: JobRow) -> bool:
    return stands.status is Status.SUCCEEDED and stands.epoch == row.epoch
