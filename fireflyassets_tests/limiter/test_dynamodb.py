"""How the protocol is spelt for DynamoDB.

Here: the exact expressions, their grammar, equality with the protocol's own meaning, and lost
answers. Not here: promises that every store keeps (`contracts`).
"""

from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)
from hypothesis import given, settings

from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.dynamodb import DynamoLimiter, table_spec
from fireflyassets.limiter.dynamodb_words import (
    ATTRIBUTES,
    COLD,
    DAY,
    FIRST_TURN,
    FLOWS,
    HOT,
    IDLE,
    INIT,
    LAYOUT,
    REASON,
    REBASE,
    RESET,
    TALLY,
    TURN,
    UPGRADE,
    WORDS,
    Expression,
)
from fireflyassets.limiter.errors import LimiterUnavailable, TableMissing
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import Granted, Parked, Voided
from fireflyassets_tests.limiter.equality import DAYS, RATES, Step, compare, steps
from fireflyassets_tests.limiter.strict_dynamo import (
    GrammarError,
    Request,
    StrictTable,
    named_values,
    parse_condition,
    parse_update,
)
from fireflyassets_tests.limiter.worlds import NOON, StandingClock, granted, per_minute

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ITEM = "organisation#firefly"
# Source: "Reserved words in DynamoDB", Amazon DynamoDB Developer Guide.
RESERVED = frozenset(Path(__file__).with_name("dynamodb_reserved_words.txt").read_text().split())
ALL = {"INIT": INIT, "HOT": HOT, "COLD": COLD, "IDLE": IDLE, "DAY": DAY}
ALL |= {"REBASE": REBASE, "TALLY": TALLY, "RESET": RESET}
ALL |= {"UPGRADE": UPGRADE, "TURN": TURN, "FIRST_TURN": FIRST_TURN}
GOLDEN = {
    "HOT": Expression(
        "SET nxt = nxt + :k, vt = :vt, dcnt = dcnt + :k, seq = seq + :one",
        "ep = :ep AND dday = :day AND dcnt <= :droom AND nxt >= :nfloor AND nxt <= :nlast "
        "AND vt <= :vt",
    ),
    "COLD": Expression(
        "SET nxt = :nfk, vt = :vt, flows = :flows, dcnt = dcnt + :k, seq = seq + :one",
        "ep = :ep AND dday = :day AND dcnt <= :droom AND nxt < :nfloor",
    ),
    "IDLE": Expression(
        "SET nxt = :nfk, bn = :nfloor, bt = :bt, vt = :vt, flows = :flows, ep = ep + :one, "
        "dcnt = dcnt + :k, seq = seq + :one",
        "ep = :ep AND dday = :day AND dcnt <= :droom AND nxt < :nfloor",
    ),
    "DAY": Expression(
        "SET dday = :day, dcnt = :moved, rcnt = :zero, seq = seq + :one",
        "dday < :day AND ep = :ep AND nxt = :nxt",
    ),
    "REBASE": Expression(
        "SET bn = :bn, bt = :bt, bbt = :bbt, intv = :intv, nom = :nom, earn = :earn, "
        "blocked = :blocked, ldec = :ldec, linc = :linc, vt = :vt, opened = :opened, dlim = :dlim, "
        "dcnt = dcnt + :moved, rcnt = rcnt + :refused, "
        "asof = :asof, since = :since, ointv = :ointv, ountil = :ountil, osince = :osince, "
        "oby = :oby, owhy = :owhy, src = :src, why = :why, ep = ep + :one, seq = seq + :one",
        "ep = :ep AND vt <= :vt",
    ),
    "TALLY": Expression("SET rcnt = rcnt + :one, seq = seq + :one", "ep = :ep"),
    "INIT": Expression(
        "SET nxt = :nxt, bn = :bn, bt = :bt, bbt = :bbt, intv = :intv, nom = :nom, earn = :earn, "
        "ep = :ep, seq = :seq, blocked = :blocked, ldec = :ldec, linc = :linc, vt = :vt, "
        "opened = :opened, dday = :dday, "
        "dcnt = :dcnt, dlim = :dlim, rcnt = :rcnt, asof = :asof, since = :since, ointv = :ointv, "
        "ountil = :ountil, osince = :osince, oby = :oby, owhy = :owhy, src = :src, why = :why, "
        "flows = :flows",
        "attribute_not_exists(nom)",
    ),
}
GOLDEN["RESET"] = Expression(GOLDEN["INIT"].update, "ep = :was")


def over(table: StrictTable, clock: StandingClock) -> DynamoLimiter:
    """Make a limiter over *table*."""
    return DynamoLimiter(cast("DynamoDBClient", table), table="tickets", now=clock.now)


GOLDEN |= {
    "UPGRADE": Expression(GOLDEN["INIT"].update, "ep = :was AND seq = :old"),
    "TURN": Expression(
        "SET nxt = nxt + :k, vt = :vt, flows.#flow = :on, dcnt = dcnt + :k, seq = seq + :one",
        "ep = :ep AND dday = :day AND dcnt <= :droom AND nxt >= :nfloor AND nxt <= :nlast "
        "AND vt <= :vt AND flows.#flow = :was",
    ),
    "FIRST_TURN": Expression(
        "SET nxt = nxt + :k, vt = :vt, flows.#flow = :on, dcnt = dcnt + :k, seq = seq + :one",
        "ep = :ep AND dday = :day AND dcnt <= :droom AND nxt >= :nfloor AND nxt <= :nlast "
        "AND vt <= :vt AND attribute_not_exists(flows.#flow)",
    ),
}


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


def reserved_in(expression: Expression) -> set[str]:
    """Return the attribute names of *expression* that the service reserves, whatever their case."""
    names = [
        word
        for part in parse_update(expression.update)
        for word in (part.target, part.left, part.right or "")
    ]
    for part in parse_condition(expression.condition):
        names += [part.left, part.right]
    plain = (word for name in names for word in name.split(".") if word[:1] not in ":#")
    return {word for word in plain if word.upper() in RESERVED}


@pytest.mark.parametrize("name", ALL)
def test_no_expression_names_a_reserved_word(name: str) -> None:
    """The service refuses one that is not written as a placeholder; most emulators do not."""
    assert reserved_in(GOLDEN[name]) == reserved_in(ALL[name]) == set()


def test_no_attribute_is_a_reserved_word() -> None:
    """What is stored under a reserved word could not be named when it is needed."""
    assert not {name for name in LAYOUT | {"pk"} if name.upper() in RESERVED}


def test_a_reserved_word_is_found_in_each_place() -> None:
    """As a target, as an operand, in a condition and within a map; a placeholder is none."""
    assert len(RESERVED) == 573
    assert reserved_in(Expression("SET count = nxt + :k", "ep = :ep")) == {"count"}
    assert reserved_in(Expression("SET nxt = total + :k", "ep = :ep")) == {"total"}
    assert reserved_in(Expression("SET nxt = :k", "attribute_not_exists(state)")) == {"state"}
    assert reserved_in(Expression("SET nxt = :k", "nxt < counter")) == {"counter"}
    assert reserved_in(Expression("SET data.#count = :k", "ep = :ep")) == {"data"}


def test_every_field_has_an_attribute() -> None:
    """A field of the state that is not stored would silently be lost."""
    names = [*ATTRIBUTES.values(), *WORDS.values(), REASON, FLOWS]
    assert {field.name for field in fields(State)} == {*ATTRIBUTES, *WORDS, "reason", "flows"}
    assert len(set(names)) == len(names)


def test_the_table_has_one_key_and_is_paid_per_request() -> None:
    """One item per paced thing needs no more."""
    spec = table_spec("tickets")

    assert spec.get("TableName") == "tickets"
    assert spec.get("KeySchema") == [{"AttributeName": "pk", "KeyType": "HASH"}]
    assert spec.get("BillingMode") == "PAY_PER_REQUEST"


@settings(max_examples=150, deadline=None)
@given(
    rate=RATES,
    per_day=DAYS,
    told=steps(40),
)
def test_expressions_mean_what_the_protocol_means(
    rate: int, per_day: int | None, told: list[Step]
) -> None:
    """Step by step, the table answers and ends exactly like the store in memory."""
    clock, table = StandingClock(), StrictTable()
    limiters = (over(table, clock), MemoryLimiter(now=clock.now))
    for limiter in limiters:
        limiter.register(ITEM, per_minute(rate, per_day=per_day))

    compare(limiters, ITEM, clock, told)


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
        except LimiterUnavailable:
            continue

    assert numbers == list(range(numbers[0], numbers[0] + 20, 2))


@dataclass
class Refusing(StrictTable):
    """Refuses every call for a reason that is not the condition."""

    error: Exception = field(default_factory=Exception)

    def update_item(self, **request: object) -> Request:
        """Refuse."""
        raise self.error

    def get_item(self, **request: object) -> Request:
        """Refuse."""
        raise self.error


OUTAGES = [
    ClientError({"Error": {"Code": "ProvisionedThroughputExceededException"}}, "UpdateItem"),
    ClientError({"Error": {"Code": "InternalServerError"}}, "UpdateItem"),
    ClientError({"Error": {"Code": "AccessDeniedException"}}, "UpdateItem"),
    ReadTimeoutError(endpoint_url="http://127.0.0.1"),
    ConnectTimeoutError(endpoint_url="http://127.0.0.1"),
    EndpointConnectionError(endpoint_url="http://127.0.0.1"),
    NoCredentialsError(),
]


@pytest.mark.parametrize("error", OUTAGES, ids=lambda error: str(error)[:60])
def test_a_table_that_does_not_answer_hands_nothing_out(error: Exception) -> None:
    """Throttled, gone, forbidden or silent: no ticket, and one error that says what to look at."""
    limiter = over(Refusing(error=error), StandingClock())

    for call in (
        lambda: limiter.register(ITEM, per_minute(60)),
        lambda: limiter.reserve(ITEM, 1),
        lambda: limiter.pause(ITEM, None),
        lambda: limiter.state(ITEM),
    ):
        with pytest.raises(LimiterUnavailable, match="Look at the store"):
            call()


def test_a_table_that_is_not_there_is_told_as_such() -> None:
    """Whoever forgot to create it, or named another, reads that, and not of an outage."""
    error = ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetItem")
    limiter = over(Refusing(error=error), StandingClock())

    for call in (lambda: limiter.register(ITEM, per_minute(60)), lambda: limiter.state(ITEM)):
        with pytest.raises(TableMissing, match="there is no table tickets"):
            call()


def test_a_mistake_of_ours_is_no_outage() -> None:
    """An expression that the service does not take is a bug, and looks like one."""
    error = ClientError({"Error": {"Code": "ValidationException"}}, "UpdateItem")

    with pytest.raises(ClientError, match="ValidationException"):
        over(Refusing(error=error), StandingClock()).register(ITEM, per_minute(60))


def test_a_registration_that_failed_is_made_up_for() -> None:
    """Whoever could not register at its start makes the item with its first reservation."""
    table, clock = StrictTable(), StandingClock()
    limiter = over(table, clock)
    refusing = Refusing(error=ReadTimeoutError(endpoint_url="http://127.0.0.1"))
    limiter._client = cast("DynamoDBClient", refusing)
    with pytest.raises(LimiterUnavailable):
        limiter.register(ITEM, per_minute(60))
    limiter._client = cast("DynamoDBClient", table)

    assert granted(limiter, ITEM).due_at == (clock.at,)


EARLIER = [
    pytest.param(["flows"], id="no-flows"),
    pytest.param(["opened"], id="no-breaker"),
    pytest.param(["opened", "vt"], id="no-turns"),
    pytest.param(["opened", "vt", "bbt", "src"], id="no-source"),
    pytest.param(
        ["opened", "vt", "bbt", "src", "earn", "rcnt", "ointv", "ountil", "osince", "oby", "owhy"],
        id="no-override",
    ),
]


@pytest.mark.parametrize("lacking", EARLIER)
def test_an_upgrade_forgets_nothing(lacking: list[str]) -> None:
    """An item of an earlier layout keeps its count, pause and rate, and what it has of the rest."""
    table, clock = StrictTable(), StandingClock()
    limits = per_minute(60, per_day=9000)
    before = over(table, clock)
    before.register(ITEM, limits)
    granted(before, ITEM, 4)
    before.override(ITEM, 12, duration=timedelta(hours=1), by="ada", why="x")
    before.pause(ITEM, timedelta(minutes=10))
    expected = before.state(ITEM)
    for name in lacking:
        del table.items[ITEM][name]

    after = over(table, clock)
    after.register(ITEM, limits)

    state = after.state(ITEM)
    assert (state.used_today, state.blocked_until) == (4, NOON + timedelta(minutes=10))
    assert state.override == (None if "ointv" in lacking else expected.override)
    assert isinstance(after.reserve(ITEM, 1), Parked)
    clock.advance(601)
    later = granted(after, ITEM)
    assert later.first >= expected.next_ticket
    assert after.state(ITEM).used_today == 5
    after.pause(ITEM, None)
    assert after.state(ITEM).refused_today == (1 if "rcnt" in lacking else 2)


def test_what_is_half_an_item_is_made_anew() -> None:
    """Something without a pace counts as no item."""
    table, clock = StrictTable(), StandingClock()
    limiter = over(table, clock)
    table.items[ITEM] = {"pk": {"S": ITEM}, "nxt": {"N": "7"}, "ep": {"N": "3"}}

    limiter.register(ITEM, per_minute(60))

    assert granted(limiter, ITEM).due_at == (clock.at,)
    assert limiter.state(ITEM).used_today == 1


def test_a_deleted_item_is_made_again() -> None:
    """A process that knows the limits carries on; tickets of the item that is gone are void."""
    table, clock = StrictTable(), StandingClock()
    limiter = over(table, clock)
    limiter.register(ITEM, per_minute(60))
    before = granted(limiter, ITEM, 3)
    table.items.clear()
    clock.advance(1)

    answer = limiter.reserve(ITEM, 1)

    assert isinstance(answer, Granted)
    assert answer.first > before.first + 3
    assert isinstance(limiter.check(before.tickets[2]), Voided)
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
