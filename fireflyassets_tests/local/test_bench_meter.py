"""The meter of ``make bench-aws-calls``: what a write takes, by AWS's own rules."""

from collections.abc import Callable
from types import ModuleType

import pytest

TABLE = {
    "KeySchema": [{"AttributeName": "id"}],
    "GlobalSecondaryIndexes": [
        {
            "KeySchema": [{"AttributeName": "line"}, {"AttributeName": "place"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        },
        {
            "KeySchema": [{"AttributeName": "campaign"}],
            "Projection": {"ProjectionType": "ALL"},
        },
    ],
}
BASE = {"id": {"S": "1"}, "campaign": {"S": "spring"}}
QUEUED = {**BASE, "line": {"S": "a"}, "place": {"S": "1"}}


@pytest.fixture
def meter(bench_module: Callable[[str], ModuleType]) -> ModuleType:
    """Load the program without running it."""
    return bench_module("metered_aws")


@pytest.mark.parametrize(
    ("item", "size"),
    [
        ({"id": {"S": "ä"}}, 4),
        ({"n": {"N": "123.45"}}, 5),
        ({"yes": {"BOOL": True}}, 4),
        ({"outputs": {"L": [{"S": "ab"}, {"S": "c"}]}}, 7 + 3 + 3 + 2),
        ({"hold": {"M": {"by": {"S": "me"}}}}, 4 + 3 + 1 + 4),
        ({"tags": {"SS": ["a", "bc"]}}, 7),
    ],
)
def test_an_item_is_as_large_as_its_names_and_values(
    meter: ModuleType, item: dict[str, object], size: int
) -> None:
    """The size decides how many units a write takes."""
    assert meter.item_bytes(item) == size


@pytest.mark.parametrize(
    ("before", "after", "taken"),
    [
        (None, BASE, [1]),
        (None, QUEUED, [1, 1]),
        (QUEUED, {**QUEUED, "note": {"S": "x"}}, [1]),
        (QUEUED, {**QUEUED, "place": {"S": "2"}}, [1, 1, 1]),
        (QUEUED, BASE, [1, 1]),
        (BASE, BASE, []),
        (BASE, {**BASE, "note": {"S": "x" * 2000}}, [2]),
    ],
)
def test_an_index_is_written_where_what_it_holds_changes(
    meter: ModuleType,
    before: dict[str, object] | None,
    after: dict[str, object] | None,
    taken: list[int],
) -> None:
    """Twice where its key moves, not at all where it holds nothing of the change."""
    assert meter.index_units(TABLE, before, after) == taken
