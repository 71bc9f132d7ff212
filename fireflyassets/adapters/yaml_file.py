"""YAML files of a project folder, read without trusting them.

Belongs here: bytes to a checked model, or one error that says where (line), what and how to mend.
Does not: what campaigns, credentials, limits or rate cards are.

Safe YAML alone: no object tags, one document, no repeated keys, bounded size, depth and aliases.
Decimal fractions stay decimal: no price or share passes through a binary float. What a file holds
never shows in an error, since a secret may stand where it does not belong.
"""

from collections.abc import Hashable, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fireflyassets.core.errors import UnusableConfiguration

SIZE_LIMIT: Final = 64 * 1024
"""Bytes; a large campaign needs a tenth of it."""
DEPTH_LIMIT: Final = 20
ALIAS_LIMIT: Final = 16
"""Anchors and aliases: enough to share a few lines, too few to expand to anything large."""
_MOST_FAULTS: Final = 10

Checked = TypeVar("Checked", bound=BaseModel)


class YamlFault(UnusableConfiguration):
    """A YAML file that can't be used; the sentence begins with the line where there is one."""


def read(path: Path, shape: type[Checked]) -> Checked:
    """Return the file's content as *shape*.

    Raises:
        YamlFault: It can't be read, is no safe YAML, or is not of the shape.
    """
    text = _text(path)
    try:
        _check_bounds(text)
        loader = _Loader(text)
        node: yaml.Node | None = loader.get_single_node()
        content: object = loader.construct_document(node) if node else None  # pyright: ignore[reportUnknownMemberType] - the stub leaves its argument open.
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _fault_at(mark, error.problem or error.context or "not YAML") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlFault(f"line {line}: a control character; remove it.") from error
    if not isinstance(content, dict):
        raise YamlFault("line 1: the file must hold one mapping of names to values.")
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        raise YamlFault(_sentence(node, error)) from error


def line_of(path: Path, *place: int | str) -> str:
    """Return ``line <n>: `` for what a file that was read says at *place*."""
    node = yaml.compose(_text(path), yaml.SafeLoader)
    found, _ = _locate(node, place)
    return _line_of(found.start_mark if found else None)


def _text(path: Path) -> str:
    if path.suffix != ".yaml":
        raise YamlFault("is not read: rename it to end in .yaml.")
    try:
        if not path.is_file():
            raise YamlFault("is not a plain file; put a YAML file there.")
        if path.stat().st_size > SIZE_LIMIT:
            raise YamlFault(f"is over {SIZE_LIMIT} bytes; split it or remove what is not used.")
        content = path.read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise YamlFault(f"can't be read ({error.strerror}); mend its permissions.") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise YamlFault(f"line {line}: not UTF-8; save the file in UTF-8.") from error


def _line_of(mark: object) -> str:
    line: int | None = getattr(mark, "line", None)
    return "" if line is None else f"line {line + 1}: "


def _fault_at(mark: object, what: str) -> YamlFault:
    return YamlFault(f"{_line_of(mark)}{what}.")


def _check_bounds(text: str) -> None:
    """Refuse what would cost more to build than to read, before it is built."""
    open_anchors: list[str | None] = []
    shared = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            open_anchors.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        shared += event.anchor is not None
        if isinstance(event, yaml.AliasEvent) and event.anchor in open_anchors:
            raise _fault_at(event.start_mark, "an alias inside its own anchor; write the part out")
        if shared > ALIAS_LIMIT:
            what = f"over {ALIAS_LIMIT} anchors and aliases; write them out"
            raise _fault_at(event.start_mark, what)
        if isinstance(event, yaml.CollectionStartEvent):
            open_anchors.append(event.anchor)
            if len(open_anchors) > DEPTH_LIMIT:
                raise _fault_at(event.start_mark, f"nested over {DEPTH_LIMIT} deep; flatten it")


class _Loader(yaml.SafeLoader):
    """Safe YAML with unique keys, decimal fractions, and a line for every bad value."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002 - PyYAML's signature.
        try:
            return super().construct_object(node, deep)  # pyright: ignore[reportUnknownMemberType] - the stub leaves *node* open.
        except (ValueError, InvalidOperation) as error:
            what = "a number or date that is none; quote or mend it"
            raise _fault_at(node.start_mark, what) from error

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature.
        seen: set[str] = set()
        for key, _ in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
            if name in seen:
                raise _fault_at(key.start_mark, "a key that stands twice; keep one")
            seen.add(name)
        return super().construct_mapping(node, deep)

    def construct_decimal(self, node: yaml.ScalarNode) -> Decimal:
        """Return a fraction exactly as it is written."""
        return Decimal(str(self.construct_scalar(node)).replace("_", ""))


_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_decimal)


def _sentence(node: "yaml.Node | None", error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)
    faults = [one for one in found if not _follows(one, found)]
    told = [_fault(node, fault) for fault in faults[:_MOST_FAULTS]]
    if len(faults) > _MOST_FAULTS:
        told.append(f"and {len(faults) - _MOST_FAULTS} more")
    return "; ".join(told) + "."


def _follows(fault: ErrorDetails, all_found: Sequence[ErrorDetails]) -> bool:
    """Say whether a list is called too short for the faults of its own entries alone."""
    loc = fault["loc"]
    inner = (one["loc"] for one in all_found if len(one["loc"]) > len(loc))
    return fault["type"] == "too_short" and any(one[: len(loc)] == loc for one in inner)


def _fault(node: "yaml.Node | None", fault: ErrorDetails) -> str:
    found, place = _locate(node, fault["loc"])
    if fault["type"] == "missing":
        place = [*place, str(fault["loc"][-1])]
    what = {
        "missing": "is missing; add it",
        "extra_forbidden": "is not a known field; remove it or mend its spelling",
        # Pydantic's own words would repeat what the file holds.
        "union_tag_invalid": f"kind must be one of {fault.get('ctx', {}).get('expected_tags')}",
    }.get(fault["type"], fault["msg"].removeprefix("Value error, "))
    name = ".".join(place)
    # A rule over several fields begins with the one to mend.
    line = _line_of(
        _key_mark(found, what.partition(": ")[0]) or (found.start_mark if found else None)
    )
    return f"{line}{name}: {what}" if name else f"{line}{what}"


def _key_mark(node: "yaml.Node | None", name: str) -> "yaml.Mark | None":
    """Return where *node*, if it is a mapping, names a field."""
    if not isinstance(node, yaml.MappingNode):
        return None
    pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
    return next((key.start_mark for key, _ in pairs if key.value == name), None)


def _locate(
    node: "yaml.Node | None", place: Sequence[int | str]
) -> tuple["yaml.Node | None", list[str]]:
    """Return the node that *place* leads to, and the names on the way.

    A part that names no child (the tag of a union, a missing field) is passed over.
    """
    names: list[str] = []
    for part in place:
        if isinstance(node, yaml.MappingNode):
            pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
            child = next((value for key, value in pairs if key.value == str(part)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            child = cast("list[yaml.Node]", node.value)[part]
        else:
            child = None
        if child is not None:
            node = child
            names.append(str(part))
    return node, names
