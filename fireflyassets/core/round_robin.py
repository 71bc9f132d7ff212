"""Deficit round robin: whose wave is formed next where there are more tenants than places.

Belongs here: credits and turns, as pure functions. Does not: who may have a wave at all
(``stages/turns.py``), nor shares of the rate between waves that run, which are the pacers'.

What a wave costs is known once it is formed, so that a turn is paid for afterwards (surplus round
robin): whoever is in debt waits for as many rounds as its weight takes to pay it off.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Contender:
    """Somebody who wants a turn."""

    name: str
    weight: int = 1
    waves: int = 0
    """What it has already: whoever has none goes before all who have one."""


@dataclass(frozen=True, slots=True)
class Credits:
    """What each has left, below zero what it owes, and who had the last turn."""

    left: Mapping[str, int] = field(default_factory=dict[str, int])
    last: str = ""

    def of(self, name: str) -> int:
        """Return what *name* has left."""
        return self.left.get(name, 0)

    def paid(self, name: str, cost: int) -> "Credits":
        """Return the credits once *name* has had a turn of that cost."""
        return Credits({**self.left, name: self.of(name) - cost}, name)

    def kept(self, names: Collection[str]) -> "Credits":
        """Return the credits of *names* alone: the others have neither credit nor debt."""
        return replace(self, left={name: self.left[name] for name in self.left if name in names})


def next_turn(contenders: Sequence[Contender], credits_: Credits) -> tuple[str, Credits]:
    """Return whose turn it is, and the credits after as many rounds as it takes to get there.

    Each round gives everybody its weight. Equals follow each other in the order of their names.

    Raises:
        ValueError: There is nobody.
    """
    least = min((one.waves > 0 for one in contenders), default=True)
    mine = [one for one in contenders if (one.waves > 0) == least]
    if not mine:
        raise ValueError("Nobody wants a turn.")
    first = min(mine, key=lambda one: (_rounds(one, credits_), one.name <= credits_.last, one.name))
    rounds = _rounds(first, credits_)
    given = {one.name: credits_.of(one.name) + rounds * one.weight for one in mine}
    return first.name, replace(credits_, left={**credits_.left, **given})


def _rounds(one: Contender, credits_: Credits) -> int:
    """Return after how many rounds *one* owes nothing."""
    return max(0, -(credits_.of(one.name) // one.weight))
