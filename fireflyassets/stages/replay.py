"""Replay: jobs in ``dlq`` go back to their lines once that helps: priced first, named, spread.

In: the ledger's jobs in ``dlq``, and what is known of their causes. Out: jobs that are queued, due
one after another; a record under ``replays/``. Spends: nothing itself; each job that goes back may
spend what its plan says, and is paid for by its wave, behind the fence.

A plan moves nothing. Each move is conditional on the row as it was read: two replays at once, or
one that dies and is asked for again, move each job once. Where a service may still be down one job
goes first, and the others of its class once it has succeeded.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final

from fireflyassets.core import ids
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.failure import REPLAYS, FailureClass, Replay
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import ENDED, Status
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.entries import History
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.stages.aborting import Abort, Moved, Moves, as_it_was

PROBED: Final = frozenset({FailureClass.TRANSIENT, FailureClass.STORAGE})
"""Classes of which one job goes first, unless an operator says that the service is back."""
POLICY: Final = "policy"
"""Who replays what the settings let run again by itself."""
FIRST_WAIT: Final = timedelta(minutes=10)
"""How long a job stays before its first automatic replay; twice as long before each further one."""
ABORTED: Final = "the replay itself"
"""Who takes back what it has moved beside an abort."""
_WHY_LIMIT: Final = 200


class State(StrEnum):
    """Whether a job may go back now."""

    READY = "ready"
    PROBE = "probe"
    """It goes first, and tells whether the cause is gone."""
    WAITS = "waits"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which jobs are meant; what is empty or None chooses none of them out."""

    failures: frozenset[FailureClass] = frozenset()
    customer: str | None = None
    campaign: str | None = None
    """``customer/campaign``."""
    credential: str | None = None
    jobs: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, row: JobRow) -> bool:
        """Say whether a job is meant."""
        ended = row.ended_at or row.updated_at
        return (
            (not self.failures or class_of(row) in self.failures)
            and self.customer in {None, row.customer_id}
            and self.campaign in {None, f"{row.customer_id}/{row.campaign_id}"}
            and self.credential in {None, row.credential}
            and (not self.jobs or row.job_id in self.jobs)
            and (self.since is None or ended >= self.since)
            and (self.until is None or ended <= self.until)
        )


@dataclass(frozen=True, slots=True)
class Dead:
    """A job in ``dlq``, what running it again may cost at most, and whether it may now."""

    row: JobRow
    price: Decimal
    state: State
    why: str

    @property
    def goes(self) -> bool:
        """Say whether a replay moves it."""
        return self.state in {State.READY, State.PROBE}


@dataclass(frozen=True, slots=True)
class ClassSum:
    """The jobs of one class: how many, since when, at what price, and whether the cause is gone."""

    failure: FailureClass
    jobs: int
    oldest: datetime
    price: Decimal
    """Of those that go."""
    goes: int
    cause: str


@dataclass(frozen=True, slots=True)
class Replays:
    """The use case. *obstacle* says what stands in a job's way outside of it, None: nothing."""

    ledger: JobLedger
    objects: ObjectStore
    clock: Clock
    obstacle: Callable[[JobRow], str | None]
    limit: int
    """Replays of one job."""

    def plan(self, choice: Choice, *, mended: bool = False, most: int | None = None) -> list[Dead]:
        """Return the chosen jobs with price and state, the longest dead first.

        *mended*: a person says that the cause is gone. At most *most* of them go.
        """
        rows = [row for row in self.ledger.dead() if choice.takes(row)]
        planned = self._probed([self._judged(row, mended=mended) for row in rows], mended=mended)
        if most is None:
            return planned
        why = "More were found than asked for."
        return cut(planned, Decimal(most), lambda _: Decimal(1), why=why)

    def _judged(self, row: JobRow, *, mended: bool) -> Dead:
        history = self.ledger.history(row.job_id)
        told = self._obstacle(row, history, mended=mended)
        state, why = told or (State.READY, "The cause is taken for gone.")
        return Dead(row, price_of(row, history), state, why)

    def _obstacle(self, row: JobRow, history: History, *, mended: bool) -> tuple[State, str] | None:
        rule = REPLAYS[class_of(row)]
        if rule is Replay.NEVER:
            return State.NEVER, "Running it again would only spend more."
        if row.replays >= self.limit:
            return State.NEVER, f"It was run again {row.replays} times; look into it."
        if any(one.is_unknown for one in history.unanswered):
            return State.WAITS, "A paid call has no known outcome: fireflyassets fence list."
        if outside := self.obstacle(row):
            return State.WAITS, outside
        if rule is Replay.AFTER_MENDING and not mended:
            return State.WAITS, "An operator has to say that the cause is gone (--mended)."
        return None

    def _probed(self, planned: Sequence[Dead], *, mended: bool) -> list[Dead]:
        """Let one job of each credential and class go first, where nothing shows that it helps."""
        first: dict[tuple[str, FailureClass], tuple[datetime | None, str | None]] = {}
        told: list[Dead] = []
        for one in planned:
            group = (one.row.credential, class_of(one.row))
            if mended or not one.goes or group[1] not in PROBED:
                told.append(one)
                continue
            if group not in first:
                first[group] = self._proof(*group)
            proven, probe = first[group]
            if proven is not None and (one.row.ended_at or proven) <= proven:
                told.append(replace(one, why="A job that went first has succeeded since."))
            elif probe is None:
                told.append(replace(one, state=State.PROBE, why="It goes first, as the probe."))
                first[group] = (proven, one.row.job_id)
            else:
                told.append(replace(one, state=State.WAITS, why=f"Job {probe} goes first."))
        return told

    def _proof(self, credential: str, failure: FailureClass) -> tuple[datetime | None, str | None]:
        """Return when the last probe has succeeded, and which is under way."""
        content = self.objects.get(ids.probe_key(credential, failure))
        row = self.ledger.job(content.decode()) if content else None
        if row is None:
            return None, None
        if row.status is Status.SUCCEEDED:
            return row.ended_at, None
        under_way = row.status not in ENDED and row.hold is None
        return None, row.job_id if under_way else None

    def go(
        self, plan: Sequence[Dead], *, by: str, why: str, spread: timedelta = timedelta(0)
    ) -> Moves:
        """Return what moves *plan*, one job with each step; stop any time.

        The jobs become due evenly over *spread*. Who, why and what is on record before the first
        moves, and what was moved once it ends, however it ends; by that it can be undone
        (``stages/aborting.py``), also while it is at it: then it stops.
        """
        going = [one for one in plan if one.goes]
        now = self.clock.now()
        record = {
            "at": now.isoformat(),
            "by": by,
            "why": why,
            "spreadSeconds": spread.total_seconds(),
            "operations": str(sum((one.price for one in going), Decimal(0))),
            "planned": [one.row.job_id for one in going],
            "before": {one.row.job_id: as_it_was(one.row) for one in going},
            "moved": None,
        }
        name = hashlib.sha256(json.dumps(record).encode()).hexdigest()[:8]
        key = ids.replay_key(now, name)
        self.abort().write(key, record)
        due = [now + spread * (place / len(going)) for place in range(len(going))]
        said = f"Replayed by {by}: {why}"[:_WHY_LIMIT]
        return Moves(key, self._moves(key, list(zip(going, due, strict=True)), said))

    def _moves(
        self, key: str, going: Sequence[tuple[Dead, datetime]], said: str
    ) -> Generator[Moved]:
        moved: list[str] = []
        try:
            for one, due_at in going:
                if one.state is State.PROBE:
                    probe = ids.probe_key(one.row.credential, class_of(one.row))
                    self.objects.put(probe, one.row.job_id.encode(), media_type="text/plain")
                # First: who is stopped within the write does not know whether it was done.
                moved.append(one.row.job_id)
                told = self.ledger.replay(one.row, due_at=due_at, said=said, now=self.clock.now())
                if told is not True:
                    moved.pop()
                if self.abort().is_asked(key):
                    # Whoever asked may have looked at this job before it was moved.
                    self.abort().of(key, by=ABORTED, why="moved meanwhile")
                    return
                why = "" if told is True else str(told or "It had moved meanwhile.")
                yield Moved(one.row.job_id, told is True, due_at, why)
        finally:
            # The rows say the same, each for itself.
            with suppress(StoreUnavailable):
                self.abort().note(key, moved)

    def abort(self) -> Abort:
        """Return what takes a replay back."""
        return Abort(self.ledger, self.objects, self.clock)

    def by_policy(self, failures: frozenset[FailureClass], *, most: int) -> int:
        """Replay what may run again by itself, after a wait that doubles; return how many went."""
        if not failures:
            return 0
        now = self.clock.now()
        plan = self.plan(Choice(failures))
        going = [one for one in plan if one.goes and _has_waited(one.row, now)][:most]
        if not going:
            return 0
        why = "its class is run again by itself"
        return sum(one.done for one in self.go(going, by=POLICY, why=why))


def cut(
    plan: Sequence[Dead], most: Decimal, takes: Callable[[Dead], Decimal], *, why: str
) -> list[Dead]:
    """Return a plan of which what goes takes *most* at most; what does not fit waits: *why*."""
    told: list[Dead] = []
    for one in plan:
        if one.goes and takes(one) > most:
            told.append(replace(one, state=State.WAITS, why=why))
            continue
        most -= takes(one) if one.goes else Decimal(0)
        told.append(one)
    return told


def class_of(row: JobRow) -> FailureClass:
    """Return the class of a dead job; what nobody has classed is unknown."""
    return row.failure or FailureClass.UNKNOWN


def price_of(row: JobRow, history: History) -> Decimal:
    """Return what is left of a job's estimate: finished steps are not paid for again."""
    mine = (one for one in history.steps.values() if one.generation == row.generation)
    return max(Decimal(0), row.cost_estimate - sum((one.operations for one in mine), Decimal(0)))


def sums(plan: Sequence[Dead]) -> list[ClassSum]:
    """Return the plan by class, most jobs first."""
    groups: dict[FailureClass, list[Dead]] = defaultdict(list)
    for one in plan:
        groups[class_of(one.row)].append(one)
    told = [
        ClassSum(
            failure,
            len(dead),
            min(one.row.ended_at or one.row.updated_at for one in dead),
            sum((one.price for one in dead if one.goes), Decimal(0)),
            sum(one.goes for one in dead),
            Counter(one.why for one in dead).most_common(1)[0][0],
        )
        for failure, dead in groups.items()
    ]
    return sorted(told, key=lambda one: (-one.jobs, one.failure))


def _has_waited(row: JobRow, now: datetime) -> bool:
    return now - (row.ended_at or row.updated_at) >= FIRST_WAIT * 2**row.replays
