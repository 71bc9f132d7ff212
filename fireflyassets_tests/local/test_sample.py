"""The demo's brief: split by door without losing or doubling a row."""

from pathlib import Path

import pytest

from fireflyassets.core import ids
from fireflyassets.core.brief import read_csv
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.request import RawRequest
from fireflyassets.local.sample import CUSTOMER, load, split

PROJECT = Path(__file__).parents[2]


def requests(count: int) -> list[RawRequest]:
    return [
        RawRequest(f"key-{n}", 'A "quoted", prompt', "ar-AE", "ربيع، منعش", ("1x1", "2x1"))
        for n in range(count)
    ]


def test_six_of_twenty_four_go_by_the_queue() -> None:
    made = split(requests(24))

    assert (len(made.by_api), len(made.by_queue)) == (18, 6)
    assert {each.key for each in made.all} == {each.key for each in requests(24)}


def test_api_gets_a_file_that_reads_back() -> None:
    made = split(requests(24))
    brief = read_csv(made.csv().encode())

    assert brief.problems == ()
    assert tuple(row.raw for row in brief.rows) == made.by_api


def test_job_ids_are_those_of_the_factory() -> None:
    made = split(requests(8))

    assert made.job_ids()[ids.job_id(CUSTOMER, "key-3")].key == "key-3"


def test_committed_brief_is_what_the_demo_promises() -> None:
    """24 jobs of three aspects, each locale through both doors, one of them right to left."""
    made = load(PROJECT)

    assert len(made.all) == 24
    assert {each.locale for each in made.by_api} == {each.locale for each in made.by_queue}
    assert "ar-AE" in {each.locale for each in made.by_queue}
    assert {len(each.aspects) for each in made.all} == {3}


def test_faulty_brief_is_named_by_row(tmp_path: Path) -> None:
    folder = tmp_path / "campaigns" / "acme" / "spring-launch"
    folder.mkdir(parents=True)
    (folder / "brief.csv").write_text("key,prompt,locale,headline,aspects\na,b,c\n")

    with pytest.raises(UnusableConfiguration, match=r"brief\.csv, row 2: The row has 3 cells"):
        load(tmp_path)


def test_missing_brief_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableConfiguration, match=r"brief\.csv cannot be read"):
        load(tmp_path)
