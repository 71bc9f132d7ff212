"""What Adobe's calls take and answer, as JSON Schema of our own, and a reader of it.

Belongs here: the two files beside this one, which restate the facts of both OpenAPI documents,
and the part of JSON Schema that they use. Does not: comparing them with Adobe's
(``twin/openapi_check.py``).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, cast

Schema = Mapping[str, object]

FILES: Final = ("firefly", "photoshop")
_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


@dataclass(frozen=True)
class Operation:
    """One call: where it is, what it takes, and what it answers."""

    name: str
    method: str
    path: str
    success: int
    request: Schema | None
    response: Schema | None
    parameters: Schema
    """Name of a header or of a part of the query -> ``in``, ``required`` and ``schema``."""
    errors: Schema
    """Status of a refusal -> its body's schema; None where the body is no JSON."""


class Book:
    """One file of schemas."""

    def __init__(self, name: str) -> None:
        text = (files(__name__) / f"{name}.json").read_text(encoding="utf-8")
        self._root: dict[str, object] = json.loads(text)

    def operations(self) -> Iterator[Operation]:
        """Yield the calls."""
        for name, said in object_of(self._root["operations"]).items():
            fields = object_of(said)
            request, response = fields.get("request"), fields.get("response")
            yield Operation(
                name=name,
                method=str(fields["method"]),
                path=str(fields["path"]),
                success=int(str(fields["success"])),
                request=object_of(request) if request else None,
                response=object_of(response) if response else None,
                parameters=object_of(fields.get("parameters", {})),
                errors=object_of(fields.get("errors", {})),
            )

    def definition(self, name: str) -> Schema:
        """Return a schema by its name."""
        return object_of(object_of(self._root["$defs"])[name])

    def resolved(self, schema: Schema) -> Schema:
        """Return what a reference stands for."""
        reference = schema.get("$ref")
        return self.definition(str(reference).rpartition("/")[2]) if reference else schema

    def flaws(self, value: object, schema: Schema, at: str = "$") -> Iterator[str]:
        """Yield where *value* breaks *schema*; fields that are not named pass."""
        schema = self.resolved(schema)
        if "oneOf" in schema:
            yield from self._one_of(value, list_of(schema["oneOf"]), at)
            return
        if not _is_of(value, schema.get("type")):
            yield f"{at}: not of type {schema.get('type')}"
            return
        yield from _bound_flaws(value, schema, at)
        if isinstance(value, dict):
            yield from self._object_flaws(object_of(cast("object", value)), schema, at)
        if isinstance(value, list) and "items" in schema:
            for index, item in enumerate(list_of(cast("object", value))):
                yield from self.flaws(item, object_of(schema["items"]), f"{at}[{index}]")

    def _one_of(self, value: object, choices: list[object], at: str) -> Iterator[str]:
        told = [list(self.flaws(value, object_of(choice), at)) for choice in choices]
        if all(told):
            yield from min(told, key=len)

    def _object_flaws(self, value: Schema, schema: Schema, at: str) -> Iterator[str]:
        for name in list_of(schema.get("required", [])):
            if name not in value:
                yield f"{at}: {name} is missing"
        for name, field in object_of(schema.get("properties", {})).items():
            if name in value:
                yield from self.flaws(value[name], object_of(field), f"{at}.{name}")


def object_of(value: object) -> dict[str, object]:
    """Return *value*, which is an object."""
    if not isinstance(value, dict):
        raise TypeError("An object was expected.")
    return cast("dict[str, object]", value)


def list_of(value: object) -> list[object]:
    """Return *value*, which is a list."""
    if not isinstance(value, list):
        raise TypeError("A list was expected.")
    return cast("list[object]", value)


def _is_of(value: object, kind: object) -> bool:
    if kind is None:
        return True
    if isinstance(kind, list):
        return any(_is_of(value, one) for one in list_of(cast("object", kind)))
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[str(kind)])


def _bound_flaws(value: object, schema: Schema, at: str) -> Iterator[str]:
    if "enum" in schema and value not in list_of(schema["enum"]):
        yield f"{at}: not one of {schema['enum']}"
    size = len(cast("str", value)) if isinstance(value, (str, list)) else None
    number = value if isinstance(value, (int, float)) else None
    for measured, least, most in (
        (number, "minimum", "maximum"),
        (size, "minLength", "maxLength"),
        (size, "minItems", "maxItems"),
    ):
        if measured is None:
            continue
        if (low := schema.get(least)) is not None and measured < float(str(low)):
            yield f"{at}: under {least} {low}"
        if (high := schema.get(most)) is not None and measured > float(str(high)):
            yield f"{at}: over {most} {high}"
