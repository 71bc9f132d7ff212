"""The table of failures as the page that operators read.

Belongs here: turning the table into Markdown. Does not: a single row of it (``core/failure.py``).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from fireflyassets.core import guidance
from fireflyassets.core.failure import (
    ACTIONS,
    BY_CODE,
    BY_PLAIN_CODE,
    BY_STATUS,
    FORBIDDEN_WORDS,
    GUIDANCE,
    REFERENCE_FIELDS,
    REPLAYS,
    UNSAFE_ENDINGS,
    Action,
    FailureClass,
)

_ACTIONS: Final[dict[Action, str]] = {
    Action.RETRY: "another try; when the tries are spent, `dlq`",
    Action.PARK: "given back as queued, due later; no attempt is counted",
    Action.HOLD: "held until a person decides; nothing more is spent",
    Action.REVIEW: "`review`: the input must be mended, or a person must look",
    Action.DLQ: "`dlq`",
}
_CLASSES: Final = ("class", "what happens", "replay", "what to do", "what customers are told")
_INTRO: Final = """\
# Failures

What Adobe's services and our own stores say, what it means, and what follows. This page is made
from the one table that the factory itself decides by: `fireflyassets failures` prints it.

A fault has a family (whose answer it is), a status, a code, a field and a message. It is read in
this order: the code below; the field, where it names an input or output; the plain codes; the
status. What is in none of them is `unknown`, and holds the job: nobody guesses with a customer's
money. A failed job is an HTTP 200, so that the code comes before the status.

For a paid submit the class does not say whether the call was taken; that is decided before, by the
answer's own form: 4xx but 408, and 500 or 503 with Adobe's own code, were not taken; everything
else without an acceptance is `lost_answer`.
"""


def page() -> str:
    """Return the whole page."""
    parts = [
        _INTRO,
        _table("Classes", _CLASSES, _classes()),
        _table("Codes", ("class", "codes"), _codes(BY_CODE)),
        "Each is one code, whichever service says it, by HTTP or inside a job's status.\n",
        _table("Fields", ("what it names", "class"), _fields()),
        _table("Plain codes", ("class", "codes"), _codes(BY_PLAIN_CODE)),
        _table("Statuses", ("status", "class"), _statuses()),
    ]
    return "\n".join(parts)


def _classes() -> Iterator[tuple[str, ...]]:
    for kind in FailureClass:
        what = _ACTIONS[ACTIONS[kind]]
        yield f"`{kind}`", what, REPLAYS[kind], GUIDANCE[kind], guidance.told(kind)


def _codes(table: dict[str, FailureClass]) -> Iterator[tuple[str, ...]]:
    for kind in FailureClass:
        codes = sorted(code for code, its in table.items() if its is kind)
        if codes:
            yield f"`{kind}`", ", ".join(f"`{code}`" for code in codes)
    if table is BY_CODE:
        for word, kind in FORBIDDEN_WORDS:
            yield f"`{kind}`", f"`unauthorized_forbidden`, where the message says {word}"
        yield f"`{FailureClass.ENTITLEMENT}`", "`unauthorized_forbidden`, otherwise"
        endings = ", ".join(f"`*{ending}`" for ending in UNSAFE_ENDINGS)
        yield f"`{FailureClass.UNSAFE_CONTENT}`", endings


def _fields() -> Iterator[tuple[str, ...]]:
    names = ", ".join(REFERENCE_FIELDS)
    yield f"{names}; with status 400, 404, 410, 422 or none", f"`{FailureClass.STALE_REFERENCE}`"


def _statuses() -> Iterator[tuple[str, ...]]:
    for status, kind in sorted(BY_STATUS.items()):
        yield str(status), f"`{kind}`"
    yield "400, 404 of IMS", f"`{FailureClass.AUTH}`"
    yield "404, 410 of Photoshop", f"`{FailureClass.STALE_REFERENCE}`"
    yield "any other from 500 to 599", f"`{FailureClass.TRANSIENT}`"
    yield "any other, or none", f"`{FailureClass.UNKNOWN}`"


def _table(title: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    body = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"## {title}\n{body}\n"
