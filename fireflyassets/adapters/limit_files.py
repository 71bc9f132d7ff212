"""The limits of organisations, as files: ``limits/*.yaml``, dated, each with its source.

Belongs here: the shape of such a file, the documented defaults, and which entry counts. Does not:
pacing by them (``fireflyassets.limiter``). A limit is the organisation's, never a credential's.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fireflyassets.core.failure import Family
from fireflyassets.limiter.limits import SECOND, Limits, Window

_log = logging.getLogger(__name__)

DEFAULT: Final = "default"
"""The organisation name of the file that speaks for all that have none."""

DOCUMENTED: Final[dict[Family, Limits]] = {
    Family.FIREFLY: Limits(
        per_minute=4,
        per_day=9_000,
        source="Adobe, Firefly API technical usage notes",
        as_of=date(2026, 5, 27),
    ),
    Family.PHOTOSHOP: Limits(
        per_minute=300,
        windows=(Window(15, 3 * SECOND),),
        source="Adobe, Photoshop API technical usage notes, soft limit for POST",
        as_of=date(2026, 6, 23),
    ),
}
"""What Adobe publishes for an organisation without an agreement."""

STALE: Final = timedelta(days=366)
"""Limits of longer ago are used, with a warning: contracts are renewed."""

_Calls = Annotated[int, Field(strict=True, ge=1)]


class _FileWindow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: _Calls
    seconds: Annotated[Decimal, Field(ge=Decimal("0.001"), le=86_400)]


class _FileLimits(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    as_of: date
    source: str = Field(min_length=1)
    per_minute: _Calls
    per_second: _Calls | None = None
    per_day: _Calls | None = None
    windows: tuple[_FileWindow, ...] = ()

    def limits(self) -> Limits:
        windows = (
            Window(window.calls, timedelta(seconds=float(window.seconds)))
            for window in self.windows
        )
        return Limits(
            per_minute=self.per_minute,
            source=self.source,
            as_of=self.as_of,
            per_second=self.per_second,
            per_day=self.per_day,
            windows=tuple(windows),
        )


class LimitFile(BaseModel):
    """One organisation's limits: a history for each API family; the newest in force counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    organisation: str = Field(min_length=1)
    families: dict[Literal[Family.FIREFLY, Family.PHOTOSHOP], tuple[_FileLimits, ...]] = Field(
        min_length=1
    )

    @model_validator(mode="after")
    def _one_a_day(self) -> Self:
        for family, entries in self.families.items():
            days = [entry.as_of for entry in entries]
            if not days or len(set(days)) < len(days):
                raise ValueError(f"families.{family}: give one entry or more, each its own as_of")
        return self

    def in_force(self, family: Family, today: date) -> Limits | None:
        """Return what the newest entry of *family* says that is not of the future."""
        entries = next((told for name, told in self.families.items() if name is family), ())
        for entry in entries:
            if entry.as_of > today:
                _log.warning(
                    "Organisation %s: the %s limits of %s (%s) are not in force yet.",
                    *(self.organisation, family.value, entry.as_of, entry.source),
                )
        known = [entry for entry in entries if entry.as_of <= today]
        newest = max(known, key=lambda entry: entry.as_of, default=None)
        if newest is not None and today - newest.as_of > STALE:
            _log.warning(
                "Organisation %s: the %s limits are of %s, over a year ago; check the contract.",
                *(self.organisation, family.value, newest.as_of),
            )
        return newest.limits() if newest else None


class LimitBook:
    """All limit files of a project."""

    def __init__(self, files: Iterable[LimitFile], *, today: Callable[[], date]) -> None:
        self._today = today
        self._files = {file.organisation: file for file in files}

    def limits_for(self, organisation: str, family: Family) -> Limits:
        """Return the limits of an organisation and family that are in force today.

        An organisation or family without an entry gets the default, with a warning: it is the
        lowest that Adobe publishes, so nobody is paced too fast for want of a file.

        Raises:
            ValueError: The family has no limits at all (only Firefly and Photoshop have).
        """
        if family not in DOCUMENTED:
            raise ValueError(f"{family} is not a paced family; use firefly or photoshop.")
        named = self._files.get(organisation)
        if named and (limits := named.in_force(family, self._today())):
            return limits
        default = self._files.get(DEFAULT)
        told = default.in_force(family, self._today()) if default else None
        limits = told or DOCUMENTED[family]
        _log.warning(
            "Organisation %s has no %s limits on file; paced by the default of %d a minute (%s).",
            organisation,
            family.value,
            limits.per_minute,
            limits.source,
        )
        return limits
