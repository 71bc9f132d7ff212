"""The form of what commands take and print: words that are kept, and tables for people.

Belongs here: what several commands share. Does not: what any of them says.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime


def said(text: str) -> str:
    """Return what stands beside a decision for good.

    Raises:
        ArgumentTypeError: It says nothing.
    """
    if not text.strip():
        raise argparse.ArgumentTypeError("it is kept for good: write it out")
    return text.strip()


def stamp(at: datetime | None) -> str:
    """Return a time as tables show it; empty where there is none."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def table(head: Sequence[str], rows: Iterable[Mapping[str, str]], *, nothing: str) -> str:
    """Return rows by name as a table, or the sentence *nothing* where there is none."""
    lines = [[row[name] for name in head] for row in rows]
    # A head alone could pass for a table that was cut off.
    return "\n".join(columns([head, *lines])) if lines else nothing


def listing(
    head: Sequence[str], rows: Sequence[Mapping[str, str]], *, nothing: str, as_json: bool
) -> str:
    """Return rows by name as a table, or as JSON for programs."""
    return json.dumps(rows, indent=2) if as_json else table(head, rows, nothing=nothing)


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines whose cells stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
