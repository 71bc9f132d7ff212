"""How long objects stay: the lifecycle rules as data, and what a legal hold does to them.

Belongs here: the rules, which of them meets an object, and the tags of a held one. Does not: S3's
form of rules (``adapters/aws/provision.py``), who holds what (``stages/holding.py``).

A rule meets a prefix or one exact tag; none can say "unless". So what expires carries a positive
``retention`` class, a hold takes that class away, and what has none is kept for ever.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fireflyassets.core import ids

RETENTION: Final = "retention"
HOLD: Final = "legal-hold"
_HELD: Final = "held-"
"""Before the class that comes back with the release; no rule is of such a class."""
_NO: Final = frozenset({"", "false", "no", "off", "0"})
"""Values by which somebody says that there is none."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What becomes of objects under a prefix, or of one class; days count from their creation."""

    name: str
    prefix: str | None = None
    retention: str | None = None
    archive_days: int | None = None
    """Into Glacier Instant Retrieval."""
    expire_days: int | None = None

    def meets(self, key: str, tags: Mapping[str, str]) -> bool:
        """Say whether an object falls under it."""
        if self.prefix is not None and not key.startswith(self.prefix):
            return False
        return self.retention is None or tags.get(RETENTION) == self.retention


RULES: Final = (
    Rule("temporary", prefix="_tmp/", expire_days=1),
    # Longer than a message can wait: in the queue and then among the dead letters.
    Rule("inbox", prefix=ids.INBOX, expire_days=30),
    Rule("retention-standard", retention="standard", archive_days=90, expire_days=365),
    Rule("retention-audit", retention="audit", archive_days=90),
)


def meeting(key: str, tags: Mapping[str, str]) -> list[Rule]:
    """Return the rules that an object falls under."""
    return [rule for rule in RULES if rule.meets(key, tags)]


def is_ours(tags: Mapping[str, str]) -> bool:
    """Say whether a hold of ours is on an object: its class is taken away."""
    return HOLD in tags and tags.get(RETENTION, "").startswith(_HELD)


def is_others(tags: Mapping[str, str]) -> bool:
    """Say whether somebody else has tagged a hold, in whatever case."""
    named = any(name.casefold() == HOLD and _says_yes(value) for name, value in tags.items())
    return named and not is_ours(tags)


def is_held(tags: Mapping[str, str]) -> bool:
    """Say whether an object's tags put it under a hold, whoever wrote them and how."""
    return is_ours(tags) or is_others(tags)


def held(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of an object under a hold: no rule is of its class."""
    kept = released(tags)
    return {**kept, RETENTION: f"{_HELD}{kept.get(RETENTION, '')}", HOLD: "true"}


def released(tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of an object without a hold; what had no class has none again."""
    kept = {name: value for name, value in tags.items() if name.casefold() != HOLD}
    name = kept.pop(RETENTION, "").removeprefix(_HELD)
    return {**kept, RETENTION: name} if name else kept


def _says_yes(value: str) -> bool:
    return value.strip().casefold() not in _NO
