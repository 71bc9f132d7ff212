"""The limiter's protocol in DynamoDB: one item per paced thing, one UpdateItem per write.

Here: the exact expressions, the attribute codec and the table. Not here: which write comes next
(`protocol`). Attribute names are short because each write carries them; none is a reserved word.

DynamoDB's grammar allows one plus or minus per SET value, no max() and no arithmetic in a
condition, and emulators accept more than it does; so every sum is made by the caller. A write
answers with the new item, a lost write with the stored one: neither needs a read. A retry of a
write whose answer was lost can lose tickets, never hand one out twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from botocore.exceptions import (
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's own root of failed connections.
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
)

from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.clock import Watch
from fireflyassets.limiter.conditional import Applied, ConditionalLimiter, Lost
from fireflyassets.limiter.errors import LimiterUnavailable
from fireflyassets.limiter.port import PaceReason
from fireflyassets.limiter.protocol import Init, Line, NewDay, Rebase, Reset, Take, Tally, Write

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        CreateTableInputTypeDef,
        UniversalAttributeValueTypeDef,
    )

KEY: Final = "pk"
ATTRIBUTES: Final[Mapping[str, str]] = {
    "next_number": "nxt",
    "base_number": "bn",
    "base_at": "bt",
    "before_at": "bbt",
    "interval": "intv",
    "nominal": "nom",
    "earned": "earn",
    "epoch": "ep",
    "sequence": "seq",
    "blocked": "blocked",
    "lowered": "ldec",
    "raised": "linc",
    "turn": "vt",
    "opened": "opened",
    "day": "dday",
    "day_count": "dcnt",
    "day_limit": "dlim",
    "refused": "rcnt",
    "as_of": "asof",
    "since": "since",
    "over_interval": "ointv",
    "over_until": "ountil",
    "over_since": "osince",
}
WORDS: Final[Mapping[str, str]] = {"over_by": "oby", "over_why": "owhy", "source": "src"}
REASON: Final = "why"
LAYOUT: Final = {*ATTRIBUTES.values(), *WORDS.values(), REASON}

OUTAGES: Final = (HTTPClientError, ConnectionError, NoCredentialsError, CredentialRetrievalError)
OUR_FAULT: Final = "ValidationException"
LOST: Final = "ConditionalCheckFailedException"


@dataclass(frozen=True, slots=True)
class Expression:
    """One conditional UpdateItem: what it sets, and if."""

    update: str
    condition: str


FENCE: Final = "ep = :ep AND dday = :day AND dcnt <= :droom"
INIT: Final = Expression(
    "SET nxt = :nxt, bn = :bn, bt = :bt, bbt = :bbt, intv = :intv, nom = :nom, earn = :earn, "
    "ep = :ep, seq = :seq, blocked = :blocked, ldec = :ldec, linc = :linc, vt = :vt, "
    "opened = :opened, dday = :dday, dcnt = :dcnt, dlim = :dlim, rcnt = :rcnt, asof = :asof, "
    "since = :since, ointv = :ointv, ountil = :ountil, osince = :osince, oby = :oby, owhy = :owhy, "
    "src = :src, why = :why",
    "attribute_not_exists(nom)",
)
HOT: Final = Expression(
    "SET nxt = nxt + :k, vt = :vt, dcnt = dcnt + :k, seq = seq + :one",
    f"{FENCE} AND nxt >= :nfloor AND nxt <= :nlast AND vt <= :vt",
)
COLD: Final = Expression(
    "SET nxt = :nfk, vt = :vt, dcnt = dcnt + :k, seq = seq + :one",
    f"{FENCE} AND nxt < :nfloor",
)
IDLE: Final = Expression(
    "SET nxt = :nfk, bn = :nfloor, bt = :bt, vt = :vt, ep = ep + :one, dcnt = dcnt + :k, "
    "seq = seq + :one",
    f"{FENCE} AND nxt < :nfloor",
)
DAY: Final = Expression(
    "SET dday = :day, dcnt = :moved, rcnt = :zero, seq = seq + :one",
    "dday < :day AND ep = :ep AND nxt = :nxt",
)
REBASE: Final = Expression(
    "SET bn = :bn, bt = :bt, bbt = :bbt, intv = :intv, nom = :nom, earn = :earn, "
    "blocked = :blocked, ldec = :ldec, linc = :linc, vt = :vt, opened = :opened, dlim = :dlim, "
    "dcnt = dcnt + :moved, rcnt = rcnt + :refused, "
    "asof = :asof, since = :since, ointv = :ointv, ountil = :ountil, osince = :osince, "
    "oby = :oby, owhy = :owhy, src = :src, why = :why, ep = ep + :one, seq = seq + :one",
    "ep = :ep",
)
TALLY: Final = Expression("SET rcnt = rcnt + :one, seq = seq + :one", "ep = :ep")
TURN: Final = Expression("SET vt = :vt", "vt < :vt")
NEW_TURN: Final = Expression("SET vt = :vt", "attribute_not_exists(vt)")
UPGRADE: Final = Expression(INIT.update, "ep = :was AND seq = :old")
RESET: Final = Expression(INIT.update, "ep = :was")


@dataclass(frozen=True, slots=True)
class Expressions:
    """The protocol's writes in DynamoDB's words; tests break one at a time to see it caught."""

    init: Expression = INIT
    hot: Expression = HOT
    cold: Expression = COLD
    idle: Expression = IDLE
    day: Expression = DAY
    rebase: Expression = REBASE
    tally: Expression = TALLY
    reset: Expression = RESET


def table_spec(name: str) -> "CreateTableInputTypeDef":
    """Return what to create: one string key, nothing else, paid per request."""
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": KEY, "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": KEY, "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }


class DynamoLimiter(ConditionalLimiter):
    """A limiter shared by every process that reaches the table.

    One item sustains about 1,000 writes a second, which one organisation never needs: do not shard.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        table: str,
        now: Callable[[], datetime],
        watch: Watch | None = None,
        expressions: Expressions | None = None,
    ) -> None:
        super().__init__(now=now, watch=watch)
        self._client = client
        self._table = table
        self._expressions = expressions or Expressions()

    def _read(self, item: str) -> State | None:
        stored = self._get(item)
        while (state := decode(stored)) is not None and not stored.keys() >= LAYOUT:
            old = _numbers({"was": state.epoch, "old": state.sequence})
            values = _all_values(replace(state, sequence=state.sequence + 1), ATTRIBUTES) | old
            _, stored = self._update(item, UPGRADE, values)
        return state

    def _get(self, key: str) -> "Mapping[str, AttributeValueTypeDef]":
        try:
            answer = self._client.get_item(
                TableName=self._table, Key={KEY: {"S": key}}, ConsistentRead=True
            )
        except (ClientError, *OUTAGES) as error:
            raise _unavailable(key, error) from error
        return answer.get("Item", {})

    def _read_turn(self, item: str, flow: str) -> int:
        return int(self._get(f"{item}#{flow}").get("vt", {}).get("N", "0"))

    def _keep_turn(self, item: str, flow: str, turn: int) -> None:
        key, values = f"{item}#{flow}", _numbers({"vt": turn})
        is_kept, stored = self._update(key, TURN, values)
        if not is_kept and not stored and not self._update(key, NEW_TURN, values)[0]:
            self._update(key, TURN, values)  # Another wave of the flow made it meanwhile.

    def _write(self, item: str, write: Write) -> Applied | Lost:
        is_applied, stored = self._update(item, *spell(write, self._expressions))
        state = decode(stored) if stored.keys() >= LAYOUT else self._read(item)
        return Applied(state) if is_applied and state else Lost(state)

    def _update(
        self,
        key: str,
        expression: Expression,
        values: "Mapping[str, UniversalAttributeValueTypeDef]",
    ) -> "tuple[bool, Mapping[str, AttributeValueTypeDef]]":
        """Say whether the update held, and return what is stored after it."""
        try:
            answer = self._client.update_item(
                TableName=self._table,
                Key={KEY: {"S": key}},
                UpdateExpression=expression.update,
                ConditionExpression=expression.condition,
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except (ClientError, *OUTAGES) as error:
            if not isinstance(error, ClientError) or _code(error) != LOST:
                raise _unavailable(key, error) from error
            return False, error.response.get("Item", {})
        return True, answer["Attributes"]


def _unavailable(item: str, error: Exception) -> Exception:
    """Return what to raise: whatever keeps the table from answering, it is not a bug of ours."""
    if not isinstance(error, ClientError):
        return LimiterUnavailable(item, type(error).__name__)
    return error if _code(error) == OUR_FAULT else LimiterUnavailable(item, _code(error))


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")


def spell(
    write: Write, expressions: Expressions
) -> "tuple[Expression, dict[str, UniversalAttributeValueTypeDef]]":
    """Return the expression of *write* and exactly the values it names."""
    match write:
        case Init(state):
            return expressions.init, _all_values(state, ATTRIBUTES)
        case Reset(epoch, state):
            return expressions.reset, _all_values(state, ATTRIBUTES) | _numbers({"was": epoch})
        case NewDay(day, epoch, next_number, moved):
            line = {"ep": epoch, "nxt": next_number, "moved": moved}
            return expressions.day, _numbers(line | {"day": day, "zero": 0, "one": 1})
        case Rebase(epoch, state, refused, moved):
            kept = {"next_number", "epoch", "sequence", "day", "day_count", "refused"}
            names = {field: name for field, name in ATTRIBUTES.items() if field not in kept}
            counts = _numbers({"ep": epoch, "one": 1, "refused": refused, "moved": moved})
            return expressions.rebase, _all_values(state, names) | counts
        case Tally(epoch):
            return expressions.tally, _numbers({"ep": epoch, "one": 1})
        case Take():
            return _spell_take(write, expressions)


def _spell_take(
    take: Take, expressions: Expressions
) -> "tuple[Expression, dict[str, UniversalAttributeValueTypeDef]]":
    numbers = {
        "k": take.count,
        "one": 1,
        "ep": take.epoch,
        "nfloor": take.floor,
        "day": take.day,
        "droom": take.room,
        "vt": take.turn,
    }
    match take.line:
        case Line.HOT:
            return expressions.hot, _numbers(numbers | {"nlast": take.last})
        case Line.COLD:
            return expressions.cold, _numbers(numbers | {"nfk": take.floor + take.count})
        case Line.IDLE:
            jump = {"nfk": take.floor + take.count, "bt": take.base_at}
            return expressions.idle, _numbers(numbers | jump)


def _all_values(
    state: State, names: Mapping[str, str]
) -> "dict[str, UniversalAttributeValueTypeDef]":
    numbers = {name: int(getattr(state, field)) for field, name in names.items()}
    words = {name: str(getattr(state, field)) for field, name in WORDS.items()}
    words[REASON] = state.reason.name
    return _numbers(numbers) | {f":{name}": {"S": word} for name, word in words.items()}


def _numbers(numbers: Mapping[str, int]) -> "dict[str, UniversalAttributeValueTypeDef]":
    return {f":{name}": {"N": str(number)} for name, number in numbers.items()}


def decode(stored: "Mapping[str, AttributeValueTypeDef]") -> State | None:
    """Return the stored attributes as a state, what lacks as zero; None for what is no item."""
    if ATTRIBUTES["nominal"] not in stored:
        return None
    numbers = {f: int(stored.get(name, {}).get("N", "0")) for f, name in ATTRIBUTES.items()}
    numbers["earned"] = numbers["earned"] or numbers["interval"]
    told = PaceReason[stored[REASON].get("S", "")]
    state = State(**numbers, over_by="", over_why="", source="", reason=told)
    return replace(state, **{f: stored.get(n, {}).get("S", "") for f, n in WORDS.items()})
