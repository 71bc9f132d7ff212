"""YAML files nobody vouches for. Here: what is read, and what is refused with line and cure."""

import os
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from fireflyassets.adapters import yaml_file
from fireflyassets.adapters.yaml_file import YamlFault


class Inner(BaseModel):
    """A part of a file."""

    model_config = ConfigDict(extra="forbid")

    price: Decimal
    since: date | None = None


class Shape(BaseModel):
    """A file."""

    model_config = ConfigDict(extra="forbid")

    name: str
    parts: tuple[Inner, ...] = ()
    shared: object = None


def read(folder: Path, text: str | bytes) -> Shape:
    path = folder / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return yaml_file.read(path, Shape)


def test_a_good_file_is_read(tmp_path: Path) -> None:
    """Fractions come out as they are written, without a binary float between."""
    told = read(tmp_path, "\ufeffname: a\nparts:\n  - price: 0.10\n    since: 2026-11-30\n")

    assert str(told.parts[0].price) == "0.10"
    assert told.parts[0].since == date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1: the file must hold one mapping"),
        ("- a\n", "line 1: the file must hold one mapping"),
        ("just text", "line 1: the file must hold one mapping"),
        ("name: a\n  b: c\n", "line 2: mapping values are not allowed here"),
        ("name: [a\n", "line 2: "),
        ("name: 'a\n", "line 2: "),
        ("name: a\n\tb: c\n", "line 2: "),
        ("name: a\nname: b\n", "line 2: a key that stands twice"),
        ("name: a\n---\nname: b\n", "line 2: but found another document"),
        (
            "name: !!python/object/apply:os.system [id]\n",
            "line 1: could not determine a constructor",
        ),
        ("name: !thing a\n", "line 1: could not determine a constructor"),
        (
            "name: a\nparts:\n - price: x\n",
            "line 3: parts.0.price: Input should be a valid decimal",
        ),
        ("name: a\nparts:\n - price: .inf\n", "line 3: a number or date that is none"),
        ("name: a\nparts:\n - price: .nan\n", "line 3: a number or date that is none"),
        ("name: a\nparts:\n - {}\n", "line 3: parts.0.price: is missing; add it"),
        ("name: a\ncolour: red\n", "line 2: colour: is not a known field"),
        ("name: 2026-13-45\n", "line 1: a number or date that is none"),
        ("name: " + "9" * 5_000 + "\n", "line 1: a number or date that is none"),
        ("name: no\n", "line 1: name: Input should be a valid string"),
        ("name: a\x07b\n", "line 1: a control character"),
        ("a: b\nname: a\x00b\n", "line 2: a control character"),
        ("name: a\nshared: " + "[" * 5_000 + "]" * 5_000, "line 2: nested over 20 deep"),
        ("name: &a [*a]\n", "line 1: an alias inside its own anchor"),
        ("name: *gone\n", "line 1: found undefined alias"),
        ("? [a]\n: b\n", "line 1: found unhashable key"),
    ],
)
def test_bad_files_are_refused_with_line_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    """Whoever wrote it finds the place at once."""
    with pytest.raises(YamlFault) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(reason)
    assert caught.value.remedy


def test_aliases_within_bounds_are_read(tmp_path: Path) -> None:
    """A few shared lines are no attack."""
    told = read(tmp_path, "name: a\nshared: [&x {y: 1}, *x, *x]\n")

    assert told.shared == [{"y": 1}] * 3


def test_an_alias_bomb_is_refused_before_it_is_built(tmp_path: Path) -> None:
    """Nine levels of nine would be a billion items."""
    levels = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    levels += [
        f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]

    with pytest.raises(YamlFault, match="over 16 anchors and aliases"):
        read(tmp_path, "\n".join(levels))


def test_size_is_bounded_before_the_file_is_read(tmp_path: Path) -> None:
    """A file of the wrong kind costs nothing."""
    with pytest.raises(YamlFault, match="is over 65536 bytes"):
        read(tmp_path, "name: " + "x" * yaml_file.SIZE_LIMIT)


def test_other_encodings_are_named_by_line(tmp_path: Path) -> None:
    with pytest.raises(YamlFault, match="line 2: not UTF-8"):
        read(tmp_path, "name: a\ncolour: grün\n".encode("latin-1"))


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    """A folder, a pipe, a dead link: reading must neither fail nor wait."""
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "link.yaml").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe.yaml")

    for name in ("folder", "link", "pipe"):
        with pytest.raises(YamlFault, match="is not a plain file"):
            yaml_file.read(tmp_path / f"{name}.yaml", Shape)


def test_reasons_never_show_what_a_file_holds(tmp_path: Path) -> None:
    """A secret that stands in the wrong field must not reach a log."""
    with pytest.raises(YamlFault) as caught:
        read(tmp_path, "name: [SECRETWORD]\ncolour: SECRETWORD\nparts: {price: SECRETWORD}\n")
    assert "SECRETWORD" not in str(caught.value)


def test_many_faults_are_told_up_to_a_bound(tmp_path: Path) -> None:
    """All at once, but not by the hundred."""
    with pytest.raises(YamlFault) as caught:
        read(tmp_path, "name: a\nparts:\n" + " - price: x\n" * 50)
    assert str(caught.value).count("parts.") == 10
    assert str(caught.value).endswith("and 40 more.")
