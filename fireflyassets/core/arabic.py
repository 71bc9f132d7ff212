"""Arabic letters as they stand beside each other: an alone, first, middle or last form.

Belongs here: the choice of Unicode's presentation form for each letter of a word, which decides
how wide it is. Does not: the order in which letters are shown. The forms are what the Unicode
character database decomposes; source: The Unicode Standard, section 9.2.
"""

import unicodedata
from functools import cache
from typing import Final

_BLOCKS: Final = (range(0xFB50, 0xFE00), range(0xFE70, 0xFF00))
_JOINS: Final = "\u0640\u200d"
"""Tatweel and the zero-width joiner join on both sides and have one form."""


def joined(text: str) -> list[str]:
    """Return each letter of *text* in its form; an alef that its lam has taken in is empty."""
    forms, pairs = _forms()
    written: list[str] = []
    last = 0
    before = False
    for index, letter in enumerate(text):
        if unicodedata.category(letter) == "Mn":
            written.append(letter)
            continue
        kinds = forms.get(letter, {})
        back = before and ("final" in kinds or letter in _JOINS)
        if back and (pair := pairs.get(_plain(written[last]) + letter)):
            written[last] = pair["final" if written[last] in _continued() else "isolated"]
            written.append("")
            before = False
            continue
        ahead = "initial" in kinds and _joins_back(text, index + 1)
        kind = ("medial" if back else "initial") if ahead else ("final" if back else "isolated")
        last = index
        written.append(kinds.get(kind, letter))
        before = "initial" in kinds or letter in _JOINS
    return written


def _joins_back(text: str, at: int) -> bool:
    """Say whether the next letter from *at* on, marks aside, joins to the one before it."""
    forms, _ = _forms()
    follows = next((one for one in text[at:] if unicodedata.category(one) != "Mn"), "")
    return "final" in forms.get(follows, {}) or (follows != "" and follows in _JOINS)


@cache
def _forms() -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    """Return letter -> kind -> form, and the same for lam and alef."""
    letters: dict[str, dict[str, str]] = {}
    pairs: dict[str, dict[str, str]] = {}
    for block in _BLOCKS:
        for point in block:
            kind, *parts = unicodedata.decomposition(chr(point)).split() or [""]
            plain = "".join(chr(int(part, 16)) for part in parts)
            kind = kind.strip("<>")
            if len(plain) == 1:
                letters.setdefault(plain, {})[kind] = chr(point)
            elif len(plain) == 2 and plain[0] == "\u0644" and 0xFEF5 <= point <= 0xFEFC:  # noqa: PLR2004 - a pair; the block of lam with alef.
                pairs.setdefault(plain, {})[kind] = chr(point)
    return letters, pairs


@cache
def _continued() -> frozenset[str]:
    forms, _ = _forms()
    return frozenset(form for kinds in forms.values() for k, form in kinds.items() if k == "medial")


@cache
def _plain(form: str) -> str:
    """Return the letter that a form is of."""
    parts = unicodedata.decomposition(form).split()
    return chr(int(parts[1], 16)) if len(parts) == 2 else form  # noqa: PLR2004 - a kind and a letter.
