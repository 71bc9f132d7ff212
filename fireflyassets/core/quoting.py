"""Whether a message quotes a text, however the quote is written.

Belongs here: the one comparison that keeps customers' words out of records. Does not: what is kept
of a message besides (``adapters/adobe/faults.py``).
"""

import html
import re
import unicodedata
from typing import Final
from urllib.parse import unquote

STRETCH: Final = 12
"""Letters in a row that two texts do not share by chance."""
_LAYERS: Final = 3
"""How many times over a quote may be escaped."""
_UNICODE: Final = re.compile(r"\\\\*(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_ESCAPED: Final = re.compile(r"\\+[nrtbf]?")


def quotes(message: str, text: str) -> bool:
    """Say whether *message* holds *text*, or any stretch of it, whatever its letters look like.

    Case, accents, forms of Unicode, escapes (JSON, HTML, percent) and all that stands between
    letters and digits make no difference.
    """
    hidden = _letters(text)
    forms = {_letters(one) for one in _unescaped(message)}
    if len(hidden) < STRETCH:
        return bool(hidden) and any(hidden in said for said in forms)
    parts = {hidden[at : at + STRETCH] for at in range(len(hidden) - STRETCH + 1)}
    return any(part in said for said in forms for part in parts)


def _unescaped(message: str) -> list[str]:
    """Return *message* as it is, and with one layer of escapes after the other taken off."""
    forms = [message]
    for _ in range(_LAYERS):
        plain = unquote(html.unescape(_UNICODE.sub(_letter, forms[-1])))
        forms.append(_ESCAPED.sub(" ", plain))
    return forms


def _letter(escape: re.Match[str]) -> str:
    return chr(int(escape[1] or escape[2], 16))


def _letters(text: str) -> str:
    """Return the letters and digits alone, folded: no accents, no case, no wide or zero width."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", whole).casefold())
    return "".join(one for one in folded if one.isalnum())
