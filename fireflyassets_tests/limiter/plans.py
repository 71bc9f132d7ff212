"""What can happen to several processes that share an item.

Here: the operations, and how examples are drawn: delayed, repeated and stale calls over skewed
clocks, idle gaps and midnights, weighted by how much they find. Not here: running them.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

MAX_SKEW_US = 50_000

# Common ways first: uniform choice finds almost none of the broken protocols below.
KINDS = ["reserve"] * 8 + ["advance"] * 5 + ["idle"] * 2 + ["pause"] * 2 + ["repeat"] * 3
RARE = ["midnight", "override", "override", "clear"]
DELAYS = [0, 0, 0, 5, 20, 90, 400, 3_000]
SHORT = [1, 7, 24, 26, 124, 126, 400, 900, 1_100]
LONG = [5_200, 10_100, 19_000, 61_000, 301_000, 700_000]


@dataclass(frozen=True)
class Reserve:
    """*process* asks for *count* tickets; its first write is *delay* ms under way."""

    process: int
    count: int
    delay: int = 0
    meanwhile: tuple["Operation", ...] = ()


@dataclass(frozen=True)
class Pause:
    """*process* was refused with *retry_after* seconds; its first write is *delay* ms under way."""

    process: int
    retry_after: int
    delay: int = 0
    meanwhile: tuple["Operation", ...] = ()


@dataclass(frozen=True)
class Advance:
    """*milliseconds* pass, and tickets fire."""

    milliseconds: int


@dataclass(frozen=True)
class Repeat:
    """The network delivers the *back*-th last update again; nobody hears its answer."""

    back: int


@dataclass(frozen=True)
class Midnight:
    """Time jumps to *before* ms before the next midnight."""

    before: int


@dataclass(frozen=True)
class Override:
    """An operator at *process* sets a *percent* of the contract's pace for some *seconds*."""

    process: int
    percent: int
    seconds: int
    delay: int = 0
    meanwhile: tuple["Operation", ...] = ()


@dataclass(frozen=True)
class Clear:
    """An operator at *process* ends the override."""

    process: int


Operation = Reserve | Pause | Advance | Repeat | Midnight | Override | Clear


@dataclass(frozen=True)
class Plan:
    """One example: the limits, the processes' clocks, and what happens."""

    rate: int
    per_day: int | None
    skews: tuple[int, ...]
    operations: tuple[Operation, ...]


@st.composite
def operations(draw: st.DrawFn, *, depth: int = 1) -> Operation:
    """Draw one operation; calls under way have others come between, one level deep."""
    process = draw(st.integers(0, 3))
    match draw(st.sampled_from(KINDS + RARE)):
        case "advance":
            return Advance(draw(st.sampled_from(SHORT)))
        case "idle":
            return Advance(draw(st.sampled_from(LONG)))
        case "repeat":
            return Repeat(draw(st.integers(0, 12)))
        case "midnight":
            return Midnight(draw(st.sampled_from([0, 30, 2_000, 20_000])))
        case "clear":
            return Clear(process)
        case kind:
            return draw(calls(kind, process, depth))


@st.composite
def calls(draw: st.DrawFn, kind: str, process: int, depth: int) -> Operation:
    """Draw one call that may be under way for a while."""
    meanwhile = tuple(draw(st.lists(operations(depth=0), max_size=4))) if depth else ()
    delay = draw(st.sampled_from(DELAYS))
    if kind == "pause":
        asked = draw(st.sampled_from([1, 1, 2, 5, 30, 400]))
        return Pause(process, asked, delay, meanwhile)
    if kind == "override":
        percent, lasts = draw(st.sampled_from([(2, 9), (30, 1), (50, 40), (100, 400)]))
        return Override(process, percent, lasts, delay, meanwhile)
    return Reserve(process, draw(st.sampled_from([1, 1, 1, 2, 4, 9])), delay, meanwhile)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Draw a whole example."""
    skew = st.sampled_from([-50_000, -3_000, 0, 0, 20_000, 50_000])
    return Plan(
        rate=draw(st.sampled_from([4, 60, 600, 3_000])),
        per_day=draw(st.sampled_from([None, None, 7, 25])),
        skews=tuple(draw(st.lists(skew, min_size=2, max_size=4))),
        operations=tuple(draw(st.lists(operations(), min_size=8, max_size=60))),
    )
