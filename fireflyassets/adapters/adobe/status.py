"""What a status payload says, in any spelling, of either service.

Belongs here: the states and the result's shapes. Does not: HTTP, and deadlines: whatever is not
known to have ended counts as working until the caller's own deadline.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, cast

from fireflyassets.adapters.adobe import faults
from fireflyassets.core.failure import FailureClass, Family, Fault, classify
from fireflyassets.ports.paid import Done, EndedBadly, Output, Poll, Working

_SUCCEEDED: Final = "succeeded"
_WORKING: Final = frozenset({"pending", "running", "cancel_pending", "not_started"})
_ENDED: Final = {
    "failed": "",
    "timeout": "timeout",
    "cancelled": "cancelled",
    "canceled": "cancelled",
}
"""Bad endings, with the code for one that names none. `cancel_pending` has not ended."""
_SEEDS: Final = 2**63
"""Beyond this no seed is one, and the ledger could not store it."""
_FLAGS: Final = ("promptHasDeniedWords", "promptHasBlockedArtists")


def read(payload: object, *, family: Family, hide: Iterable[str] = ()) -> Poll:
    """Return how the job stands; done only on the literal word, never on a result alone."""
    body = _object(payload)
    state = body.get("status")
    if state == _SUCCEEDED:
        result = _object(body.get("result"))
        # Some guides show the outputs beside the status.
        outputs = _outputs(result.get("outputs", body.get("outputs")))
        ignored = any(result.get(flag) is True for flag in _FLAGS)
        return Done(tuple(replace(output, ignored_words=ignored) for output in outputs))
    if isinstance(state, str) and state in _ENDED:
        return EndedBadly(_ending(body, _ENDED[state], family, hide))
    return Working()


def unknown_word(payload: object) -> str | None:
    """Return the state that a payload tells and nobody knows; None where it is a known one."""
    state = _object(payload).get("status")
    if not isinstance(state, str):
        return "none"
    return None if state in {_SUCCEEDED, *_ENDED, *_WORKING} else faults.redact(state[:40])


def _ending(body: dict[str, object], code: str, family: Family, hide: Iterable[str]) -> Fault:
    """Return the fault of a bad end.

    A cancelled job is sent no more, whatever its code; one out of time is, unless its code forbids.
    """
    said = faults.from_json(family, body, status=None, hide=hide)
    own = code == "cancelled" or (code and classify(said) is FailureClass.UNKNOWN)
    if not own or said.code in {"", code}:
        return replace(said, code=said.code or code)
    return replace(said, code=code, message=f"{said.code}; {said.message}")


def _outputs(value: object) -> tuple[Output, ...]:
    """Return the outputs of a list, of one object, or of an object of objects."""
    if isinstance(value, list):
        items = cast("list[object]", value)
    else:
        one = _object(value)
        if isinstance(crops := one.get("crops"), list):
            return _crops(cast("list[object]", crops))
        items = [one] if _url(one) is not None else list(one.values())
    return tuple(
        Output(_url(item), _seed(item.get("seed"))) for item in map(_object, items) if item
    )


def _crops(crops: list[object]) -> tuple[Output, ...]:
    """Return the outputs of an auto-crop: the first box of each crop has its URL."""
    boxes = (_object(crop).get("boundingBoxes") for crop in crops)
    firsts = (cast("list[object]", each)[:1] if isinstance(each, list) else [] for each in boxes)
    return tuple(Output(_url(_object(box))) for first in firsts for box in first)


def _url(output: dict[str, object]) -> str | None:
    candidates = (
        _object(output.get("image")).get("url"),
        output.get("presignedUrl"),
        _object(output.get("destination")).get("url"),
        output.get("url"),
    )
    return next((url for url in candidates if isinstance(url, str) and url), None)


def _seed(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if abs(value) < _SEEDS else None


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
