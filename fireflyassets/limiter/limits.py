"""What a contract or a vendor page allows, as windows that set a pace.

Here: the limits of one item and their checks. Not here: the pace that follows (`arithmetic`), the
files that limits come from.
"""

from dataclasses import dataclass
from datetime import date, timedelta

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def _is_count(calls: object) -> bool:
    """Say whether *calls* is a whole number above zero: the law is made of whole numbers."""
    return isinstance(calls, int) and not isinstance(calls, bool) and calls >= 1


@dataclass(frozen=True, slots=True)
class Window:
    """At most *calls* calls in any *span*."""

    calls: int
    span: timedelta

    def __post_init__(self) -> None:
        if not _is_count(self.calls) or self.span <= timedelta(0):
            raise ValueError(f"A limit window allows at least one call in some time, not {self}.")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a contract or a vendor page allows; *source* and *as_of* say who said so and when.

    *per_day* counts calendar days in UTC. Other windows (16 in 3 s) stand in *windows*.
    """

    per_minute: int
    source: str
    as_of: date
    per_second: int | None = None
    per_day: int | None = None
    windows: tuple[Window, ...] = ()

    def __post_init__(self) -> None:
        if self.per_day is not None and not _is_count(self.per_day):
            raise ValueError(f"A day limit allows at least one call, not {self.per_day}.")
        self.paced_windows()

    def paced_windows(self) -> tuple[Window, ...]:
        """Return every window that sets the pace; the day is counted, not paced."""
        named = [Window(self.per_minute, MINUTE)]
        if self.per_second is not None:
            named.append(Window(self.per_second, SECOND))
        return (*named, *self.windows)
