"""What holds under every interleaving, and proof that the check can fail.

Here: the real expressions under drawn plans, and broken protocols, each of which the same plans
must catch. Not here: the plans (`plans`) and the world that runs one (`interleaving`).
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings

from fireflyassets.limiter import protocol
from fireflyassets.limiter.conditional import Applied, Lost
from fireflyassets.limiter.dynamodb import DynamoLimiter
from fireflyassets.limiter.dynamodb_words import (
    COLD,
    DAY,
    FENCE,
    FIRST_TURN,
    HOT,
    IDLE,
    REBASE,
    TURN,
    Expression,
    Expressions,
)
from fireflyassets.limiter.errors import ReservationContended
from fireflyassets.limiter.port import Due, Stale, Ticket, Voided, Waiting
from fireflyassets_tests.limiter.interleaving import (
    Interleaving,
    InvariantBroken,
    LimiterFactory,
)
from fireflyassets_tests.limiter.plans import Plan, plans

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def sound(client: "DynamoDBClient", now: Callable[[], datetime]) -> DynamoLimiter:
    """Make the limiter that ships."""
    return DynamoLimiter(client, table="tickets", now=now)


def search(factory: LimiterFactory, *, examples: int, spare_values: bool = False) -> None:
    """Run *examples* plans, the same ones each time, until one breaks an invariant."""

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        report_multiple_bugs=False,
    )
    @given(plans())
    def run(plan: Plan) -> None:
        Interleaving(plan, factory, spare_values=spare_values).run()

    run()


def test_the_protocol_keeps_every_invariant() -> None:
    """No interleaving hands a ticket out twice, passes a bound, or leaves a pause."""
    search(sound, examples=400)


def without(expression: Expression, condition: str) -> Expression:
    """Take *condition* away."""
    kept = [term for term in expression.condition.split(" AND ") if term != condition]
    assert len(kept) < len(expression.condition.split(" AND "))
    return replace(expression, condition=" AND ".join(kept) or "seq >= :zero")


# Four conditions are not here. A take in turn has its quota from a hot one. That a hot write finds
# the turn where it was wants two askers and a crowd at once, which the contracts' tests have. The
# floor of a hot write cannot fail while numbers only grow: it guards against whoever hands tickets
# back one day. The day of a take only decides which of two days counts the tickets of the last
# milliseconds before midnight.
BROKEN_EXPRESSIONS = {
    "hot without floor, never cold": Expressions(cold=Expression(HOT.update, FENCE)),
    "hot without end": Expressions(hot=without(HOT, "nxt <= :nlast")),
    "hot without epoch": Expressions(hot=without(HOT, "ep = :ep")),
    "hot without quota": Expressions(hot=without(HOT, "dcnt <= :droom")),
    "cold without guard": Expressions(cold=without(COLD, "nxt < :nfloor")),
    "cold without epoch": Expressions(cold=without(COLD, "ep = :ep")),
    "idle without guard": Expressions(idle=without(IDLE, "nxt < :nfloor")),
    "idle without epoch": Expressions(idle=without(IDLE, "ep = :ep")),
    "day without guard": Expressions(
        day=replace(DAY, condition="seq >= :zero"),
    ),
    "rebase without epoch": Expressions(rebase=without(REBASE, "ep = :ep")),
    "rebase without turn": Expressions(rebase=without(REBASE, "vt <= :vt")),
    "turn without end": Expressions(
        turn=without(TURN, "nxt <= :nlast"), first_turn=without(FIRST_TURN, "nxt <= :nlast")
    ),
    "turn without epoch": Expressions(
        turn=without(TURN, "ep = :ep"), first_turn=without(FIRST_TURN, "ep = :ep")
    ),
    "turn without the rounds": Expressions(
        turn=without(TURN, "vt <= :vt"), first_turn=without(FIRST_TURN, "vt <= :vt")
    ),
    "turn without the flow's place": Expressions(turn=without(TURN, "flows.#flow = :was")),
    "first turn without the flow's place": Expressions(
        first_turn=without(FIRST_TURN, "attribute_not_exists(flows.#flow)")
    ),
}


@pytest.mark.parametrize("name", BROKEN_EXPRESSIONS)
def test_a_missing_condition_is_caught(name: str) -> None:
    """Each condition of each write is needed: without it some plan breaks an invariant."""

    def broken(client: "DynamoDBClient", now: Callable[[], datetime]) -> DynamoLimiter:
        expressions = BROKEN_EXPRESSIONS[name]
        return DynamoLimiter(client, table="tickets", now=now, expressions=expressions)

    with pytest.raises(InvariantBroken):
        search(broken, examples=2_000, spare_values=True)


class PauseWithoutMax(DynamoLimiter):
    """Moves the base to the end of the pause, even when it was due later."""

    def _write(self, item: str, write: protocol.Write) -> Applied | Lost:
        if isinstance(write, protocol.Rebase) and write.state.blocked:
            state = replace(write.state, base_at=write.state.blocked)
            write = replace(write, state=state)
        return super()._write(item, write)


class FiresVoidTickets(DynamoLimiter):
    """Ignores that a rebase passed the ticket over."""

    def check(self, ticket: Ticket) -> Due | Waiting | Voided | Stale:
        answer = super().check(ticket)
        return Due(ticket) if isinstance(answer, Voided) else answer


class FiresOnOldNews(DynamoLimiter):
    """Believes what it last heard, however long ago."""

    def check(self, ticket: Ticket) -> Due | Waiting | Voided | Stale:
        known = self._known.get(ticket.item)
        assert known is not None
        self._known.learn(ticket.item, known.state, at=self._time(), before=None)
        return super().check(ticket)


class EndsOverridesAtOnce(DynamoLimiter):
    """Gives out the next ticket at once when an override ends, whenever the last one was due."""

    def _write(self, item: str, write: protocol.Write) -> Applied | Lost:
        known = self._known.get(item)
        ends = known is not None and known.state.over_until and isinstance(write, protocol.Rebase)
        if ends and not write.state.over_until:
            state = replace(write.state, base_at=max(write.state.blocked, self._time()))
            write = replace(write, state=state)
        return super()._write(item, write)


class NeverEndsOverrides(DynamoLimiter):
    """Goes on under an operator's rate after its time."""

    def _write(self, item: str, write: protocol.Write) -> Applied | Lost:
        known = self._known.get(item)
        if known is not None and known.state.over_until and isinstance(write, protocol.Rebase):
            kept = {name: getattr(known.state, name) for name in OVERRIDE}
            write = replace(write, state=replace(write.state, **kept))
        return super()._write(item, write)


class IgnoresOverrides(DynamoLimiter):
    """Lets the rate rise over an operator's."""

    def _write(self, item: str, write: protocol.Write) -> Applied | Lost:
        if isinstance(write, protocol.Rebase):
            write = replace(write, state=replace(write.state, interval=write.state.earned))
        return super()._write(item, write)


OVERRIDE = ("interval", "over_interval", "over_until", "over_since", "over_by", "over_why")
BROKEN_RULES: list[tuple[type[DynamoLimiter], type[Exception]]] = [
    (PauseWithoutMax, InvariantBroken),
    (FiresVoidTickets, InvariantBroken),
    (FiresOnOldNews, InvariantBroken),
    (EndsOverridesAtOnce, InvariantBroken),
    (NeverEndsOverrides, ReservationContended),
    (IgnoresOverrides, InvariantBroken),
]


@pytest.mark.parametrize(("broken", "error"), BROKEN_RULES)
def test_a_broken_rule_is_caught(broken: type[DynamoLimiter], error: type[Exception]) -> None:
    """The pause's maximum, the fire rule and the end of an override are needed too."""
    with pytest.raises(error):
        search(lambda client, now: broken(client, table="tickets", now=now), examples=2_000)
