"""Which windows a call has to pass: shared by all clients of an organisation.

Belongs here: the windows of each organisation and family, as Adobe documents them, and which
calls count. Does not belong here: the arithmetic of a window (`limits.py`), the words of a 429.
"""

from datetime import datetime, timedelta

from fireflyassets.twin.endpoints import (
    CANCEL,
    PHOTOSHOP_STATUS,
    REMOVE_BACKGROUND,
    STATUS,
    Endpoint,
    Family,
)
from fireflyassets.twin.limits import DAY, MINUTE, CalendarDay, Lane, SlidingWindow, Window
from fireflyassets.twin.settings import LimitSetting, Settings

_THREE_SECONDS = timedelta(seconds=3)


class Limiter:
    """All windows of all organisations."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._windows: dict[tuple[str, str], list[Window]] = {}

    def admit(
        self, organisation: str, endpoint: Endpoint, now: datetime, *, factor: float = 1.0
    ) -> timedelta:
        """Count the call and return zero, or return how long its caller has to wait."""
        return self._lane(organisation, endpoint).admit(now, factor=factor)

    def count(self, organisation: str, endpoint: Endpoint, at: datetime) -> None:
        """Count a call read back from the journal."""
        self._lane(organisation, endpoint).count(at)

    def _lane(self, organisation: str, endpoint: Endpoint) -> Lane:
        windows = [
            window
            for group in self._groups(endpoint)
            for window in self._windows_of(organisation, group)
        ]
        return Lane(windows, count_rejected=self._settings.count_rejected)

    def _groups(self, endpoint: Endpoint) -> list[str]:
        if endpoint.paid:
            groups = [endpoint.family.value]
            if endpoint.family is Family.PHOTOSHOP:
                groups.append("photoshop_burst")
            if endpoint is REMOVE_BACKGROUND:
                groups.append("remove_background")
            return groups
        if endpoint is PHOTOSHOP_STATUS:
            polled = ["photoshop"] if self._settings.count_polls else []
            return ["photoshop_gets", *polled]
        if endpoint in (STATUS, CANCEL) and self._settings.count_polls:
            return ["firefly"]
        return []

    def _windows_of(self, organisation: str, group: str) -> list[Window]:
        key = (organisation, group)
        if key not in self._windows:
            self._windows[key] = self._made(group, self._settings.limits_of(organisation))
        return self._windows[key]

    def _made(self, group: str, limits: LimitSetting) -> list[Window]:
        if group == "firefly":
            day = (
                CalendarDay(limits.firefly_per_day)
                if self._settings.day_window == "utc"
                else SlidingWindow(limits.firefly_per_day, DAY)
            )
            return [SlidingWindow(limits.firefly_per_minute, MINUTE), day]
        if group == "photoshop":
            return [SlidingWindow(limits.photoshop_per_minute, MINUTE)]
        return [SlidingWindow(_per_three_seconds(group, limits), _THREE_SECONDS)]


def _per_three_seconds(group: str, limits: LimitSetting) -> int:
    return {
        "photoshop_burst": limits.photoshop_per_3_seconds,
        "photoshop_gets": limits.photoshop_gets_per_3_seconds,
        "remove_background": limits.remove_background_per_3_seconds,
    }[group]
