"""From pydantic's errors to the words of Adobe's validators.

Belongs here: reading a JSON body into a model, and the entries of `validation_errors`.
Does not belong here: which status a service answers (`rejections.py`).
"""

import json
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fireflyassets.twin.rejections import Flaw

M = TypeVar("M", bound=BaseModel)

# Firefly's published examples carry the words of pydantic 1.
_OLD_TYPES = {
    "missing": "value_error.missing",
    "literal_error": "type_error.enum",
    "int_type": "type_error.integer",
    "string_type": "type_error.str",
    "bool_type": "type_error.bool",
    "list_type": "type_error.list",
    "float_type": "type_error.float",
    "model_type": "type_error.dict",
    "model_attributes_type": "type_error.dict",
    "string_too_short": "value_error.any_str.min_length",
    "string_too_long": "value_error.any_str.max_length",
    "string_pattern_mismatch": "value_error.str.regex",
    "too_short": "value_error.list.min_items",
    "too_long": "value_error.list.max_items",
    "greater_than": "value_error.number.not_gt",
    "greater_than_equal": "value_error.number.not_ge",
    "less_than": "value_error.number.not_lt",
    "less_than_equal": "value_error.number.not_le",
}
_OLD_WORDS = {
    "missing": "field required",
    "literal_error": "value is not a valid enumeration member; permitted: {expected}",
    "string_too_short": "ensure this value has at least {min_length} characters",
    "string_too_long": "ensure this value has at most {max_length} characters",
    "string_pattern_mismatch": "value is not a valid uuid",
    "too_short": "ensure this value has at least {min_length} items",
    "too_long": "ensure this value has at most {max_length} items",
    "greater_than": "ensure this value is greater than {gt}",
    "greater_than_equal": "ensure this value is greater than or equal to {ge}",
    "less_than": "ensure this value is less than {lt}",
    "less_than_equal": "ensure this value is less than or equal to {le}",
}


class NotJsonError(ValueError):
    """The body is not a JSON text of whole characters."""


def read_json(body: bytes) -> object:
    """Return the JSON value in *body*; half an emoji (a lone surrogate) is refused."""
    try:
        value: object = json.loads(body)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise NotJsonError from error
    return value


def check(model: type[M], body: object) -> M | list[Flaw]:
    """Return *body* as *model*, or everything that is wrong with it."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        return flaws_of(error.errors(include_url=False))


def flaws_of(errors: Sequence[ErrorDetails]) -> list[Flaw]:
    """Return the flaws pydantic found, worded as Adobe words them."""
    return [_flaw(error) for error in errors]


def _flaw(error: ErrorDetails) -> Flaw:
    words = _OLD_WORDS.get(error["type"])
    context = cast("Mapping[str, object]", error.get("ctx", {}))
    message = words.format(**context) if words else error["msg"]
    return Flaw(
        loc=("body", *error["loc"]),
        msg=message,
        type=_OLD_TYPES.get(error["type"], "value_error"),
    )
