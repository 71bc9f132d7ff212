"""The guardrail as a port: whether a prompt or copy may be used, before anything is queued.

Belongs here: the question and its three answers. Does not: lists and rules (adapters), what a
text may be as such (``core/request.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from fireflyassets.core.job import Rewritten


@dataclass(frozen=True, slots=True)
class Allowed:
    """The text is used as it was written."""


@dataclass(frozen=True, slots=True)
class Declined:
    """The text is not used; its writer mends it."""

    rule: str
    fix: str
    word: str
    """What was found, as the text has it, its spaces made single."""


Verdict = Allowed | Rewritten | Declined


class Guardrail(ABC):
    """Judges texts. The same text under the same lists gets the same verdict."""

    @abstractmethod
    def judge(self, text: str, *, customer: str, campaign: str, locale: str) -> Verdict:
        """Return whether and how *text* may be used.

        Raises:
            UnusableConfiguration: The rules can't be read: nothing is let through unjudged.
        """
