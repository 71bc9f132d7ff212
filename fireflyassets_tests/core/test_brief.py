"""Brief files, good and bad. Here: bytes to rows and problems. Not here: what rows may say."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core import brief
from fireflyassets.core.brief import HEADER, Brief, read_csv, read_json_lines
from fireflyassets.core.request import Problem, RawRequest

HEAD = ",".join(HEADER)
ROW = "k1,A glass,en-GB,Spring,1920x1080|1080x1080"


def sheet(*rows: str, head: str = HEAD) -> bytes:
    return "\n".join([head, *rows]).encode()


def found(told: Brief) -> list[tuple[int | None, str, str]]:
    """Return (row, column, rule) of every problem, and check that each says what to do."""
    problems = [*told.problems, *(problem for row in told.rows for problem in row.problems)]
    assert all(problem.fix and problem.message for problem in problems)
    return [(problem.row, problem.field, problem.rule) for problem in problems]


def test_a_good_file_gives_its_rows() -> None:
    """Row numbers are the spreadsheet's, the header being row 1."""
    told = read_csv(sheet(ROW, 'k2,"Mint, lemon ""cold""",de-DE,Frisch,1080x1080'))

    assert found(told) == []
    assert [row.number for row in told.rows] == [2, 3]
    assert told.rows[1].raw == RawRequest(
        "k2", 'Mint, lemon "cold"', "de-DE", "Frisch", ("1080x1080",)
    )
    assert told.rows[0].raw is not None
    assert told.rows[0].raw.aspects == ("1920x1080", "1080x1080")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_are_read(end: str) -> None:
    """What Windows, Unix and old spreadsheets write gives the same rows."""
    told = read_csv(sheet(ROW, ROW.replace("k1", "k2")).replace(b"\n", end.encode()))

    assert [row.raw.key for row in told.rows if row.raw] == ["k1", "k2"]


def test_byte_order_mark_is_no_part_of_the_header() -> None:
    """Spreadsheets write one; the first column is still `key`."""
    assert found(read_csv(b"\xef\xbb\xbf" + sheet(ROW))) == []


def test_semicolons_separate_as_well() -> None:
    """German spreadsheets write them; the header shows which it is, commas stay in the text."""
    told = read_csv(sheet(*["k1;Mint, lemon;de-DE;Frisch;1080x1080"], head=";".join(HEADER)))

    assert found(told) == []
    assert told.rows[0].raw is not None
    assert told.rows[0].raw.prompt == "Mint, lemon"


def test_latin_1_is_named_by_row_and_column() -> None:
    """A byte that is no UTF-8 costs its own row, not the file."""
    content = sheet(ROW, "k2,Glas,de-DE,Frühling,1080x1080").decode().encode("latin-1")

    told = read_csv(content)

    assert found(told) == [(3, "headline", "encoding")]
    assert "UTF-8" in told.rows[1].problems[0].fix


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_as_a_whole(encoding: str) -> None:
    """The "Unicode text" of spreadsheets is named, not read as garbage."""
    told = read_csv(sheet(ROW).decode().encode(encoding))

    assert told.rows == ()
    assert {rule for _, _, rule in found(told)} <= {"encoding", "header"}
    assert found(told)


@pytest.mark.parametrize(
    ("head", "column"),
    [
        ("key,prompt,locale,headline", "aspects"),
        ("key,prompt,headline,locale,aspects", "locale"),
        ("Key,prompt,locale,headline,aspects", "key"),
        ("key,prompt,locale,headline,aspects,extra", "aspects"),
        ("key\tprompt\tlocale\theadline\taspects", "key"),
        ("hello", "key"),
        (ROW, "key"),
        ('"key', "key"),
    ],
)
def test_a_wrong_header_refuses_the_file(head: str, column: str) -> None:
    """No guess is made about columns: the first wrong one is named, with the right header."""
    told = read_csv(sheet(ROW, head=head))

    assert found(told) == [(1, column, "header")]
    assert told.rows == ()
    assert HEAD in told.problems[0].fix


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("Key,Prompt,Locale", "has 'Key' where the column key must be. Names of columns are"),
        ("key,,locale", "has nothing where the column prompt must be."),
        (f"{HEAD},extra", f"has {len(HEADER) + 1} columns or more; a brief has {len(HEADER)}, or"),
        ("key,prompt", "lacks the column locale."),
        ("id;name", "has 'id' where the column key must be."),
    ],
)
def test_a_wrong_header_is_told_with_what_was_found(head: str, told: str) -> None:
    """Whoever made the file sees which cell is meant, and why it does not do."""
    (problem,) = read_csv(sheet(ROW, head=head)).problems

    assert told in problem.message


@pytest.mark.parametrize("begins", [b"PK\x03\x04\x14\x00", b"\xd0\xcf\x11\xe0\xa1"])
def test_a_workbook_is_called_a_workbook(begins: bytes) -> None:
    """A file that was only renamed to .csv is the commonest slip there is."""
    (problem,) = read_csv(begins + b"\0" * 2_000).problems

    assert "an Excel workbook" in problem.message
    assert "CSV UTF-8" in problem.fix


def test_a_million_columns_cost_one_row() -> None:
    """A row far too long is not even split, and its neighbours are read."""
    told = read_csv(sheet("x" + "," * 1_000_000, ROW))

    assert found(told) == [(2, "", "row-length")]
    assert told.rows[1].raw is not None


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ("k1,A glass,en-GB,Spring", "aspects"),
        ("k1", "prompt"),
        ("k1,A glass, very cold,en-GB,Spring,1080x1080", "aspects"),
    ],
)
def test_wrong_number_of_cells_is_told_with_its_row(row: str, column: str) -> None:
    """An unquoted comma shifts all columns, so the row is never half believed."""
    told = read_csv(sheet(row, ROW.replace("k1", "k9")))

    assert found(told) == [(2, column, "cells")]
    assert [each.raw is None for each in told.rows] == [True, False]


def test_a_quote_that_nobody_closes_costs_one_row() -> None:
    """The rest of the file is not swallowed by it."""
    told = read_csv(
        sheet('k1,"A glass,en-GB,Spring,1080x1080', "k2,b,en-GB,c,1x1", "k3,b,en-GB,c,1x1")
    )

    assert found(told) == [(2, "", "quote")]
    assert [row.raw.key for row in told.rows if row.raw] == ["k2", "k3"]


def test_text_behind_a_closing_quote_costs_one_row() -> None:
    """Half-quoted cells are not guessed at."""
    assert found(read_csv(sheet('k1,"A" glass,en-GB,Spring,1080x1080', ROW))) == [(2, "", "quote")]


def test_a_cell_with_a_line_break_is_one_row() -> None:
    """Rows are counted as the spreadsheet counts them; intake then names the line break."""
    told = read_csv(sheet('k1,"A\nglass",en-GB,Spring,1080x1080', ROW.replace("k1", "k2")))

    assert [(row.number, row.raw.key) for row in told.rows if row.raw] == [(2, "k1"), (3, "k2")]
    assert told.rows[0].raw is not None
    assert told.rows[0].raw.prompt == "A\nglass"


def test_repeated_key_names_both_rows() -> None:
    """The later row is refused and says where the first one stands; spaces make no new key."""
    told = read_csv(sheet(ROW, ROW.replace("k1", "k2"), ROW.replace("k1", " k1 ")))

    assert found(told) == [(4, "key", "repeated")]
    assert "row 2" in told.rows[2].problems[0].message


def test_nul_bytes_stay_in_the_cell_they_came_in() -> None:
    """They reach the rule about control characters, which names row and column."""
    told = read_csv(sheet("k1,A\0glass,en-GB,Spring,1080x1080"))

    assert told.rows[0].raw is not None
    assert "\0" in told.rows[0].raw.prompt


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(content: bytes) -> None:
    """Nothing in it is a fault, not a success with no jobs."""
    assert {rule for _, _, rule in found(read_csv(content))} <= {"empty", "header"}
    assert found(read_csv(content))
    assert found(read_json_lines(content))


def test_a_header_alone_is_refused() -> None:
    """Blank rows below it do not count."""
    assert found(read_csv(sheet("", ",,,,"))) == [(1, "", "empty")]


def test_blank_rows_are_passed_over_but_counted() -> None:
    """Row numbers still are the spreadsheet's."""
    told = read_csv(sheet(ROW, "", ",,,,", ROW.replace("k1", "k2")))

    assert [row.number for row in told.rows] == [2, 5]


@pytest.mark.parametrize("blank", ["", ",,,,", '"\n\n"'])
def test_blank_rows_are_bounded_too(blank: str) -> None:
    """Eight megabytes of them would keep a thread busy for half a minute."""
    assert [row.number for row in read_csv(sheet(*[blank] * 1_000, ROW)).rows] == [1_002]
    assert found(read_csv(sheet(*[blank] * (brief.MOST_ROWS + 1), ROW))) == [(None, "", "rows")]


def test_blank_lines_are_bounded_too() -> None:
    assert found(read_json_lines(b"\n" * (brief.MOST_ROWS + 1) + b"{}")) == [(None, "", "rows")]


def test_size_and_rows_are_bounded() -> None:
    """A file over either bound is refused as a whole."""
    too_many = [f"k{n},A,en-GB,B,1x1" for n in range(brief.MOST_ROWS + 1)]

    assert found(read_csv(sheet(*too_many[:-1]))) == []
    assert found(read_csv(sheet(*too_many))) == [(None, "", "rows")]
    assert found(read_csv(b"x" * (brief.FILE_LIMIT + 1))) == [(None, "", "size")]


def test_garbage_is_given_up_on() -> None:
    """After a hundred rows that can't be read the file is something else."""
    told = read_csv(sheet(*["no table" for _ in range(5_000)]))

    assert (None, "", "rows") in found(told)
    assert len(told.rows) <= 101


CELL = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
KEY = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True)


@given(
    rows=st.lists(
        st.tuples(KEY, CELL, st.just("en-GB"), CELL, st.just("1x1|2x2")),
        min_size=1,
        max_size=8,
        unique_by=lambda row: row[0],
    ),
    delimiter=st.sampled_from(",;"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_a_csv_writer_writes_is_read_back(
    rows: list[tuple[str, str, str, str, str]], delimiter: str, encoding: str, end: str
) -> None:
    """Whatever the cells hold, a well-formed file gives them back letter by letter."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([HEADER, *rows])

    told = read_csv(out.getvalue().encode(encoding))

    # More than 20 line breaks in one row are refused; no cell here can hold as many by chance.
    read = [row.raw for row in told.rows if row.raw]
    long = [row for row in rows if sum(map("".join(row).count, "\r\n")) > 15]
    if not long:
        assert [(raw.key, raw.prompt, raw.headline) for raw in read] == [
            (key, prompt, headline) for key, prompt, _, headline, _ in rows
        ]


@given(content=st.binary(max_size=300))
def test_any_bytes_are_answered(content: bytes) -> None:
    """No file makes the reader fail: it gives rows or problems."""
    for told in (read_csv(content), read_csv(sheet() + b"\n" + content), read_json_lines(content)):
        assert told.rows or told.problems


# -- JSON lines -------------------------------------------------------------------------------
GOOD = {
    "idempotencyKey": "k1",
    "prompt": "A glass",
    "locale": "en-GB",
    "headline": "Spring",
    "aspects": ["1080x1080"],
}


def lines(*objects: object) -> bytes:
    return "\n".join(json.dumps(each) for each in objects).encode()


def test_json_lines_give_the_same_requests_as_csv() -> None:
    """Both doors read one form."""
    told = read_json_lines(lines(GOOD))

    assert told.rows[0].raw == read_csv(sheet("k1,A glass,en-GB,Spring,1080x1080")).rows[0].raw


@pytest.mark.parametrize(
    ("line", "column", "rule"),
    [
        (b"{", "", "json"),
        (b"[]", "", "type"),
        (b"7", "", "type"),
        (b"[" * 10_000, "", "json"),
        (b"9" * 10_000, "", "json"),
        (b'{"idempotencyKey": "a", "idempotencyKey": "b"}', "idempotencyKey", "repeated"),
        (b'{"idempotencyKey": 7}', "idempotencyKey", "type"),
        (b'{"prompt": NaN}', "prompt", "type"),
        (b'{"colour": "red"}', "colour", "unknown"),
        (b'{"aspects": "1x1"}', "aspects", "type"),
        (b'{"prompt": "Fr\xfchling"}', "", "encoding"),
        (b'{"prompt": "' + b"x" * 20_000 + b'"}', "", "row-length"),
    ],
)
def test_bad_lines_cost_one_row(line: bytes, column: str, rule: str) -> None:
    """Each is named by row, column and rule, and the next line is read."""
    told = read_json_lines(line + b"\n" + lines(GOOD))

    assert found(told) == [(1, column, rule)]
    assert told.rows[1].raw is not None


def test_json_lines_name_repeated_keys() -> None:
    """As in CSV, the later one is refused."""
    assert found(read_json_lines(lines(GOOD, GOOD))) == [(2, "idempotencyKey", "repeated")]


def test_one_object_is_read_with_its_mark_or_refused() -> None:
    """A single body follows the same rules as a line."""
    assert brief.json_object(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    assert isinstance(brief.json_object(b"\xff"), Problem)
