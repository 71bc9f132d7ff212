"""How the protocol is spelt for DynamoDB.

Here: the exact expressions, their grammar, equality with the protocol's own meaning, and lost
answers. Not here: promises that every store keeps (`contracts`).
"""

from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING, cast

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from hypothesis import given, settings
from hypothesis import strategies as st

from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.dynamodb import (
    ATTRIBUTES,
    COLD,
    DAY,
    HOT,
    IDLE,
    INIT,
    REBASE,
    DynamoLimiter,
    Expression,
    table_spec,
)
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import Granted
from fireflyassets_tests.limiter.strict_dynamo import (
    GrammarError,
    Request,
    StrictTable,
    named_values,
    parse_condition,
    parse_update,
)
from fireflyassets_tests.limiter.worlds import StandingClock, granted, per_minute

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ITEM = "organisation#firefly"
ALL = {"INIT": INIT, "HOT": HOT, "COLD": COLD, "IDLE": IDLE, "DAY": DAY, "REBASE": REBASE}
GOLDEN = {
    "HOT": Expression(
        "SET nxt = nxt + :k, dcnt = dcnt + :k, seq = seq + :one",
        "ep = :ep AND dday = :day AND dcnt <= :droom AND nxt >= :nfloor AND nxt <= :nlast",
    ),
    "COLD": Expression(
        "SET nxt = :nfk, dcnt = dcnt + :k, seq = seq + :one",
        "ep = :ep AND dday = :day AND dcnt <= :droom AND nxt < :nfloor",
    ),
    "IDLE": Expression(
        "SET nxt = :nfk, bn = :nfloor, bt = :bt, ep = ep + :one, "
        "dcnt = dcnt + :k, seq = seq + :one",
        "ep = :ep AND dday = :day AND dcnt <= :droom AND nxt < :nfloor",
    ),
    "DAY": Expression("SET dday = :day, dcnt = :zero, seq = seq + :one", "dday < :day"),
    "REBASE": Expression(
        "SET bn = :bn, bt = :bt, intv = :intv, nom = :nom, blocked = :blocked, ldec = :ldec, "
        "linc = :linc, dlim = :dlim, asof = :asof, since = :since, why = :why, "
        "ep = ep + :one, seq = seq + :one",
        "ep = :ep",
    ),
    "INIT": Expression(
        "SET nxt = :nxt, bn = :bn, bt = :bt, intv = :intv, nom = :nom, ep = :ep, seq = :seq, "
        "blocked = :blocked, ldec = :ldec, linc = :linc, dday = :dday, dcnt = :dcnt, "
        "dlim = :dlim, asof = :asof, since = :since, why = :why",
        "attribute_not_exists(pk)",
    ),
}


def over(table: StrictTable, clock: StandingClock) -> DynamoLimiter:
    """Make a limiter over *table*."""
    return DynamoLimiter(cast("DynamoDBClient", table), table="tickets", now=clock.now)


@pytest.mark.parametrize("name", ALL)
def test_expressions_are_the_proven_ones(name: str) -> None:
    """A changed expression is a changed protocol: prove it again before you change this."""
    assert ALL[name] == GOLDEN[name]


@pytest.mark.parametrize("name", ALL)
def test_expressions_stay_within_the_grammar(name: str) -> None:
    """At most one plus or minus per value, no function in SET, no arithmetic in a condition."""
    assert parse_update(ALL[name].update)
    assert parse_condition(ALL[name].condition)
    assert named_values(ALL[name].update, ALL[name].condition)


@pytest.mark.parametrize(
    ("update", "condition"),
    [
        ("SET nxt = nxt + :k + :one", "ep = :ep"),
        ("SET nxt = max(nxt, :k)", "ep = :ep"),
        ("ADD nxt :k", "ep = :ep"),
        ("SET nxt = :k", "nxt + :k <= :limit"),
        ("SET nxt = :k", "ep = :ep OR nxt = :k"),
    ],
)
def test_the_grammar_check_can_fail(update: str, condition: str) -> None:
    """What emulators accept and the service refuses is refused here."""
    with pytest.raises(GrammarError):
        named_values(update, condition)


def test_every_field_has_an_attribute() -> None:
    """A field of the state that is not stored would silently be lost."""
    assert {field.name for field in fields(State)} == {*ATTRIBUTES, "reason"}
    assert len(set(ATTRIBUTES.values())) == len(ATTRIBUTES)


def test_the_table_has_one_key_and_is_paid_per_request() -> None:
    """One item per paced thing needs no more."""
    spec = table_spec("tickets")

    assert spec.get("TableName") == "tickets"
    assert spec.get("KeySchema") == [{"AttributeName": "pk", "KeyType": "HASH"}]
    assert spec.get("BillingMode") == "PAY_PER_REQUEST"


@settings(max_examples=150, deadline=None)
@given(
    rate=st.sampled_from([4, 60, 600, 3000]),
    per_day=st.sampled_from([None, 9]),
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("reserve"), st.sampled_from([1, 2, 5, 400])),
            st.tuples(st.just("advance"), st.sampled_from([0.01, 0.7, 6, 70, 400, 50_000])),
            st.tuples(st.just("pause"), st.sampled_from([0, 2, 40, 1000])),
        ),
        max_size=40,
    ),
)
def test_expressions_mean_what_the_protocol_means(
    rate: int, per_day: int | None, steps: list[tuple[str, float]]
) -> None:
    """Step by step, the table answers and ends exactly like the store in memory."""
    clock, table = StandingClock(), StrictTable()
    limiters = (over(table, clock), MemoryLimiter(now=clock.now))
    for limiter in limiters:
        limiter.register(ITEM, per_minute(rate, per_day=per_day))

    for step, amount in steps:
        if step == "advance":
            clock.advance(amount)
        elif step == "reserve":
            here, there = (limiter.reserve(ITEM, int(amount)) for limiter in limiters)
            assert here == there
        else:
            here, there = (limiter.pause(ITEM, timedelta(seconds=amount)) for limiter in limiters)
            assert here == there
        assert limiters[0].state(ITEM) == limiters[1].state(ITEM)


class LosingAnswers(StrictTable):
    """Applies every update, and loses the answer of each second one."""

    calls = 0

    def update_item(self, **request: object) -> Request:
        """Apply the update; time out on each second one."""
        answer = super().update_item(**request)
        self.calls += 1
        if self.calls % 2 == 0:
            raise ReadTimeoutError(endpoint_url="http://127.0.0.1")
        return answer


def test_a_lost_answer_loses_tickets_and_repeats_none() -> None:
    """A caller that tries again after a timeout never gets a ticket that went out before."""
    table = LosingAnswers()
    limiter = over(table, StandingClock())
    limiter.register(ITEM, per_minute(600))

    numbers: list[int] = []
    for _ in range(20):
        try:
            numbers.append(granted(limiter, ITEM).first)
        except ReadTimeoutError:
            continue

    assert numbers == list(range(1, 20, 2))


class Refusing(StrictTable):
    """Refuses every update for a reason that is not the condition."""

    def update_item(self, **request: object) -> Request:
        """Refuse."""
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "UpdateItem")


def test_other_errors_reach_the_caller() -> None:
    """Only a condition that did not hold is part of the protocol."""
    with pytest.raises(ClientError, match="AccessDenied"):
        over(Refusing(), StandingClock()).register(ITEM, per_minute(60))


def test_a_deleted_item_is_made_again() -> None:
    """A process that knows the limits carries on when somebody deletes the item."""
    table = StrictTable()
    limiter = over(table, StandingClock())
    limiter.register(ITEM, per_minute(60))
    granted(limiter, ITEM, 3)
    table.items.clear()

    answer = limiter.reserve(ITEM, 1)

    assert isinstance(answer, Granted)
    assert answer.first == 0
    assert limiter.state(ITEM).used_today == 1


def test_an_item_that_another_process_made_again_is_believed() -> None:
    """What a process knew of the deleted item does not outlive it."""
    table, clock = StrictTable(), StandingClock()
    limiter, other = over(table, clock), over(table, clock)
    limiter.register(ITEM, per_minute(60))
    for _ in range(9):
        granted(limiter, ITEM)
    table.items.clear()
    clock.advance(3600)
    other.register(ITEM, per_minute(60))

    assert granted(limiter, ITEM).due_at == (clock.at,)
