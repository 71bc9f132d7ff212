"""The effects that befall one call, sorted by when they act.

Belongs here: picking the effect of a kind out of those that struck. Does not belong here: the
language of faults (`faults.py`), or their carrying out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from fireflyassets.twin.fault_language import BadOutput, Effect

E = TypeVar("E", bound=Effect)


@dataclass(frozen=True)
class Effects:
    """What befalls one call and the job it starts."""

    struck: Sequence[Effect] = field(default_factory=tuple)

    def find(self, kind: type[E]) -> E | None:
        """Return the last effect of *kind*, if one struck."""
        found = [effect for effect in self.struck if isinstance(effect, kind)]
        return found[-1] if found else None

    def all_of(self, kind: type[E]) -> list[E]:
        """Return every effect of *kind*."""
        return [effect for effect in self.struck if isinstance(effect, kind)]

    def spoils(self, how: str) -> bool:
        """Return whether the outputs are to be spoilt in the way *how*."""
        return any(effect.kind == how for effect in self.all_of(BadOutput))
