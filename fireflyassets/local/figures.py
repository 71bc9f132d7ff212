"""The demo's figures, worked out from the twin's call list and the jobs' own accounts.

Belongs here: arithmetic over recorded values. Does not: fetching or judging them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, cast

THROTTLED: Final = 429
GENERATE: Final = "generate"
COMPOSITE: Final = "composite"


@dataclass(frozen=True, slots=True)
class Call:
    """One paid call as the twin received, answered and billed it."""

    call_id: str
    at: datetime
    kind: str
    status: int | None
    accepted: bool
    operations: Decimal
    polls: int


def read_calls(rows: Iterable[Mapping[str, object]]) -> tuple[Call, ...]:
    """Return the calls of the twin's list, in its order."""
    return tuple(
        Call(
            call_id=str(row["id"]),
            at=datetime.fromisoformat(str(row["at"])),
            kind=str(row["endpoint"]),
            status=cast("int | None", row["status"]),
            accepted=bool(row["accepted"]),
            operations=Decimal(str(row["operations"])) if row["billed"] else Decimal(0),
            polls=int(str(row["polls"])),
        )
        for row in rows
    )


def since(calls: Sequence[Call], known: Sequence[Call]) -> tuple[Call, ...]:
    """Return the calls that are not in an earlier copy of the list."""
    before = {call.call_id for call in known}
    return tuple(call for call in calls if call.call_id not in before)


def billed(calls: Iterable[Call]) -> Decimal:
    """Return the operations of *calls*."""
    return sum((call.operations for call in calls), Decimal(0))


def accepted_by_kind(calls: Iterable[Call]) -> dict[str, int]:
    """Return how many calls of each kind were accepted."""
    return dict(Counter(call.kind for call in calls if call.accepted))


def polls_per_call(calls: Sequence[Call]) -> Decimal:
    """Return the questions asked for each accepted call, on average; 0 where there is none."""
    accepted = [call for call in calls if call.accepted]
    if not accepted:
        return Decimal(0)
    polls = sum(call.polls for call in accepted)
    return (Decimal(polls) / len(accepted)).quantize(Decimal("0.01"))


def throttled(calls: Iterable[Call]) -> int:
    """Return how many calls were answered 429."""
    return sum(call.status == THROTTLED for call in calls)


def limiter_use(calls: Iterable[Call], *, paced_per_minute: Decimal) -> Decimal | None:
    """Return the share of the paced rate that generate calls used, first grant to last.

    The first call opens the span and fills none of it, so n calls fill n - 1 steps of it; 1.00 is
    a call at each step. None where fewer than two calls leave no span.
    """
    times = sorted(call.at for call in calls if call.accepted and call.kind == GENERATE)
    if len(times) < 2:  # noqa: PLR2004 - a span has two ends.
        return None
    minutes = Decimal(str((times[-1] - times[0]).total_seconds())) / 60
    return ((len(times) - 1) / (minutes * paced_per_minute)).quantize(Decimal("0.001"))
