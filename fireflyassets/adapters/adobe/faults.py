"""Adobe's errors in one form: any status, headers and body become a `Fault`.

Belongs here: every spelling of an error, read leniently and without ever raising, and the
redaction of what is kept. Does not: what a fault means (``core/failure.py``).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, cast

from fireflyassets.adapters.adobe.exchange import Answer, NoAnswer
from fireflyassets.core.failure import Family, Fault

_CODE_KEYS: Final = ("error_code", "errorCode", "code", "reason", "error", "type", "title")
"""In the order of trust: Firefly and gateway, Photoshop jobs, older Photoshop, models, IMS."""
_MESSAGE_KEYS: Final = ("message", "msg", "error_description", "detail", "title")
_NESTED_KEYS: Final = ("error", "errors", "errorDetails", "validation_errors", "detail", "details")
_PLAIN: Final = frozenset({"validation_error", "bad_request"})
"""Codes that say less than one that stands inside."""
_NESTED_MOST: Final = 5

_CODE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_LINK: Final = re.compile(
    r"""[a-z][a-z0-9+.-]{0,9}(?::|%3a)(?:\\*/|%2f){2}.*  # as it is, or escaped for JSON or a query
    | (?<![\w:/])//(?=[\w-]{1,63}\.).*                  # without a scheme""",
    re.IGNORECASE | re.VERBOSE,
)
_SECRET: Final = re.compile(
    r"""(?:sig|signature|secret|token|password|credential|api[_-]?key|accesskeyid)(?:=|%3d)
    | eyJ[\w-]{4} | p8e-\w | (?:AKIA|ASIA)[A-Z0-9]{12} | [A-Za-z0-9_\-+/=]{40}""",
    re.IGNORECASE | re.VERBOSE,
)
_TOLD: Final = re.compile(
    r"""\bBearer[ ]\S+
    | \bAuthorization["']?[ ]?[:=][ ]?["']?\w+[ ]\S+
    | (?:secret|access[_-]?token|refresh[_-]?token|password)["']?[ ]?[:=][ ]?\S+""",
    re.IGNORECASE | re.VERBOSE,
)
"""Secrets behind a word that names them."""
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\s]+")
_REFERENCE: Final = re.compile(
    r"""\b(?:[A-Za-z_][\w\[\]]*\.)+(?:source|url|uploadid)\b  # image.source.url
    | (?<=['"`])(?:source|url|uploadid)(?=['"`])             # 'source'
    | (?:^|(?<=;\s))(?:source|url)(?=:)                      # url: can't be read
    | \buploadid\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""A field that is named; the plain words occur in sentences about anything."""
_DOTTED: Final = re.compile(r"([A-Za-z_][\w\[\]]*(?:\.[\w\[\]]+)+): ")
_MESSAGE_LONGEST: Final = 200
_LOOKED_AT: Final = 20_000
_FIELD_LONGEST: Final = 100
_HIDDEN_SHORTEST: Final = 6
"""Shorter texts occur in honest messages, and say nothing."""
_FORBIDDEN: Final = 403


def from_answer(family: Family, answer: Answer, *, hide: Iterable[str] = ()) -> Fault:
    """Return the fault of an HTTP answer; *hide* holds texts that must not be echoed."""
    fault = from_json(family, answer.json(), status=answer.status, hide=hide)
    # A 403 says `access_error` in the body; the cause stands in a header.
    said = answer.headers.get("x-access-error", "")
    if answer.status != _FORBIDDEN or not _CODE.fullmatch(said):
        return fault
    return Fault(family, fault.status, said, fault.field, fault.message)


def from_silence(family: Family, reply: NoAnswer, *, code: str = "") -> Fault:
    """Return the fault of an exchange without an answer."""
    sent = "bytes had left" if reply.sent else "nothing was sent"
    return Fault(family, None, code or reply.code, "", f"{reply.code}; {sent}")


def from_json(
    family: Family, payload: object, *, status: int | None, hide: Iterable[str] = ()
) -> Fault:
    """Return the fault that a decoded body tells; an empty one where it tells nothing."""
    parts = list(_parts(payload))
    message = redact("; ".join(_messages(parts)), hide=hide)
    return Fault(family, status, _code(parts), _field(parts, message), message)


def names_own_code(payload: object) -> bool:
    """Say whether a body is an error in Adobe's own form, not one of a proxy on the way."""
    if not isinstance(payload, dict):
        return False
    body = cast("dict[str, object]", payload)
    return any(_as_code(body.get(key)) for key in ("error_code", "errorCode"))


def redact(text: str, *, hide: Iterable[str] = ()) -> str:
    """Return *text* without URLs, secrets, the texts to *hide* and unprintable letters, cut."""
    # Half surrogate pairs can be neither logged nor stored.
    clean = _CONTROL.sub(" ", text.encode("utf-8", "replace").decode())
    for secret in hide:
        if len(secret.strip()) >= _HIDDEN_SHORTEST:
            clean = clean.replace(_CONTROL.sub(" ", secret), "<text>")
    words = _TOLD.sub("<cut>", clean[:_LOOKED_AT]).split(" ")
    return " ".join(map(_shown, words)).strip()[:_MESSAGE_LONGEST]


def _shown(word: str) -> str:
    """Return what is shown of one word; each is looked at alone, or long ones would take hours."""
    if {"/", "?", "="} <= set(word) or "x-amz-" in word.lower():
        return "<link>"
    end = word[len(word.rstrip(".,;:")) :]
    return f"<cut>{end}" if _SECRET.search(word) else _LINK.sub("<link>", word)


def _parts(payload: object) -> Iterator[Mapping[str, object]]:
    """Yield the body, then what is nested in it: one level, and errors inside an error."""
    if isinstance(payload, list):
        yield from _dicts(cast("object", payload))
    if not isinstance(payload, dict):
        return
    body = cast("dict[str, object]", payload)
    yield body
    for key in _NESTED_KEYS:
        for inner in _dicts(body.get(key)):
            yield inner
            yield from (part for deeper in _NESTED_KEYS for part in _dicts(inner.get(deeper)))


def _dicts(value: object) -> list[Mapping[str, object]]:
    items = cast("list[object]", value)[:_NESTED_MOST] if isinstance(value, list) else [value]
    return [cast("dict[str, object]", item) for item in items if isinstance(item, dict)]


def _code(parts: list[Mapping[str, object]]) -> str:
    codes = [code for key in _CODE_KEYS for part in parts if (code := _as_code(part.get(key)))]
    telling = [code for code in codes[:1] if code not in _PLAIN] or [
        code
        for key in _CODE_KEYS[:3]
        for part in parts
        if (code := _as_code(part.get(key))) and code not in _PLAIN
    ]
    return (telling or codes or [""])[0]


def _as_code(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        # A number of any length parses; str() of a huge one raises.
        return str(value) if 0 <= value < 10**12 else ""
    return value if isinstance(value, str) and _CODE.fullmatch(value) else ""


def _messages(parts: list[Mapping[str, object]]) -> list[str]:
    found = [
        value
        for part in parts
        for key in _MESSAGE_KEYS
        if isinstance(value := part.get(key), str) and value
    ]
    return list(dict.fromkeys(text[: _MESSAGE_LONGEST * 10] for text in found))


def _field(parts: list[Mapping[str, object]], message: str) -> str:
    for part in parts:
        path = _path(part.get("loc"))
        if path not in {"", "body"}:
            return path
    # Photoshop names the field in the message only.
    found = _REFERENCE.search(message)
    if found is not None:
        return found.group()[:_FIELD_LONGEST]
    dotted = _DOTTED.search(message)
    return dotted.group(1)[:_FIELD_LONGEST] if dotted else ""


def _path(loc: object) -> str:
    items = cast("list[object]", loc) if isinstance(loc, list) else [loc]
    names = [str(item) for item in items[:20] if isinstance(item, (str, int)) and item != ""]
    legal = [re.sub(r"[^\w\[\]$-]", "_", name[:40], flags=re.ASCII) for name in names]
    return ".".join(legal)[:_FIELD_LONGEST]
