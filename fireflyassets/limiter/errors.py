"""The limiter's errors: what a caller can't branch on and go on from.

Here: the tree. Not here: refusals to hand out a ticket, which are answers (`port.Parked`).

    LimiterError
    ├── UnknownItem           nobody registered the item
    ├── OverrideRefused       an operator asked for a rate that no contract allows, or for nothing
    ├── ReservationContended  every write lost its condition
    └── LimiterUnavailable    the store does not answer: nothing may be sent
        ├── ClockUnsure       the store answers, but its time is not known well enough
        ├── ItemBroken        the store answers with something that is no item
        └── TableMissing      the store answers, and has no such table
"""

from datetime import timedelta
from typing import ClassVar


class LimiterError(Exception):
    """The limiter cannot answer. Every leaf has a remedy."""

    remedy: ClassVar[str] = ""


class UnknownItem(LimiterError):
    """Nobody registered the item, in this process or in the store."""

    remedy = "Register the item with its limits before the first reservation."

    def __init__(self, item: str) -> None:
        super().__init__(f"Item {item} is not registered. {self.remedy}")
        self.item = item


class OverrideRefused(LimiterError):
    """An operator's rate that can't be set; nothing was changed."""

    remedy = "Ask for a rate above zero and up to the contract's, for at most a week, and say why."

    def __init__(self, item: str, why: str) -> None:
        super().__init__(f"Item {item}: {why}. {self.remedy}")
        self.item = item


class OverrideStands(LimiterError):
    """Somebody else's override is in force; nothing was changed."""

    remedy = "Ask them, or replace it: `fireflyassets limits override ... --replace`."

    def __init__(self, item: str, told: str) -> None:
        super().__init__(f"Item {item}: an override is in force: {told}. {self.remedy}")
        self.item = item


class ReservationContended(LimiterError):
    """Every write of a reservation or a pause lost its condition."""

    remedy = "Look for a writer of the item that does not follow the protocol."

    def __init__(self, item: str, *, tries: int) -> None:
        super().__init__(f"Item {item}: {tries} conditional writes lost in a row. {self.remedy}")
        self.item = item


class LimiterUnavailable(LimiterError):
    """The store does not answer, so nobody knows what may be sent: nothing may."""

    remedy = "Look at the store; calls go on by themselves as soon as it answers."

    def __init__(self, item: str, why: str) -> None:
        super().__init__(f"Item {item}: the limiter's store does not answer ({why}). {self.remedy}")


class ItemBroken(LimiterUnavailable):
    """What is stored under the item's key is none of the limiter's; only a person can mend it."""

    remedy = (
        "Look at who else writes it, then delete it: it is made anew, and the day counts from zero."
    )

    def __init__(self, item: str, field: str) -> None:
        LimiterError.__init__(
            self, f"Item {item}: what is stored is no item of the limiter ({field}). {self.remedy}"
        )


class TableMissing(LimiterUnavailable):
    """The table of tickets is not there; waiting mends nothing."""

    remedy = "Create the table, or correct its name or region; calls go on once it is there."

    def __init__(self, item: str, table: str) -> None:
        LimiterError.__init__(self, f"Item {item}: there is no table {table}. {self.remedy}")


class ClockUnsure(LimiterUnavailable):
    """The store's time is known less exactly than tickets need."""

    remedy = (
        "Look at the way to the store; or allow a wider bound, for as long as the clocks of all "
        "hosts and the lateness of calls stay within 250 ms together."
    )

    def __init__(self, *, bound: timedelta | None, allowed: timedelta) -> None:
        known = "not known: its answers carry no Date" if bound is None else f"sure to {_ms(bound)}"
        LimiterError.__init__(
            self, f"The store's time is {known}; {_ms(allowed)} are needed. {self.remedy}"
        )
        self.bound = bound


def _ms(duration: timedelta) -> str:
    return f"{duration / timedelta(milliseconds=1):.0f} ms"
