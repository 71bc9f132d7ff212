"""Validation of raw requests against the campaign: every fault with field, rule and fix.

Belongs here: what text, aspects, locale and keys may be. Does not: reading files and bodies
(``core/brief.py``). Texts are counted in code points and sent on as they were written; a text that
a later part of the way can't carry is refused here, before anything is queued or paid.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from fireflyassets.core import ids
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.job import JobRequest, Picture
from fireflyassets.core.preflight import reference_fault
from fireflyassets.core.recipe_step import GenerateV4Step

PROMPT_LIMIT: Final = 1024
"""Code points; Firefly v3's own bound."""
KEY_FIELD: Final = "idempotencyKey"
"""The idempotency key's name in JSON; in a spreadsheet its column is ``key``."""
REASON_LIMIT: Final = 200
"""Code points of why somebody steers a job or a campaign."""

_UPLOAD: Final = "Send the picture to POST /v1/references, and its name here."

_BIDI_OVERRIDES: Final = frozenset("\u202d\u202e")
_PLANE_END: Final = 0xFFFE
"""The last two code points of each plane are no characters."""
_LINE_BREAKS: Final = frozenset("\u2028\u2029")
_INVISIBLE: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a request: where, which rule, and how to mend it."""

    field: str
    """Field of a request, and the column of a file; empty where it is about the whole."""
    rule: str
    message: str
    fix: str
    row: int | None = None
    """Row of the file it came in, as a spreadsheet counts: the header is row 1."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """The fields of a request as they came, not yet believed."""

    key: str
    prompt: str
    locale: str
    headline: str
    aspects: tuple[str, ...]
    reference: str = ""
    """As the upload of the picture told it; empty where none comes with the job."""
    key_field: str = field(default="key", compare=False)
    """What its sender calls the idempotency key."""


def validate(raw: RawRequest, campaign: CampaignConfig) -> JobRequest | tuple[Problem, ...]:
    """Return the request, or every problem it has; never only the first one."""
    problems = (
        *_key(raw),
        *prompt_problems(raw.prompt),
        *_text("headline", raw.headline, campaign.headline_limit),
        *_locale(raw.locale, campaign),
        *_aspects(raw.aspects, campaign),
        *_reference(raw.reference, campaign),
    )
    if problems:
        return problems
    request = as_sent(raw, customer=campaign.customer, campaign=campaign.campaign)
    # The campaign's order, in which all that is made of it comes.
    return replace(request, aspects=ordered(raw.aspects, campaign))


def as_sent(raw: RawRequest, *, customer: str, campaign: str) -> JobRequest:
    """Return the request as it came, unchecked: what it takes to see that it was sent before."""
    return JobRequest(
        customer=customer,
        campaign=campaign,
        key=raw.key,
        prompt=raw.prompt,
        locale=raw.locale,
        headline=raw.headline,
        aspects=raw.aspects,
        reference=reference_of(customer, raw.reference),
    )


def ordered(aspects: Sequence[str], campaign: CampaignConfig) -> tuple[str, ...]:
    """Return those of *aspects* that a campaign has, in its order."""
    return tuple(aspect for aspect in campaign.aspects if aspect in aspects)


def prompt_problems(prompt: str) -> tuple[Problem, ...]:
    """Return what is wrong with a prompt as a text, whoever wrote it."""
    return tuple(_text("prompt", prompt, PROMPT_LIMIT))


def raw_request(fields: Mapping[str, object]) -> RawRequest | tuple[Problem, ...]:
    """Return the raw request of a JSON object; wrong types and unknown fields are problems."""
    texts = (KEY_FIELD, "prompt", "locale", "headline", "reference")
    problems = [
        Problem(name, "type", f"{name} must be a string.", f"Send {name} as a JSON string.")
        for name in texts
        if not isinstance(fields.get(name, ""), str)
    ]
    problems += [
        Problem(shown(name), "unknown", f"{shown(name)} is not a field of a job.", "Remove it.")
        for name in fields
        if name not in {*texts, "aspects"}
    ]
    aspects = _strings(fields.get("aspects", []))
    if aspects is None:
        problems.append(
            Problem(
                "aspects",
                "type",
                "aspects must be a list of strings.",
                'Send e.g. ["1080x1080", "1080x1920"].',
            )
        )
    if problems or aspects is None:
        return tuple(problems)
    key, prompt, locale, headline, reference = (str(fields.get(name, "")) for name in texts)
    return RawRequest(key, prompt, locale, headline, aspects, reference, key_field=KEY_FIELD)


def reference_of(customer: str, reference: str) -> Picture | None:
    """Return what the name of a picture that *customer* sent says of it."""
    if not (told := ids.REFERENCE.fullmatch(reference)):
        return None
    return Picture(
        ids.reference_key(customer, reference),
        told["sha256"],
        ids.media_type(told["suffix"]),
        int(told["width"]),
        int(told["height"]),
        int(told["bytes"]),
    )


def reason_of(fields: Mapping[str, object]) -> str | tuple[Problem, ...]:
    """Return the reason that a steering request gives, its only field."""
    said = fields.get("reason", "")
    if not isinstance(said, str) or not set(fields) <= {"reason"}:
        sentence = "The body holds one text, reason, and no more."
        return (Problem("reason", "type", sentence, 'Send {"reason": "…"}.'),)
    return tuple(_text("reason", said, REASON_LIMIT)) or said


def shown(name: str) -> str:
    """Return a name from outside in a form that every log, queue and page can carry."""
    return ascii(name[:40])[1:-1]


def sized(size_bytes: int) -> str:
    """Return a bound in the unit that people know it by."""
    kilo = 1000 if size_bytes % 1000 == 0 else 1024
    mega = size_bytes // kilo**2
    return f"{mega} MB" if mega else f"{size_bytes // kilo} kB"


def _strings(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    texts = tuple(item for item in items if isinstance(item, str))
    return texts if len(texts) == len(items) else None


def _key(raw: RawRequest) -> Iterator[Problem]:
    if not ids.KEY.fullmatch(raw.key):
        said = "not legal" if raw.key else "missing"
        yield Problem(
            raw.key_field,
            "key",
            f"The idempotency key is {said}.",
            "Send 1-64 characters of A-Z a-z 0-9 _ -; a UUID is advised.",
        )


def _text(field: str, text: str, limit: int) -> Iterator[Problem]:
    if all(unicodedata.category(letter) in _INVISIBLE for letter in text):
        yield Problem(field, "empty", f"{field} is empty.", f"Write a {field}.")
        return
    if len(text) > limit:
        yield Problem(
            field,
            "length",
            f"{field} has {len(text)} code points; at most {limit} are allowed.",
            f"Shorten it by {len(text) - limit}.",
        )
    if _looks_like_formula(text):
        yield Problem(
            field,
            "formula",
            f"{field} starts like a spreadsheet formula.",
            "Start it with a word; a text that begins with = or @ is run by spreadsheets.",
        )
    yield from _letters(field, text)


def _letters(field: str, text: str) -> Iterator[Problem]:
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        yield Problem(
            field,
            "surrogate",
            f"{field} holds half of a surrogate pair.",
            "Send whole characters in UTF-8; an emoji was cut in two.",
        )
    if any(unicodedata.category(letter) == "Cc" or letter in _LINE_BREAKS for letter in text):
        yield Problem(
            field,
            "control",
            f"{field} holds a control character (a line break or a tab counts).",
            "Remove it.",
        )
    if any(_is_noncharacter(letter) for letter in text):
        yield Problem(
            field,
            "noncharacter",
            f"{field} holds a code point that is no character (U+FFFE, U+FFFF and their like).",
            "Remove it: queues refuse it.",
        )
    if _BIDI_OVERRIDES & set(text):
        yield Problem(
            field, "bidi", f"{field} holds a direction override (U+202D or U+202E).", "Remove it."
        )


def _looks_like_formula(text: str) -> bool:
    """Say whether a spreadsheet would run *text*; ``-20 % today`` is a headline, not a formula."""
    first = text.lstrip()[:1]
    return first in {"=", "@"} or (first in {"+", "-"} and any(sign in text for sign in "(|"))


def _is_noncharacter(letter: str) -> bool:
    return ord(letter) & _PLANE_END == _PLANE_END or "\ufdd0" <= letter <= "\ufdef"


def _locale(locale: str, campaign: CampaignConfig) -> Iterator[Problem]:
    if locale not in campaign.locales:
        yield Problem(
            "locale",
            "locale",
            f"{locale[:20]!r} is not a locale of the campaign.",
            f"Use one of {', '.join(campaign.locales)}.",
        )


def _aspects(aspects: tuple[str, ...], campaign: CampaignConfig) -> Iterator[Problem]:
    known = f"Use some of {', '.join(campaign.aspects)}."
    if not aspects:
        yield Problem("aspects", "empty", "No aspect is asked for.", known)
    for aspect in dict.fromkeys(aspects):
        if aspect not in campaign.aspects:
            yield Problem(
                "aspects", "aspect", f"{aspect[:20]!r} is not an aspect of the campaign.", known
            )
    if len(set(aspects)) < len(aspects):
        yield Problem("aspects", "repeated", "An aspect is asked for twice.", "Name each once.")


def _reference(reference: str, campaign: CampaignConfig) -> Iterator[Problem]:
    readers = campaign.recipe.reference_readers
    if not reference:
        if campaign.recipe.needs_reference:
            sentence = "The campaign's recipe starts from a picture, and none comes with the job."
            yield Problem("reference", "missing-reference", sentence, _UPLOAD)
        return
    picture = reference_of(campaign.customer, reference)
    if picture is None:
        sentence = "reference is no picture that was sent here; addresses are not fetched."
        yield Problem("reference", "reference", sentence, _UPLOAD)
    elif not readers:
        sentence = "The campaign's recipe takes no picture."
        yield Problem("reference", "reference", sentence, "Leave reference out.")
    elif any(isinstance(step, GenerateV4Step) for step in readers):
        fault = reference_fault(picture.width, picture.height, picture.size_bytes)
        if fault:
            yield Problem("reference", "reference", f"The picture does not do: {fault}.", _UPLOAD)
