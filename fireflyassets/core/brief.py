"""Briefs: files of requests (CSV, JSON lines), read row by row without believing them.

Belongs here: bytes to raw requests, each fault with its row, column, rule and fix; a bad row never
hides a good one. Does not: what a request may say (``core/request.py``), writing anything.

A CSV brief is UTF-8, with or without a byte-order mark, its columns `HEADER` in this order, or
`WITH_REFERENCE`, cells split by commas or by semicolons (what spreadsheets write in half of
Europe), the aspects of a job split by ``|``. A JSON-lines brief holds one object in each line,
with the names of a single job.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from fireflyassets.core.request import Problem, RawRequest, raw_request, shown, sized

HEADER: Final = ("key", "prompt", "locale", "headline", "aspects")
WITH_REFERENCE: Final = (*HEADER, "reference")
"""Of briefs whose jobs bring pictures; a cell may be empty."""
ASPECT_SEPARATOR: Final = "|"

FILE_LIMIT: Final = 8 * 1024 * 1024
"""Bytes of a brief."""
ROW_LIMIT: Final = 16 * 1024
"""Code points of a row of CSV, bytes of a line of JSON: ten times what a legal one needs."""
MOST_ROWS: Final = 10_000
"""Jobs in a brief: what a campaign's partitions are kept under."""
_MOST_LINES_OF_ROW: Final = 20
_MOST_UNREADABLE: Final = 100
"""Rows that can't be read at all, after which reading stops: the file is something else."""

_BOM: Final = "\ufeff"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_WORKBOOKS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How workbooks begin: those of today, which are ZIP archives, and those of before 2007."""
_SAVE_AS_UTF8: Final = 'Save the file as "CSV UTF-8".'


@dataclass(frozen=True, slots=True)
class Row:
    """One row: what it asks, as far as it can be read, and what is wrong with its form."""

    number: int | None
    """As a spreadsheet counts, the header being row 1; None for a request that is not in a file."""
    raw: RawRequest | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Brief:
    """A file of requests; with *problems* of the file as a whole, none of its rows may be used."""

    rows: tuple[Row, ...]
    problems: tuple[Problem, ...] = ()


def read_csv(content: bytes) -> Brief:
    """Return the rows of a CSV file."""
    if fault := _whole_fault(content):
        return Brief((), (fault,))
    lines = list(io.StringIO(content.decode("utf-8", "surrogateescape"), newline=""))
    lines[0] = lines[0].removeprefix(_BOM)
    for delimiter in (",", ";"):
        said, _ = _record(lines, 0, delimiter)
        for header in (HEADER, WITH_REFERENCE):
            if said == list(header):
                return _checked(_csv_rows(lines, delimiter, header))
    return Brief((), (_header_fault(lines[0]),))


def read_json_lines(content: bytes) -> Brief:
    """Return the rows of a JSON-lines file; its first line is row 1."""
    if fault := _whole_fault(content):
        return Brief((), (fault,))
    lines = content.removeprefix(_BOM.encode()).split(b"\n")
    return _checked(_json_row(n, line) if line.strip() else None for n, line in enumerate(lines, 1))


def json_object(content: bytes | str) -> Mapping[str, object] | Problem:
    """Return the object that *content* holds, or why it holds none. Names must not repeat."""
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
        value: object = json.loads(text, object_pairs_hook=_unique)
    except UnicodeDecodeError:
        return Problem("", "encoding", "The text is not UTF-8.", "Send it in UTF-8.")
    except _Repeated as error:
        return Problem(str(error), "repeated", f"{error} stands twice.", "Name it once.")
    except (ValueError, RecursionError):
        return Problem("", "json", "The text is not JSON.", "Send one JSON object.")
    if not isinstance(value, dict):
        return Problem("", "type", "The text is JSON, but no object.", "Send one JSON object.")
    return cast("Mapping[str, object]", value)


class _Repeated(ValueError):
    """A name that stands twice in one JSON object: which value counts is anybody's guess."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise _Repeated(shown(name))
        found[name] = value
    return found


def _whole_fault(content: bytes) -> Problem | None:
    if len(content) > FILE_LIMIT:
        sentence = f"The file is over {sized(FILE_LIMIT)}."
        return Problem("", "size", sentence, "Split it into smaller files.")
    if content.startswith(_WORKBOOKS):
        sentence = "The file is an Excel workbook or a ZIP archive, not text."
        return Problem("", "media-type", sentence, _SAVE_AS_UTF8, row=1)
    if content.startswith(_UTF16):
        return Problem("", "encoding", "The file is UTF-16.", _SAVE_AS_UTF8, row=1)
    if not content.strip():
        return Problem("", "empty", "The file is empty.", "Send at least one job.", row=1)
    return None


def _header_fault(line: str) -> Problem:
    said = [_unquoted(cell.strip()) for cell in line[:ROW_LIMIT].replace(";", ",").split(",")]
    wrong = next((n for n, (name, cell) in enumerate(zip(HEADER, said)) if name != cell), None)  # noqa: B905 - they may differ in length.
    place = min(len(said), len(HEADER) - 1) if wrong is None else wrong
    return Problem(
        HEADER[place],
        "header",
        _found_in_header(said, wrong),
        f"Make the first row exactly {','.join(HEADER)}, with or without ,{WITH_REFERENCE[-1]}.",
        row=1,
    )


def _unquoted(cell: str) -> str:
    whole = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1] if whole else cell


def _found_in_header(said: list[str], wrong: int | None) -> str:
    """Say what a header has that it must not have, or lacks."""
    if wrong is None and len(said) > len(HEADER):
        return (
            f"The header has {len(said)} columns or more; a brief has {len(HEADER)}, or "
            f"{len(WITH_REFERENCE)} with {WITH_REFERENCE[-1]}."
        )
    if wrong is None:
        return f"The header lacks the column {HEADER[len(said)]}."
    name, cell = HEADER[wrong], said[wrong]
    if not cell:
        return f"The header has nothing where the column {name} must be."
    small = " Names of columns are written small." if cell.lower() == name else ""
    return f"The header has '{shown(cell)}' where the column {name} must be.{small}"


def _checked(rows: Iterator[Row | None]) -> Brief:
    """Collect rows within the bounds, None being a blank one; a repeated key is a problem."""
    found: list[Row] = []
    first: dict[str, int] = {}
    unreadable = blank = 0
    for row in rows:
        if row is None:
            blank += 1
            if blank > MOST_ROWS:
                return Brief((), (_too_many(f"The file has more than {MOST_ROWS} blank rows."),))
            continue
        if len(found) == MOST_ROWS:
            return Brief((), (_too_many(f"The file has more than {MOST_ROWS} jobs."),))
        unreadable += row.raw is None
        if unreadable > _MOST_UNREADABLE:
            fault = _too_many(f"More than {_MOST_UNREADABLE} rows can't be read; reading stopped.")
            return Brief(tuple(found), (fault,))
        found.append(_unless_repeated(row, first))
    if not found:
        return Brief((), (Problem("", "empty", "The file has no jobs.", "Add rows.", row=1),))
    return Brief(tuple(found))


def _too_many(sentence: str) -> Problem:
    return Problem("", "rows", sentence, "Mend or split the file.")


def _unless_repeated(row: Row, first: dict[str, int]) -> Row:
    if row.raw is None or not row.raw.key:
        return row
    earlier = first.setdefault(row.raw.key, row.number or 0)
    if earlier == row.number:
        return row
    fault = Problem(
        row.raw.key_field,
        "repeated",
        f"The key was used in row {earlier}.",
        "Give each job its own key.",
        row=row.number,
    )
    return replace(row, problems=(*row.problems, fault))


# -- CSV --------------------------------------------------------------------------------------
def _csv_rows(lines: list[str], delimiter: str, header: tuple[str, ...]) -> Iterator[Row | None]:
    at, number = 1, 1
    while at < len(lines):
        cells, used = _record(lines, at, delimiter)
        at += used
        number += 1
        if isinstance(cells, Problem):
            yield Row(number, None, (replace(cells, row=number),))
        else:
            yield _csv_row(number, cells, header) if any(cell.strip() for cell in cells) else None


def _record(lines: list[str], at: int, delimiter: str) -> tuple[list[str] | Problem, int]:
    """Return the cells that start at line *at* and how many lines they take.

    A cell may hold line breaks within bounds; a quote that nobody closes costs only its own line,
    not the rest of the file.
    """
    if len(lines[at]) > ROW_LIMIT:
        sentence = f"The row has {len(lines[at])} code points; at most {ROW_LIMIT} are allowed."
        return Problem("", "row-length", sentence, "Shorten it, or remove empty columns."), 1
    for end in range(at + 1, min(at + _MOST_LINES_OF_ROW, len(lines)) + 1):
        if sum(map(len, lines[at:end])) > ROW_LIMIT:
            break
        try:
            return next(csv.reader(lines[at:end], delimiter=delimiter, strict=True)), end - at
        except csv.Error:
            continue
    return Problem(
        "",
        "quote",
        "The row can't be split into cells: a quote is not closed, or text follows it.",
        'Write a quote inside a cell twice (""), and quote the whole cell.',
    ), 1


def _csv_row(number: int, cells: list[str], header: tuple[str, ...]) -> Row:
    if len(cells) != len(header):
        column = header[min(len(cells), len(header) - 1)]
        sentence = f"The row has {len(cells)} cells; {len(header)} are needed."
        fix = "Quote a cell that holds the separator, or add the cell that is missing."
        return Row(number, None, (Problem(column, "cells", sentence, fix, row=number),))
    key, prompt, locale, headline, aspects, *rest = cells
    reference = "".join(rest).strip()
    asked = tuple(part.strip() for part in aspects.split(ASPECT_SEPARATOR) if part.strip())
    raw = RawRequest(key.strip(), prompt, locale.strip(), headline, asked, reference)
    faults = (
        Problem(name, "encoding", f"{name} is not UTF-8.", _SAVE_AS_UTF8, row=number)
        for name, cell in zip(header, cells, strict=True)
        if any("\udc80" <= letter <= "\udcff" for letter in cell)
    )
    return Row(number, raw, tuple(faults))


# -- JSON lines -------------------------------------------------------------------------------
def _json_row(number: int, line: bytes) -> Row:
    if len(line) > ROW_LIMIT:
        sentence = f"The line has {len(line)} bytes; at most {ROW_LIMIT} are allowed."
        return Row(number, None, (Problem("", "row-length", sentence, "Shorten it.", number),))
    fields = json_object(line)
    raw = (fields,) if isinstance(fields, Problem) else raw_request(fields)
    if isinstance(raw, tuple):
        return Row(number, None, tuple(replace(problem, row=number) for problem in raw))
    return Row(number, raw)
