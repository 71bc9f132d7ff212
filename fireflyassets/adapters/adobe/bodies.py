"""Request bodies as checked values: what Adobe would refuse is refused here, before it is paid.

Belongs here: the base of all bodies, and the translation of a broken rule into field, rule and
fix. Does not: any service's own rules (``firefly_bodies.py``, ``photoshop_bodies.py``). A problem
never quotes a text of the request: prompts, words and signed URLs stay out of every log.
"""

import re
from collections.abc import Iterable
from typing import Final, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails, PydanticCustomError

from fireflyassets.core.request import Problem

B = TypeVar("B", bound="Body")

_FIXES: Final = {
    "string_unicode": ("holds half of a surrogate pair", "Remove the broken letter."),
    "string_too_short": ("is empty", "Write at least one letter."),
    "missing": ("is missing", "Give it."),
}
_ITEM: Final = re.compile(r"\.(\d+)")


class Body(BaseModel):
    """A part of a request; its fields go out under Adobe's camelCase names, unset ones not."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    def wire(self) -> bytes:
        """Return the JSON text to send."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()


def made(shape: type[B], fields: dict[str, object]) -> B | tuple[Problem, ...]:
    """Return the body of *fields*, or everything that is wrong with it."""
    try:
        return shape.model_validate(fields)
    except ValidationError as error:
        return tuple(_problem(one) for one in error.errors(include_url=False))


def broken(rule: str, message: str, fix: str, *, field: str = "") -> PydanticCustomError:
    """Return the error for a validator to raise; *field* where a rule spans several fields."""
    # The template syntax of the library gets nothing to fill in.
    plain = message.replace("{", "(").replace("}", ")")
    return PydanticCustomError(rule, plain, {"fix": fix, "field": field})  # pyright: ignore[reportArgumentType] - a literal is wanted, and rules come as data here.


def sentences(problems: Iterable[Problem]) -> str:
    """Return the problems as one text for a fault."""
    return " ".join(f"{problem.message} {problem.fix}".strip() for problem in problems)


def _problem(error: ErrorDetails) -> Problem:
    context = cast("dict[str, object]", error.get("ctx", {}))
    rule = error["type"]
    field = str(context.get("field") or _path(error["loc"]))
    if "fix" in context:
        return Problem(field, rule, error["msg"], str(context["fix"]))
    if rule in _FIXES:
        what, fix = _FIXES[rule]
        return Problem(field, rule, f"{field} {what}.", fix)
    if rule == "string_too_long":
        length, limit = len(cast("str", error["input"])), cast("int", context["max_length"])
        message = f"{field} has {length} code points, more than {limit}."
        return Problem(field, rule, message, f"Shorten it by {length - limit}.")
    return Problem(field, rule, f"{field}: {error['msg']}.", "Give a value that Adobe takes.")


def _path(loc: tuple[int | str, ...]) -> str:
    """Return Adobe's name of a field, ``outputs[0].width``."""
    names = [name if isinstance(name, str) else str(name) for name in loc]
    camel = ".".join(to_camel(name) if "_" in name else name for name in names)
    return _ITEM.sub(r"[\1]", camel) or "body"
