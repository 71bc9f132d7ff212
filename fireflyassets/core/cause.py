"""What can hold a job, each with its words and with who can lift it.

Belongs here: the causes. Does not: which of several counts (``why.py``).

    hold      OnHold, CampaignOnHold
    template  FilesUnusable
    incident  OutcomeUnknown, BreakerOpen, Interrupted, CanRunAgain
    limit     ServicePaused, DayQuotaUsed, SlowedByHand, PaceUsed
    share     InLine, WarmWave, NotItsTurn
    budget    BudgetFull
    review    NeedsMending, ReviewOpen, Rejected
    nothing   Beginning, InProduction, BeingCancelled, Ended
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Final

from fireflyassets.core.failure import Family
from fireflyassets.core.status import Status


class HeldBy(StrEnum):
    """What kind of thing holds a job."""

    LIMIT = "limit"
    SHARE = "share"
    BUDGET = "budget"
    HOLD = "hold"
    REVIEW = "review"
    TEMPLATE = "template"
    INCIDENT = "incident"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a job waits; *since* is when that began."""

    held_by: ClassVar[HeldBy] = HeldBy.NOTHING
    words: ClassVar[str] = ""
    """The sentence; names in braces are fields."""
    lifted_by: ClassVar[str] = "Nobody need do anything."
    since: datetime

    @property
    def sentence(self) -> str:
        """Say it. What others said before is quoted without its full stop."""
        said = {one.name: str(getattr(self, one.name)).rstrip(". ") for one in fields(self)}
        return self.words.format(**said)


@dataclass(frozen=True, slots=True)
class OnHold(Cause):
    """Somebody must look before anything more is spent on it."""

    held_by: ClassVar = HeldBy.HOLD
    words: ClassVar = "It is on hold: {reason}."
    lifted_by: ClassVar = "An operator, with POST /v1/jobs/{job_id}/resume or on the job's page."
    reason: str


@dataclass(frozen=True, slots=True)
class CampaignOnHold(Cause):
    """Its campaign is on hold."""

    held_by: ClassVar = HeldBy.HOLD
    words: ClassVar = "{reason}."
    lifted_by: ClassVar = "An operator, with POST /v1/campaigns/{campaign}/resume or on its page."
    reason: str


@dataclass(frozen=True, slots=True)
class OutcomeUnknown(Cause):
    """A paid call's answer was lost."""

    held_by: ClassVar = HeldBy.INCIDENT
    words: ClassVar = "{reason}."
    lifted_by: ClassVar = "An operator, with fireflyassets fence resolve."
    reason: str


@dataclass(frozen=True, slots=True)
class FilesUnusable(Cause):
    """Its campaign, or a template or font of it, can't be used."""

    held_by: ClassVar = HeldBy.TEMPLATE
    words: ClassVar = "Its campaign's files can't be used: {fault}."
    lifted_by: ClassVar = "Whoever looks after the campaign's files: mended ones count at once."
    fault: str


@dataclass(frozen=True, slots=True)
class BreakerOpen(Cause):
    """The service refused the whole organisation, or asked for a very long pause."""

    held_by: ClassVar = HeldBy.INCIDENT
    words: ClassVar = "Calls of {family} are stopped: the breaker is open."
    lifted_by: ClassVar = "It closes by itself once one call gets through; operators see to why."
    family: Family


@dataclass(frozen=True, slots=True)
class ServicePaused(Cause):
    """The service said when to come again."""

    held_by: ClassVar = HeldBy.LIMIT
    words: ClassVar = "Adobe asked for a pause of the calls of {family}."
    lifted_by: ClassVar = "It ends by itself; a higher limit from Adobe makes it rarer."
    family: Family


@dataclass(frozen=True, slots=True)
class DayQuotaUsed(Cause):
    """The contract's calls of this day are used up."""

    held_by: ClassVar = HeldBy.LIMIT
    words: ClassVar = "The day's {quota} calls of {family} are used up."
    lifted_by: ClassVar = "It ends at midnight (UTC); a higher limit from Adobe helps for good."
    family: Family
    quota: int


@dataclass(frozen=True, slots=True)
class SlowedByHand(Cause):
    """A low rate was set for a time."""

    held_by: ClassVar = HeldBy.LIMIT
    words: ClassVar = "The rate of {family} is set low for a time."
    lifted_by: ClassVar = "An operator, with fireflyassets limits clear; it ends by itself."
    family: Family


@dataclass(frozen=True, slots=True)
class PaceUsed(Cause):
    """The next free call is far ahead."""

    held_by: ClassVar = HeldBy.LIMIT
    words: ClassVar = "It waits for its time: {reason}."
    lifted_by: ClassVar = "It goes on by itself; a higher limit from Adobe makes it sooner."
    reason: str


@dataclass(frozen=True, slots=True)
class NotItsTurn(Cause):
    """Others have had less for their weight."""

    held_by: ClassVar = HeldBy.SHARE
    words: ClassVar = "It waits for its turn: {reason}."
    lifted_by: ClassVar = "It goes on by itself; a higher weight or limit makes it sooner."
    reason: str


@dataclass(frozen=True, slots=True)
class Interrupted(Cause):
    """It was given back: an outage, a crash, a run that ended, a fault that may pass."""

    held_by: ClassVar = HeldBy.INCIDENT
    words: ClassVar = "It was given back and waits for its time: {reason}."
    lifted_by: ClassVar = "It goes on by itself; operators see to the cause."
    reason: str


PARKED: Final[Mapping[HeldBy | None, type[PaceUsed | NotItsTurn]]] = {
    HeldBy.LIMIT: PaceUsed,
    HeldBy.SHARE: NotItsTurn,
}
"""What a parked job's reason is about -> its cause, where that is no incident."""


@dataclass(frozen=True, slots=True)
class InLine(Cause):
    """Others go first."""

    held_by: ClassVar = HeldBy.SHARE
    lifted_by: ClassVar = "Its turn comes by itself; a higher weight or limit makes it sooner."
    ahead: int
    beside: bool

    @property
    def sentence(self) -> str:
        """Say how many go before it."""
        if not self.ahead:
            return f"It is next{' of yours; others take turns' if self.beside else ''}."
        beside = "; others take turns" if self.beside else ""
        return f"{self.ahead} of your jobs {'goes' if self.ahead == 1 else 'go'} first{beside}."


@dataclass(frozen=True, slots=True)
class WarmWave(Cause):
    """Its run is ready and an earlier one of the same customer takes the calls."""

    held_by: ClassVar = HeldBy.SHARE
    words: ClassVar = "Its run is ready; an earlier one of yours has the turn."
    lifted_by: ClassVar = "Its turn comes by itself."


@dataclass(frozen=True, slots=True)
class BudgetFull(Cause):
    """It could be run again, and a budget has no room."""

    held_by: ClassVar = HeldBy.BUDGET
    words: ClassVar = "It can't be run again: {budget}."
    lifted_by: ClassVar = "An operator, with fireflyassets budget raise."
    budget: str


@dataclass(frozen=True, slots=True)
class CanRunAgain(Cause):
    """It ended by a fault that may pass."""

    held_by: ClassVar = HeldBy.INCIDENT
    words: ClassVar = "It ended by a fault that may pass: {reason}."
    lifted_by: ClassVar = "An operator, with fireflyassets dlq replay, once the cause is gone."
    reason: str


@dataclass(frozen=True, slots=True)
class NeedsMending(Cause):
    """Its request, or a person's word, has to change first."""

    held_by: ClassVar = HeldBy.REVIEW
    words: ClassVar = "It needs attention: {reason}."
    lifted_by: ClassVar = "Whoever sent it: mended, under a new key."
    reason: str


@dataclass(frozen=True, slots=True)
class ReviewOpen(Cause):
    """It is made, and nobody has approved it yet."""

    held_by: ClassVar = HeldBy.REVIEW
    words: ClassVar = "It is made, and its review is open."
    lifted_by: ClassVar = "A reviewer."


@dataclass(frozen=True, slots=True)
class Rejected(Cause):
    """It is made, and a reviewer turned it down."""

    held_by: ClassVar = HeldBy.REVIEW
    words: ClassVar = "It is made, and a reviewer has rejected it."
    lifted_by: ClassVar = "A reviewer; or send it anew, mended, under a new key."


@dataclass(frozen=True, slots=True)
class Beginning(Cause):
    """It is in a wave whose run begins."""

    words: ClassVar = "Its run begins."


@dataclass(frozen=True, slots=True)
class InProduction(Cause):
    """A run works on it."""

    words: ClassVar = "It is in production."


@dataclass(frozen=True, slots=True)
class BeingCancelled(Cause):
    """It ends as soon as its run hears of it."""

    words: ClassVar = "It is being cancelled; what is in flight at Adobe is called back."


@dataclass(frozen=True, slots=True)
class Ended(Cause):
    """Nothing more is made for it."""

    words: ClassVar = "It has ended: {status}."
    lifted_by: ClassVar = "Nobody: nothing more is made for it."
    status: Status
