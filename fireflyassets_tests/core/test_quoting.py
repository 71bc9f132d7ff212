"""Quotes of a customer's text are found, whatever a vendor's message has made of them."""

import html
import json
import unicodedata
from urllib.parse import quote, quote_plus

import pytest

from fireflyassets.core.quoting import quotes

TEXT = "Crème brûlée on a \N{GRINNING FACE} blue plate, café terrace"


@pytest.mark.parametrize(
    "said",
    [
        TEXT,
        TEXT.upper(),
        TEXT.casefold(),
        unicodedata.normalize("NFD", TEXT),
        unicodedata.normalize("NFKC", TEXT),
        TEXT[:25] + "...",
        TEXT[-25:],
        html.escape(TEXT),
        TEXT.encode("ascii", "xmlcharrefreplace").decode(),
        TEXT.replace(" ", "&nbsp;").replace("è", "&egrave;"),
        quote(TEXT),
        quote_plus(TEXT),
        quote(quote(TEXT)),
        json.dumps(TEXT),
        json.dumps(json.dumps(TEXT)),
        TEXT.replace(" ", "\\n"),
        ascii(TEXT),
        "\u200b".join(TEXT),
        "\u00ad".join(TEXT),
        TEXT.replace(" ", "\u00a0"),
        " / ".join(TEXT.split()),
        "_".join(TEXT.split()),
        TEXT.replace("è", "e").replace("û", "u").replace("é", "e"),
        "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in TEXT),
    ],
)
def test_a_quote_is_found_however_it_is_written(said: str) -> None:
    """Its case, its accents, its escapes, what stands between its words, and where it was cut."""
    assert quotes(f"Not allowed: {said} (see the guide)", TEXT)


@pytest.mark.parametrize(
    "said",
    ["", "a blue plate", "the region is drained; see notice 7", "%zz &bogus; \\ud83d \\x", "café"],
)
def test_other_words_are_kept(said: str) -> None:
    """A few letters in common are chance, and broken escapes harm nobody."""
    assert not quotes(said, TEXT)


@pytest.mark.parametrize(("text", "found"), [("Sale 0", True), ("Sale 00", False), ("", False)])
def test_a_short_text_counts_as_a_whole(text: str, *, found: bool) -> None:
    """It has no stretch of its own."""
    assert quotes("the headline 'SALE-0' is odd", text) is found


@pytest.mark.parametrize(
    ("message", "found"),
    [("…verbena on a market…", True), ("a market", False), ("VERBENA  ON A\tMARKET", True)],
)
def test_a_stretch_of_a_long_text_is_enough(message: str, *, found: bool) -> None:
    """A prompt that is quoted may be cut at both ends."""
    assert quotes(message, "Lemon verbena on a market stall, morning light") is found
