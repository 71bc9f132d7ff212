"""Decisions in memory. Here: what is kept of them. Not here: which fits, locks."""

from dataclasses import dataclass, field

from fireflyassets.core.review import Act, Judgement
from fireflyassets.ports.reviews import View


@dataclass(slots=True)
class MemoryReviews:
    """Lists and dictionaries, which their owner locks."""

    judgements: list[Judgement] = field(default_factory=list[Judgement])
    acts: list[Act] = field(default_factory=list[Act])
    unshown: dict[str, View] = field(default_factory=dict[str, View])
    """Job id -> the view that is due."""
