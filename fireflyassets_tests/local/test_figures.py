"""The figures, worked out from a recorded list of calls."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from fireflyassets.local import figures
from fireflyassets.local.figures import Call

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)

RECORDED: list[dict[str, object]] = [
    # As the twin lists them; a token or a poll never has a row.
    {
        "id": "call-000001",
        "at": "2026-11-30T12:00:00+00:00",
        "family": "firefly",
        "endpoint": "generate",
        "status": 202,
        "accepted": True,
        "billed": True,
        "operations": "0.5",
        "polls": 2,
    },
    {
        "id": "call-000002",
        "at": "2026-11-30T12:00:01.250000+00:00",
        "family": "firefly",
        "endpoint": "generate",
        "status": 429,
        "accepted": False,
        "billed": False,
        "operations": "0",
        "polls": 0,
    },
    {
        "id": "call-000003",
        "at": "2026-11-30T12:00:02.500000+00:00",
        "family": "firefly",
        "endpoint": "generate",
        "status": 202,
        "accepted": True,
        "billed": True,
        "operations": "0.5",
        "polls": 3,
    },
    {
        "id": "call-000004",
        "at": "2026-11-30T12:00:03+00:00",
        "family": "photoshop",
        "endpoint": "composite",
        "status": None,
        "accepted": True,
        "billed": True,
        "operations": "1",
        "polls": 1,
    },
    {
        "id": "call-000005",
        "at": "2026-11-30T12:00:04+00:00",
        "family": "photoshop",
        "endpoint": "composite",
        "status": 202,
        "accepted": True,
        "billed": False,
        "operations": "1",
        "polls": 1,
    },
]


def generate_at(*seconds: float) -> Sequence[Call]:
    return [
        Call(f"call-{n}", NOON + timedelta(seconds=at), "generate", 202, True, Decimal("0.5"), 2)  # noqa: FBT003 - the record's order.
        for n, at in enumerate(seconds)
    ]


def test_recorded_list_adds_up() -> None:
    """A call that was accepted but not billed is counted as a call and costs nothing."""
    calls = figures.read_calls(RECORDED)

    assert figures.accepted_by_kind(calls) == {"generate": 2, "composite": 2}
    assert figures.billed(calls) == Decimal("2.0")
    assert figures.throttled(calls) == 1
    assert figures.polls_per_call(calls) == Decimal("1.75")


def test_only_calls_after_an_earlier_copy_count() -> None:
    calls = figures.read_calls(RECORDED)

    assert [call.call_id for call in figures.since(calls, calls[:3])] == [
        "call-000004",
        "call-000005",
    ]
    assert figures.since(calls, calls) == ()


@pytest.mark.parametrize(
    ("times", "use"),
    [
        ((0, 1.25, 2.5, 3.75), Decimal("1.000")),  # A call at each step of 48 a minute.
        ((0, 2.5, 5.0), Decimal("0.500")),  # At every second one.
        ((5.0, 0, 2.5), Decimal("0.500")),  # In whatever order the list has them.
        ((0, 1.0), Decimal("1.250")),  # Faster than the pace shows as more than all of it.
    ],
)
def test_limiter_use_counts_steps_not_calls(times: tuple[float, ...], use: Decimal) -> None:
    """Counting calls would make a perfect limiter look too fast, the more so the fewer calls."""
    assert figures.limiter_use(generate_at(*times), paced_per_minute=Decimal(48)) == use


def test_limiter_use_needs_a_span() -> None:
    assert figures.limiter_use(generate_at(3), paced_per_minute=Decimal(48)) is None
    assert figures.limiter_use([], paced_per_minute=Decimal(48)) is None


def test_refused_calls_do_not_lengthen_the_span() -> None:
    """Call 2 of the recording was refused: 1 step in 2.5 s at 24 a minute is all of it."""
    calls = figures.read_calls(RECORDED)

    assert figures.limiter_use(calls, paced_per_minute=Decimal(24)) == Decimal("1.000")


def test_no_calls_ask_no_polls() -> None:
    assert figures.polls_per_call([]) == Decimal(0)
