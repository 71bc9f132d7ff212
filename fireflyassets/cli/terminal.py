"""The form of what commands take and print: words that are kept, and tables for people.

Belongs here: what several commands share. Does not: what any of them says.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence


def said(text: str) -> str:
    """Return what stands beside a decision for good.

    Raises:
        ArgumentTypeError: It says nothing.
    """
    if not text.strip():
        raise argparse.ArgumentTypeError("it is kept for good: write it out")
    return text.strip()


def table(head: Sequence[str], rows: Iterable[Mapping[str, str]], *, nothing: str) -> str:
    """Return rows by name as a table, or the sentence *nothing* where there is none."""
    lines = [[row[name] for name in head] for row in rows]
    # A head alone could pass for a table that was cut off.
    return "\n".join(columns([head, *lines])) if lines else nothing


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows as lines whose cells stand below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
