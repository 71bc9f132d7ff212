"""Look-alikes: a text as an eye reads it, so that a word is found however it was typed.

Belongs here: which letters of Cyrillic and Greek pass for Latin ones, and folding. Does not: words
that are looked for (``guardrails/``), what becomes of a text.

From Unicode's confusables (UTS 39), those of letters that fonts draw alike; wide, styled and
ligated letters are folded by NFKC. Both sides of a comparison are folded, so that Cyrillic and
Greek words are found as well.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final

_ALIKE: Final = str.maketrans(
    # Cyrillic, Greek, then Latin, in small letters: capitals are made small first.
    "аеорсухіјѕһԁԛԝвкмнтг" + "αορνικτυχγϲϳεημ" + "\u0131\u0261\u0251",
    "aeopcyxijshdqwbkmhtr" + "aopviktuxycjenm" + "iga",
)
_DOT: Final = "\u0307"
"""What a Turkish capital I with its dot leaves behind when it is made small."""
_SCRIPTS: Final = ("CYRILLIC", "GREEK")
_WRITTEN_IN_THEM: Final = frozenset({"be", "bg", "el", "kk", "mk", "mn", "ru", "sr", "uk"})
_DOTLESS: Final = "\u0131"
_WITH_BOTH: Final = frozenset({"az", "tr"})
"""Languages in which an i without a dot makes another word."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as it is read, and where each of its letters stands in the text as written."""

    written: str
    text: str
    places: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the folded text begins and ends as written."""
        return self.places[start], self.places[end - 1] + 1


def folded(written: str) -> Folded:
    """Return *written* in small letters, look-alikes as Latin ones, nothing invisible in it."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(written):
        if unicodedata.category(letter) == "Cf":
            continue  # Zero-width joiners, soft hyphens: they split a word for no eye.
        plain = unicodedata.normalize("NFKC", letter).casefold().translate(_ALIKE).replace(_DOT, "")
        letters.append(plain)
        places += [place] * len(plain)
    return Folded(written, "".join(letters), tuple(places))


def is_own_word(written: str, locale: str) -> bool:
    """Say whether *written* is as its locale writes words that look alike elsewhere alone.

    Whoever reads Cyrillic reads a mouth in a word that others take for a pot.
    """
    language, _, rest = locale.partition("-")
    if language in _WITH_BOTH:
        return _DOTLESS in written
    if language not in _WRITTEN_IN_THEM or rest.startswith("Latn"):
        return False
    letters = [letter for letter in written if letter.isalpha()]
    return all(unicodedata.name(letter, "").startswith(_SCRIPTS) for letter in letters)
