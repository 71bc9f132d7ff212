"""The guardrail as lists of words: what prompts and copy must not say, and what is said instead.

Belongs here: the shape of a file under ``guardrails/`` and how its words are found. Does not:
reading files (``files.py``), the lists themselves, which are data.

A word is found as a whole, whatever its case and its spaces, with look-alike letters, and in its
plain plural and genitive unless the rule says `exact`. What declines goes before what rewrites.
Without a rule every text is allowed.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from fireflyassets.core.campaign import Locale, Slug
from fireflyassets.core.job import Rewritten
from fireflyassets.core.lookalike import Folded, folded, is_own_word
from fireflyassets.ports.guardrail import Allowed, Declined, Guardrail, Verdict

_MARKS: Final = "".join(
    chr(place) for place in range(0x0900, 0x1CFA) if unicodedata.category(chr(place))[0] == "M"
)
"""Vowel signs and their like, from Devanagari on: parts of a word, which `\\w` leaves out."""


class WordRule(BaseModel):
    """Words, for whom they count, and what becomes of a text that holds one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Slug
    """What its customers are told."""
    fix: str = Field(min_length=1, max_length=200)
    words: tuple[str, ...] = ()
    replace_with: str | None = Field(default=None, max_length=100)
    """What a prompt says instead; left out, it is declined. Copy is never rewritten."""
    exact: bool = False
    """Whether plurals and genitives are other words."""
    customers: frozenset[Slug] | None = None
    """Whose texts are looked at; left out, everybody's."""
    locales: frozenset[Locale] | None = None

    def concerns(self, *, customer: str, locale: str) -> bool:
        """Say whether the rule is for such a prompt."""
        of_customer = self.customers is None or customer in self.customers
        return of_customer and (self.locales is None or locale in self.locales)

    def pattern(self) -> re.Pattern[str] | None:
        """Return what finds any of the words as a whole; None where there is none."""
        said = [self._found(folded(_plain(word)).text) for word in self.words]
        longest_first = sorted(filter(None, said), key=len, reverse=True)
        if not longest_first:
            return None
        inside = rf"[\w{_MARKS}]"
        return re.compile(rf"(?<!{inside})(?:{'|'.join(longest_first)})(?!{inside})")

    def said(self, pattern: re.Pattern[str], read: Folded, *, locale: str) -> Iterator[slice]:
        """Yield where a text says a word; a foreign one is in no word of the locale's own."""
        for found in pattern.finditer(read.text):
            where = slice(*read.span(*found.span()))
            is_own = is_own_word(read.written[where], locale)
            if not is_own or any(is_own_word(word, locale) for word in self.words):
                yield where

    def _found(self, word: str) -> str:
        """Return what finds a folded word: its spaces of any width, its plain endings."""
        spaced = r"\s+".join(map(re.escape, word.split()))
        if self.exact or not spaced:
            return spaced
        if word.endswith("y"):
            return rf"{spaced[:-1]}(?:y(?:['\u2019]?s)?|ies)"
        return rf"{spaced}(?:['\u2019]?s|es)?"


class WordList(BaseModel):
    """One file of rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: tuple[WordRule, ...] = ()


class WordLists(Guardrail):
    """All lists of a project."""

    def __init__(self, lists: Iterable[WordList] = ()) -> None:
        rules = [(rule, rule.pattern()) for one in lists for rule in one.rules]
        found = [(rule, pattern) for rule, pattern in rules if pattern]
        self._declining = [one for one in found if one[0].replace_with is None]
        self._rewriting = [one for one in found if one[0].replace_with is not None]

    def judge(self, text: str, *, customer: str, campaign: str, locale: str) -> Verdict:
        """Return whether and how *text* may be used."""
        text = _plain(text)
        read = folded(text)
        for rule, pattern in self._declining:
            found = rule.said(pattern, read, locale=locale)
            if rule.concerns(customer=customer, locale=locale) and (where := next(found, None)):
                return Declined(rule.rule, rule.fix, word=" ".join(text[where].split()))
        broken: list[str] = []
        for rule, pattern in self._rewriting:
            if not rule.concerns(customer=customer, locale=locale):
                continue
            if spans := list(rule.said(pattern, read, locale=locale)):
                for where in reversed(spans):
                    said = rule.replace_with or ""
                    text = f"{text[: where.start]}{said}{text[where.stop :]}"
                read = folded(text)
                broken.append(rule.rule)
        return Rewritten(text, ", ".join(broken)) if broken else Allowed()


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text)
