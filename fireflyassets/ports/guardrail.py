"""The guardrail as a port: whether a prompt may be sent, before anything of it is queued.

Belongs here: the question and its three answers. Does not: lists and rules (adapters), what a
prompt may be as a text (``core/request.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from fireflyassets.core.job import Rewritten


@dataclass(frozen=True, slots=True)
class Allowed:
    """The prompt is sent as it was written."""


@dataclass(frozen=True, slots=True)
class Declined:
    """The prompt is not sent; its writer mends it."""

    rule: str
    fix: str
    word: str
    """What was found, as the prompt has it, its spaces made single."""


Verdict = Allowed | Rewritten | Declined


class Guardrail(ABC):
    """Judges prompts. The same prompt under the same lists gets the same verdict."""

    @abstractmethod
    def judge(self, prompt: str, *, customer: str, campaign: str, locale: str) -> Verdict:
        """Return whether and how *prompt* may be sent.

        Raises:
            UnusableConfiguration: The rules can't be read: nothing is let through unjudged.
        """
