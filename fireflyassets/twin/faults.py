"""Faults in force: which calls each befalls.

Belongs here: matching, the count of matches, and the seeded dice. Does not belong here: the
language faults are written in (`fault_language.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from fireflyassets.twin.endpoints import Endpoint
from fireflyassets.twin.fault_language import Effect, FaultRequest, Trigger


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a trigger may look at."""

    endpoint: Endpoint
    organisation: str | None
    client: str | None
    prompt: str | None


@dataclass
class Fault:
    """A fault in force, with its counts."""

    id: str
    asked: FaultRequest
    set_at: datetime
    dice: Random
    matched: int = 0
    fired: int = 0

    def befalls(self, call: Call, now: datetime) -> bool:
        """Return whether the fault strikes *call*, and count it."""
        when = self.asked.when
        if self._is_over(now) or not _matches(when, call):
            return False
        self.matched += 1
        if not self._is_due(when):
            return False
        self.fired += 1
        return True

    def _is_over(self, now: datetime) -> bool:
        when = self.asked.when
        if when.times is not None and self.fired >= when.times:
            return True
        if when.for_seconds is None:
            return False
        return now >= self.set_at + timedelta(seconds=when.for_seconds)

    def _is_due(self, when: Trigger) -> bool:
        nth = [when.nth] if isinstance(when.nth, int) else when.nth
        if nth is not None and self.matched not in nth:
            return False
        if when.every is not None and self.matched % when.every != 0:
            return False
        return when.probability is None or self.dice.random() < when.probability

    def as_json(self) -> dict[str, object]:
        """Return the fault as `GET /_twin/faults` shows it."""
        return {
            "id": self.id,
            "set_at": self.set_at.isoformat(),
            "matched": self.matched,
            "fired": self.fired,
            **self.asked.model_dump(mode="json"),
        }


def _matches(when: Trigger, call: Call) -> bool:
    endpoint = call.endpoint
    names = (endpoint.name, endpoint.path, endpoint.family.value)
    if when.endpoint not in names and not (when.endpoint == "*" and endpoint.paid):
        return False
    if when.organisation not in (None, call.organisation):
        return False
    if when.client not in (None, call.client):
        return False
    return when.prompt_contains is None or when.prompt_contains in (call.prompt or "")


@dataclass
class Faults:
    """All faults in force, in the order they were set."""

    seed: int
    _faults: list[Fault] = field(default_factory=list[Fault])
    _set: int = 0

    def add(self, asked: FaultRequest, now: datetime) -> Fault:
        """Put one fault in force."""
        self._set += 1
        fault = Fault(
            id=f"fault-{self._set}",
            asked=asked,
            set_at=now,
            dice=Random(f"{self.seed}:fault:{self._set}"),
        )
        self._faults.append(fault)
        return fault

    def strike(self, call: Call, now: datetime) -> list[Effect]:
        """Return the effects that befall *call*, in the order the faults were set."""
        return [fault.asked.then for fault in self._faults if fault.befalls(call, now)]

    def listed(self) -> Sequence[Fault]:
        """Return the faults in force."""
        return tuple(self._faults)

    def remove(self, fault_id: str | None = None) -> int:
        """Lift one fault, or all; return how many were lifted."""
        before = len(self._faults)
        self._faults = [f for f in self._faults if fault_id is not None and f.id != fault_id]
        return before - len(self._faults)
