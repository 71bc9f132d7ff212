"""The protocol's writes in DynamoDB's words.

Here: the exact expressions and the attribute codec. Not here: the client and its faults
(`dynamodb`), which write comes next (`reservation`, `rates`). Attribute names are short because
each write carries them; none is a reserved word.

DynamoDB's grammar allows one plus or minus per SET value, no max() and no arithmetic in a
condition, and emulators accept more than it does; so every sum is made by the caller.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from fireflyassets.limiter.arithmetic import State
from fireflyassets.limiter.port import PaceReason
from fireflyassets.limiter.protocol import Init, Line, NewDay, Rebase, Reset, Take, Tally, Write

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        UniversalAttributeValueTypeDef,
    )

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
FLOWS: Final = "flows"
LAYOUT: Final = {*ATTRIBUTES.values(), *WORDS.values(), REASON, FLOWS}


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
    "src = :src, why = :why, flows = :flows",
    "attribute_not_exists(nom)",
)
HOT: Final = Expression(
    "SET nxt = nxt + :k, vt = :vt, dcnt = dcnt + :k, seq = seq + :one",
    f"{FENCE} AND nxt >= :nfloor AND nxt <= :nlast AND vt <= :vt",
)
TURN: Final = Expression(
    "SET nxt = nxt + :k, vt = :vt, flows.#flow = :on, dcnt = dcnt + :k, seq = seq + :one",
    f"{HOT.condition} AND flows.#flow = :was",
)
FIRST_TURN: Final = Expression(
    TURN.update, f"{HOT.condition} AND attribute_not_exists(flows.#flow)"
)
COLD: Final = Expression(
    "SET nxt = :nfk, vt = :vt, flows = :flows, dcnt = dcnt + :k, seq = seq + :one",
    f"{FENCE} AND nxt < :nfloor",
)
IDLE: Final = Expression(
    "SET nxt = :nfk, bn = :nfloor, bt = :bt, vt = :vt, flows = :flows, ep = ep + :one, "
    "dcnt = dcnt + :k, seq = seq + :one",
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
    "ep = :ep AND vt <= :vt",
)
TALLY: Final = Expression("SET rcnt = rcnt + :one, seq = seq + :one", "ep = :ep")
UPGRADE: Final = Expression(INIT.update, "ep = :was AND seq = :old")
RESET: Final = Expression(INIT.update, "ep = :was")


@dataclass(frozen=True, slots=True)
class Expressions:
    """The protocol's writes in DynamoDB's words; tests break one at a time to see it caught."""

    init: Expression = INIT
    hot: Expression = HOT
    turn: Expression = TURN
    first_turn: Expression = FIRST_TURN
    cold: Expression = COLD
    idle: Expression = IDLE
    day: Expression = DAY
    rebase: Expression = REBASE
    tally: Expression = TALLY
    reset: Expression = RESET


def spell(
    write: Write, expressions: Expressions
) -> "tuple[Expression, dict[str, UniversalAttributeValueTypeDef]]":
    """Return the expression of *write* and exactly the values it names."""
    match write:
        case Init(state):
            return expressions.init, whole(state)
        case Reset(epoch, state):
            return expressions.reset, whole(state) | numbers_of({"was": epoch})
        case NewDay(day, epoch, next_number, moved):
            line = {"ep": epoch, "nxt": next_number, "moved": moved}
            return expressions.day, numbers_of(line | {"day": day, "zero": 0, "one": 1})
        case Rebase(epoch, state, refused, moved):
            kept = {"next_number", "epoch", "sequence", "day", "day_count", "refused"}
            names = {field: name for field, name in ATTRIBUTES.items() if field not in kept}
            counts = numbers_of({"ep": epoch, "one": 1, "refused": refused, "moved": moved})
            return expressions.rebase, _all_values(state, names) | counts
        case Tally(epoch):
            return expressions.tally, numbers_of({"ep": epoch, "one": 1})
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
    }
    match take.line:
        case Line.HOT:
            return expressions.hot, numbers_of(numbers | {"vt": take.turn, "nlast": take.last})
        case Line.TURN:
            turn = {"vt": take.turn, "nlast": take.last, "on": take.goes_on}
            if not take.was:
                return expressions.first_turn, numbers_of(numbers | turn)
            return expressions.turn, numbers_of(numbers | turn | {"was": take.was})
        case Line.COLD:
            jump = {"vt": take.turn, "nfk": take.floor + take.count}
            return expressions.cold, numbers_of(numbers | jump) | _flows({})
        case Line.IDLE:
            jump = {"vt": take.turn, "nfk": take.floor + take.count, "bt": take.base_at}
            return expressions.idle, numbers_of(numbers | jump) | _flows({})


def names_in(write: Write) -> dict[str, str]:
    """Return what stands for a flow's name in the expression of *write*: any word may be one."""
    if isinstance(write, Take) and write.line is Line.TURN:
        return {"#flow": write.flow}
    return {}


def whole(state: State) -> "dict[str, UniversalAttributeValueTypeDef]":
    """Return the values of everything that an item has."""
    return _all_values(state, ATTRIBUTES) | _flows(state.flows)


def _flows(flows: Mapping[str, int]) -> "dict[str, UniversalAttributeValueTypeDef]":
    return {f":{FLOWS}": {"M": {name: {"N": str(at)} for name, at in flows.items()}}}


def _all_values(
    state: State, names: Mapping[str, str]
) -> "dict[str, UniversalAttributeValueTypeDef]":
    numbers = {name: int(getattr(state, field)) for field, name in names.items()}
    words = {name: str(getattr(state, field)) for field, name in WORDS.items()}
    words[REASON] = state.reason.name
    return numbers_of(numbers) | {f":{name}": {"S": word} for name, word in words.items()}


def numbers_of(numbers: Mapping[str, int]) -> "dict[str, UniversalAttributeValueTypeDef]":
    """Return numbers as the values that an expression names."""
    return {f":{name}": {"N": str(number)} for name, number in numbers.items()}


def decode(stored: "Mapping[str, AttributeValueTypeDef]") -> State | None:
    """Return the stored attributes as a state, what lacks as zero; None for what is no item."""
    if ATTRIBUTES["nominal"] not in stored:
        return None
    numbers = {f: int(stored.get(name, {}).get("N", "0")) for f, name in ATTRIBUTES.items()}
    numbers["earned"] = numbers["earned"] or numbers["interval"]
    told = PaceReason[stored[REASON].get("S", "")]
    kept = {name: int(at.get("N", "0")) for name, at in stored.get(FLOWS, {}).get("M", {}).items()}
    state = State(**numbers, over_by="", over_why="", source="", reason=told, flows=kept)
    return replace(state, **{f: stored.get(n, {}).get("S", "") for f, n in WORDS.items()})
