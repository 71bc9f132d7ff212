"""``make openapi-check SPEC=<folder>``: our schemas against Adobe's own OpenAPI files.

Belongs here: the comparison, field by field. Does not: the schemas (``twin/schemas/``). Adobe's
files are read where they lie, and are not part of this repository. What only Adobe has is no
difference: we restate what we use.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from fireflyassets.twin.schemas import FILES, Book, Operation, Schema, list_of, object_of

SPECS: Final = {"firefly": "firefly-api.json", "photoshop": "photoshop-v2-api.json"}
_BOUNDS: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "type",
)


class Spec:
    """One OpenAPI document."""

    def __init__(self, document: Mapping[str, object]) -> None:
        self._root = document

    def operation(self, method: str, path: str) -> Schema | None:
        """Return a call's description; None where there is none."""
        found = object_of(self._root["paths"]).get(path)
        said = object_of(found).get(method) if found is not None else None
        return object_of(said) if said is not None else None

    def parameters(self, call: Schema) -> Iterator[tuple[str, Schema]]:
        """Yield a call's headers and parts of the query, by name."""
        for said in map(object_of, list_of(call.get("parameters", []))):
            one = said
            if "$ref" in said:
                name = str(said["$ref"]).rpartition("/")[2]
                shared = object_of(object_of(self._root["components"])["parameters"])
                one = object_of(shared[name])
            yield str(one["name"]).lower() if one["in"] == "header" else str(one["name"]), one

    def response(self, said: object) -> Schema:
        """Return a response, which may be a shared one."""
        one = object_of(said)
        if "$ref" not in one:
            return one
        name = str(one["$ref"]).rpartition("/")[2]
        return object_of(object_of(object_of(self._root["components"])["responses"])[name])

    def alternatives(self, schema: Schema) -> list[Schema]:
        """Return what a schema may be; itself where it leaves no choice."""
        while "$ref" in schema:
            name = str(schema["$ref"]).rpartition("/")[2]
            schema = object_of(object_of(object_of(self._root["components"])["schemas"])[name])
        return [object_of(one) for one in list_of(schema.get("oneOf", [schema]))]

    def flat(self, schema: Schema) -> Schema:
        """Return a schema without references; of alternatives, everything that any allows."""
        if "$ref" in schema:
            name = str(schema["$ref"]).rpartition("/")[2]
            schemas = object_of(object_of(self._root["components"])["schemas"])
            return self.flat({**object_of(schemas[name]), **_own(schema)})
        for word in ("allOf", "oneOf", "anyOf"):
            if word in schema:
                parts = [self.flat(object_of(part)) for part in list_of(schema[word])]
                rest = {key: value for key, value in schema.items() if key != word}
                return self.flat(_merged([*parts, rest], all_hold=word == "allOf"))
        return schema


def differences(book: Book, spec: Spec) -> Iterator[str]:
    """Yield where our schemas say something else than Adobe's."""
    for call in book.operations():
        at = f"{call.method.upper()} {call.path}"
        theirs = spec.operation(call.method, call.path)
        if theirs is None:
            yield f"{at}: Adobe has no such call"
            continue
        responses = object_of(theirs["responses"])
        if str(call.success) not in responses:
            yield f"{at}: Adobe does not answer {call.success}"
            continue
        yield from _parameters_compared(call.parameters, spec, theirs, at)
        pairs = (
            ("request", call.request, _body(theirs.get("requestBody"))),
            ("response", call.response, _body(responses[str(call.success)])),
        )
        for part, ours, adobe in pairs:
            if ours is not None and adobe is None:
                yield f"{at} {part}: Adobe has no body there"
            elif ours is not None and adobe is not None:
                yield from _compared(book, spec, (ours, adobe), f"{at} {part}")
        yield from _refusals_compared(book, spec, call, responses)


def _refusals_compared(book: Book, spec: Spec, call: Operation, responses: Schema) -> Iterator[str]:
    """Compare what a call answers that it does not take, body by body, in both directions."""
    adobe = {code: spec.response(said) for code, said in responses.items() if code[0] != "2"}
    for code in sorted(adobe.keys() | call.errors.keys()):
        at = f"{call.method.upper()} {call.path} refusal {code}"
        if code not in call.errors:
            yield f"{at}: Adobe answers so, and we do not know it"
        elif code not in adobe:
            yield f"{at}: Adobe does not answer so"
        elif call.errors[code] is None or (theirs := _body(adobe[code])) is None:
            if (call.errors[code] is None) != (_body(adobe[code]) is None):
                yield f"{at}: only one of us has a JSON body there"
        else:
            yield from _compared(book, spec, (object_of(call.errors[code]), theirs), at)


def _parameters_compared(ours: Schema, spec: Spec, call: Schema, at: str) -> Iterator[str]:
    """Compare headers and query; what the path holds is compared with the path."""
    adobe = {name: one for name, one in spec.parameters(call) if one["in"] != "path"}
    for name, one in adobe.items():
        if one.get("required") and name not in ours:
            yield f"{at}: Adobe requires the {one['in']} parameter {name}"
    for name, said in ours.items():
        own, here = object_of(said), f"{at} {name}"
        if name not in adobe:
            yield f"{here}: Adobe has no such parameter"
            continue
        for fact in ("in", "required"):
            if own[fact] != adobe[name].get(fact, False):
                yield f"{here}: {fact} {own[fact]} against Adobe's {adobe[name].get(fact, False)}"
        schemas = (object_of(own["schema"]), spec.flat(object_of(adobe[name].get("schema", {}))))
        yield from _bounds_compared(*schemas, here)


def _compared(book: Book, spec: Spec, pair: tuple[Schema, Schema], at: str) -> Iterator[str]:
    ours, theirs = book.resolved(pair[0]), spec.flat(pair[1])
    if "x-differs" in ours:
        return
    if "oneOf" in ours:
        for choice in list_of(ours["oneOf"]):
            told = [
                list(_compared(book, spec, (object_of(choice), adobe), at))
                for adobe in spec.alternatives(pair[1])
            ]
            yield from min(told, key=len)
        return
    yield from _bounds_compared(ours, theirs, at)
    if set(map(str, list_of(ours.get("required", [])))) != _required(theirs, ours):
        yield f"{at}: required {ours.get('required', [])} against {theirs.get('required', [])}"
    yield from _fields_compared(book, spec, (ours, theirs), at)
    if "items" in ours and "items" in theirs:
        items = (object_of(ours["items"]), object_of(theirs["items"]))
        yield from _compared(book, spec, items, f"{at}[]")


def _fields_compared(book: Book, spec: Spec, pair: tuple[Schema, Schema], at: str) -> Iterator[str]:
    theirs = object_of(pair[1].get("properties", {}))
    for name, field in object_of(pair[0].get("properties", {})).items():
        if name not in theirs:
            yield f"{at}.{name}: Adobe has no such field"
        else:
            fields = (object_of(field), object_of(theirs[name]))
            yield from _compared(book, spec, fields, f"{at}.{name}")


def _bounds_compared(ours: Schema, theirs: Schema, at: str) -> Iterator[str]:
    for bound in _BOUNDS:
        if bound == "type" and "type" not in theirs:
            continue
        if ours.get(bound) != theirs.get(bound):
            yield f"{at}: {bound} {ours.get(bound)} against Adobe's {theirs.get(bound)}"
    enums = [{str(one) for one in list_of(each.get("enum", []))} for each in (ours, theirs)]
    if enums[0] != enums[1]:
        yield f"{at}: enum {sorted(enums[0])} against Adobe's {sorted(enums[1])}"


def _required(theirs: Schema, ours: Schema) -> set[str]:
    """Return what Adobe requires, where we say anything about the object's fields."""
    if not ours.get("properties"):
        return set()
    return set(map(str, list_of(theirs.get("required", []))))


def _body(part: object) -> Schema | None:
    content = object_of(part or {}).get("content")
    json_body = object_of(content or {}).get("application/json")
    schema = object_of(json_body or {}).get("schema")
    return object_of(schema) if schema else None


def _own(schema: Schema) -> dict[str, object]:
    return {key: value for key, value in schema.items() if key in _BOUNDS}


def _merged(parts: Sequence[Schema], *, all_hold: bool) -> dict[str, object]:
    """Return one schema for several: all of them hold, or any."""
    whole: dict[str, object] = {}
    properties: dict[str, list[object]] = {}
    enums: list[object] = []
    required = [set(map(str, list_of(part.get("required", [])))) for part in parts]
    for part in parts:
        whole |= {key: value for key, value in part.items() if key in _BOUNDS or key == "items"}
        enums += list_of(part.get("enum", []))
        for name, field in object_of(part.get("properties", {})).items():
            properties.setdefault(name, []).append(field)
    if enums:
        whole["enum"] = list(dict.fromkeys(map(str, enums)))
    if properties:
        whole["properties"] = {
            name: fields[0] if len(fields) == 1 else {"anyOf": fields}
            for name, fields in properties.items()
        }
    # The rest beside alternatives, the last part, always holds.
    names = set[str]().union(*required) if all_hold else set[str].intersection(*required[:-1])
    whole["required"] = sorted(names | required[-1])
    return whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print every difference; return 1 if there is any, 2 if a file can't be read."""
    parser = argparse.ArgumentParser(prog="make openapi-check", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="folder with Adobe's OpenAPI files")
    folder: Path = parser.parse_args(arguments).folder
    found = 0
    for name in FILES:
        path = folder / SPECS[name]
        try:
            spec = Spec(object_of(json.loads(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError) as error:
            said = getattr(error, "strerror", None) or "it is no OpenAPI document"
            sys.stderr.write(
                f"{path} can't be read: {said}. SPEC is the folder with Adobe's files "
                f"{' and '.join(SPECS.values())}.\n"
            )
            return 2
        told = list(differences(Book(name), spec))
        calls = len(list(Book(name).operations()))
        sys.stdout.write(f"{path.name}: {calls} calls compared, {len(told)} differences\n")
        sys.stdout.writelines(f"  {line}\n" for line in told)
        found += len(told)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
