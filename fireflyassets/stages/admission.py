"""Admission: new jobs are taken as long as they are likely made in time.

In: drafts of one campaign, the look ahead. Out: which of them are too many just now, and when to
send them again. Spends: nothing.

What is in time: before the campaign's deadline, and within so many hours of work as may wait. The
look ahead is kept, so that a request costs no scan; what it says may be half a minute old.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from fireflyassets.core.campaign import Campaign
from fireflyassets.core.finish import added, fits, project
from fireflyassets.core.request import Problem
from fireflyassets.stages.drafting import Draft
from fireflyassets.stages.outlook import Outlook, calls_of

SOONEST: Final = timedelta(minutes=1)
LATEST: Final = timedelta(hours=12)
"""Bounds of when to come again: as long as a queue can hide a message."""
DEADLINE: Final = "deadline"
BACKLOG: Final = "backlog"


@dataclass(frozen=True, slots=True)
class Overload:
    """Why a request's jobs are too many, and when there is likely room."""

    rule: str
    sentence: str
    fix: str
    after: timedelta | None
    """None: coming again changes nothing."""


@dataclass(frozen=True, slots=True)
class Overloaded:
    """The request is fine, and would not be made in time; nothing of it was written."""

    job_id: str
    over: Overload

    def problem(self, row: int | None = None) -> Problem:
        """Return it as a problem of the request."""
        return Problem("", self.over.rule, self.over.sentence, self.over.fix, row)


@dataclass(frozen=True, slots=True)
class Admission:
    """The use case: one process's look ahead, and how much work may wait."""

    outlook: Outlook
    most: timedelta

    def turned_away(
        self, drafts: Sequence[Draft], campaign: Campaign, *, partial: bool
    ) -> dict[str, Overloaded]:
        """Return which drafts would not be made in time, by job id; all, unless *partial*.

        Raises:
            UnusableConfiguration: The campaign's credential can't be used.
        """
        if not drafts:
            return {}
        by, rule = self._bound(campaign)
        if by <= self.outlook.clock.now():
            return _told(drafts, _passed(campaign, by))
        traffic = self.outlook.traffic(campaign)
        requests = ((one.request.locale, len(one.request.aspects)) for one in drafts)
        calls = calls_of(campaign, requests)
        done_at = project(added(calls), traffic).p50
        if done_at <= by:
            return {}
        room = fits(len(drafts), calls, traffic, by=by)
        over = _overload(rule, by=by, done_at=done_at, room=room, of=len(drafts))
        return _told(drafts[room:] if partial else drafts, over)

    def _bound(self, campaign: Campaign) -> tuple[datetime, str]:
        """Return by when new jobs have to be done, and which rule says so."""
        backlog = self.outlook.clock.now() + self.most
        deadline = campaign.config.deadline
        if deadline is not None and deadline < backlog:
            return deadline, DEADLINE
        return backlog, BACKLOG


def _told(drafts: Sequence[Draft], over: Overload) -> dict[str, Overloaded]:
    return {one.job_id: Overloaded(one.job_id, over) for one in drafts}


def _passed(campaign: Campaign, deadline: datetime) -> Overload:
    sentence = f"The deadline of {campaign.config.campaign} was {_minute(deadline)}; it has passed."
    fix = "Ask whoever looks after the campaign for a later one."
    return Overload(DEADLINE, sentence, fix, None)


def _overload(rule: str, *, by: datetime, done_at: datetime, room: int, of: int) -> Overload:
    what = "the campaign's deadline" if rule == DEADLINE else "all the work that may wait"
    sentence = (
        f"{'It' if of == 1 else 'They'} would likely be done by {_minute(done_at)}, and {what} "
        f"ends {_minute(by)}."
    )
    fix = "Send it again once Retry-After is over."
    if 0 < room < of:
        fix = f"Send the first {room} now, and the others once Retry-After is over."
    return Overload(rule, sentence, fix, min(LATEST, max(SOONEST, done_at - by)))


def _minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
