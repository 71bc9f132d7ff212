"""The judge of the fence's bench: the vendor's list of calls against what the tables say.

Belongs here: windows of kills, matching of billed calls, the figures. Does not: anything of the
package under test; tables are read with plain botocore, and the rules are stated once more here.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Row = Mapping[str, Any]
"""An item with plain values."""

WINDOWS = ("before_row", "row_not_sent", "sent", "accepted_no_id", "id_no_result")
CLOCKS = timedelta(milliseconds=150)
"""A row's time is taken before its write, a call's when it arrives."""
DELAY = timedelta(seconds=0.9)
LATE = timedelta(seconds=1)
"""A busy vendor lists a call so long after it was sent, and answers so long after it meant to."""
SUBMIT = timedelta(seconds=3)
LEASE = timedelta(seconds=10)
"""A send leaves within the lease that its row was written under, or not at all."""
REDIRECTED = 300
UNKNOWN = {"submitting", "lost"}
OF_A_RESULT = {"first-try", "retry", "regenerate"}
CERTAIN = OF_A_RESULT | {"duplicate", "extra-variant", "extra-aspect", "orphaned"}
POSSIBLE = {"possible-duplicate", "possible-cost", "accepted-but-failed", "cancelled-late"}
Send = tuple[str, str, Decimal]
"""Job, step and number of a send."""


class Books:
    """The tables, read as they are."""

    def __init__(self, client: "DynamoDBClient", prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def all(self, table: str) -> list[Row]:
        """Return every item of a table."""
        pages = self._client.get_paginator("scan").paginate(
            TableName=f"{self._prefix}-{table}", ConsistentRead=True
        )
        return [plain(item) for page in pages for item in page["Items"]]

    def work(self, job_id: str) -> list[Row]:
        """Return everything sent and made for a job."""
        pages = self._client.get_paginator("query").paginate(
            TableName=f"{self._prefix}-work",
            KeyConditionExpression="jobId = :job",
            ExpressionAttributeValues={":job": {"S": job_id}},
            ConsistentRead=True,
        )
        return [plain(item) for page in pages for item in page["Items"]]

    def job(self, job_id: str, customer: str) -> Row:
        """Return a job's row."""
        key = {"jobId": {"S": job_id}, "customerId": {"S": customer}}
        answer = self._client.get_item(
            TableName=f"{self._prefix}-jobs", Key=key, ConsistentRead=True
        )
        return plain(answer.get("Item", {}))


def plain(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item's values without their type letters."""
    return {name: _value(value) for name, value in item.items()}


def _value(value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever a table holds.
    ((kind, inner),) = value.items()
    if kind == "N":
        return Decimal(inner)
    if kind == "L":
        return [_value(one) for one in inner]
    return plain(inner) if kind == "M" else inner


def kind(row: Row) -> str:
    """Return what a row of the work table is: step, attempt or operation."""
    return str(row["sk"]).partition("#")[0]


def when(text: str) -> datetime:
    """Return a time of either book."""
    return datetime.fromisoformat(text)


@dataclass
class Kill:
    """One SIGKILL, and all that was to be seen of it at that moment."""

    at: datetime
    run_id: str
    customer: str
    by_daemon: bool
    steps: tuple[str, ...]
    jobs: list[tuple[Row, list[Row]]]
    """Jobs that the killed wave held, each with its work."""
    arrived: dict[str, bool]
    """Id of each call that had arrived -> whether it was accepted."""

    def died(self) -> Iterator[Send]:
        """Yield the sends that had no answer yet: what they would have heard, nobody heard."""
        for row, work in self.jobs:
            for one in work:
                mine = kind(one) == "attempt" and one["wave"] == row["wave"]
                if mine and one["state"] == "submitting":
                    yield name_of(one)


def name_of(row: Row) -> Send:
    """Return what tells a send from any other; an operation row has the name of its send."""
    return (row["jobId"], row["step"], row["n"])


@dataclass
class Verdict:
    """What the judge found."""

    figures: dict[str, int]
    faults: list[str] = field(default_factory=list)
    causes: dict[str, int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)
    misstated: int = 0
    """Rows and sums that are there and not true."""


class Match:
    """Which call each send without an id made: at most one each way."""

    def __init__(self, calls: Sequence[Row], prompts: Mapping[str, str], ids: set[str]) -> None:
        self._by_prompt: dict[str, list[Row]] = defaultdict(list)
        self._by_time: dict[tuple[str, str], list[Row]] = defaultdict(list)
        self._prompts = prompts
        self._calls = calls
        self.used: dict[str, Row] = {}
        """Id of a call -> the send that made it."""
        for call in calls:
            if call["job_id"] in ids:
                continue
            if call["endpoint"] == "generate" and call["prompt_sha256"]:
                self._by_prompt[call["prompt_sha256"]].append(call)
            else:
                self._by_time[call["organisation"] or "", call["endpoint"]].append(call)

    def call_of(self, attempt: Row) -> Row | None:
        """Return the call that a send made, and keep it from being taken again."""
        if "." in attempt["step"]:
            found = self._by_time[attempt["organisation"], "composite"]
        else:
            found = self._by_prompt[self._prompts[attempt["jobId"]]]
        begun = when(attempt["submittedAt"]) - CLOCKS
        for call in found:
            at = when(call["at"])
            if (
                call["id"] not in self.used
                and call["accepted"]
                and begun <= at <= begun + SUBMIT + LATE
            ):
                self.used[call["id"]] = attempt
                return call
        return None

    def was_refused(self, attempt: Row, until: datetime) -> bool:
        """Say whether a call of the send's kind arrived and was turned away since its row."""
        begun = when(attempt["submittedAt"]) - CLOCKS
        endpoint = "composite" if "." in attempt["step"] else "generate"
        return any(
            call["organisation"] == attempt["organisation"]
            and call["endpoint"] == endpoint
            and not call["accepted"]
            and begun <= when(call["at"]) <= until
            for call in self._calls
        )


def windows(kill: Kill, match: Match) -> set[str]:
    """Return the windows that a kill hit."""
    hit: set[str] = set()
    for row, work in kill.jobs:
        made = {one["step"] for one in work if kind(one) == "step"}
        sends = [one for one in work if kind(one) == "attempt"]
        reached = next((step for step in kill.steps if step not in made), None)
        if reached is not None and not any(one["step"] == reached for one in sends):
            hit.add("before_row")
        for send in sends:
            if send["wave"] == row["wave"] and send["step"] not in made:
                hit |= _window(send, kill, match)
    return hit


def _window(send: Row, kill: Kill, match: Match) -> set[str]:
    if send["state"] == "accepted":
        return {"id_no_result"}
    if send["state"] != "submitting":
        return set()
    call = match.call_of(send)
    if call is None:
        return {"sent" if match.was_refused(send, kill.at) else "row_not_sent"}
    return {"accepted_no_id" if kill.arrived.get(call["id"]) else "sent"}


def prompts_of(jobs: Iterable[Row], say: Callable[[str, int], str]) -> dict[str, str]:
    """Return job id -> the hash of its prompt, which the vendor's list shows."""
    return {
        row["jobId"]: sha256(
            say(row["customerId"], int(row["idempotencyKey"])).encode()
        ).hexdigest()
        for row in jobs
    }


class Silence:
    """Which send without an id each call stands for whose answer nobody has: one each way.

    An answer that was given in time must have had nobody to hear it: its send died then.
    """

    def __init__(self, sends: Sequence[Row], prompts: Mapping[str, str], died: set[Send]) -> None:
        self._sends = sorted(sends, key=lambda one: one["submittedAt"])
        self._prompts = prompts
        self._died = died
        self._used: set[Send] = set()

    def unexplained(self, calls: Sequence[Row]) -> list[Row]:
        """Return the calls that no send is left for."""
        told = [call for call in calls if _was_answered(call)]
        untold = [call for call in calls if not _was_answered(call)]
        told = [call for call in told if not self._take(call, self._is_dead)]
        told = [call for call in told if not self._take(call, _was_late)]
        return [*told, *(call for call in untold if not self._take(call, _was_lost))]

    def _take(self, call: Row, fits: Callable[[Row, Row], bool]) -> bool:
        at = when(call["at"])
        for send in self._sends:
            begun = when(send["submittedAt"]) - CLOCKS
            free = name_of(send) not in self._used and begun <= at <= begun + LEASE + SUBMIT + LATE
            if free and self._is_of(call, send) and fits(call, send):
                self._used.add(name_of(send))
                return True
        return False

    def _is_of(self, call: Row, send: Row) -> bool:
        if call["endpoint"] == "generate":
            return call["prompt_sha256"] == self._prompts[send["jobId"]]
        return "." in send["step"] and call["organisation"] == send["organisation"]

    def _is_dead(self, call: Row, send: Row) -> bool:
        del call
        return name_of(send) in self._died


def _was_answered(call: Row) -> bool:
    status = call["status"]
    return status is not None and status < REDIRECTED and "drop" not in call["faults"]


def _was_late(call: Row, send: Row) -> bool:
    """Say whether the answer left after the sender's patience; a busy machine is granted more."""
    answered = when(call["at"]) + DELAY * call["faults"].count("delay") + LATE
    return send["state"] == "lost" and answered > when(send["submittedAt"]) + SUBMIT


def _was_lost(call: Row, send: Row) -> bool:
    del call
    return bool(send["state"] in UNKNOWN or send["state"] == "failed")


class Judge:
    """Holds the vendor's list against the tables, once everything has come to rest."""

    def __init__(
        self,
        books: Books,
        calls: Sequence[Row],
        kills: Sequence[Kill],
        say: Callable[[str, int], str],
    ) -> None:
        self.jobs = books.all("jobs")
        work = books.all("work")
        self.sends = [one for one in work if kind(one) == "attempt"]
        self.operations = [one for one in work if kind(one) == "operation"]
        self.steps = [one for one in work if kind(one) == "step"]
        self.billed = [call for call in calls if call["billed"]]
        self.calls = calls
        self.kills = kills
        self.prompts = prompts_of(self.jobs, say)
        self.rows_of: dict[Send, list[Row]] = defaultdict(list)
        for one in self.operations:
            self.rows_of[name_of(one)].append(one)
        self.ids = {one["vendorId"] for one in self.sends if "vendorId" in one}

    def judge(self) -> Verdict:
        """Return all figures, with a sentence for each promise that was broken."""
        hits: Counter[str] = Counter()
        for kill in self.kills:
            hits.update(windows(kill, Match(self.calls, self.prompts, self.ids)))
        unexplained = self._unexplained()
        lost = self._lost()
        doubles = self._silent_doubles()
        causes = Counter(str(one["cause"]) for one in self.operations)
        figures = {
            "kills": len(self.kills),
            **{f"kills_{name}": hits[name] for name in WINDOWS},
            "jobs": len(self.jobs),
            "jobs_lost": len(lost),
            "silent_double_payments": sum(doubles.values()),
            "unexplained_billed": len(unexplained),
            "unknown_outcomes": len(self._unknown()),
            "possible_duplicates": causes["possible-duplicate"],
            "orphans_collected": len(self._collected()),
        }
        faults = [
            f"{call['id']} at {call['at']} ({call['organisation']} {call['endpoint']}, "
            f"{call['status']}, {call['faults']}) has no row"
            for call in unexplained
        ]
        faults += [
            f"Job {row['jobId']} is lost: {row['status']}, {row.get('reason')}" for row in lost
        ]
        faults += [
            f"{job} paid {step} again {count} times" for (job, step), count in doubles.items()
        ]
        misstated = self._misstated()
        return Verdict(figures, [*misstated, *faults], dict(causes), self._ends(), len(misstated))

    def _ends(self) -> dict[str, int]:
        return dict(
            Counter(f"{row['status']}{' held' if 'hold' in row else ''}" for row in self.jobs)
        )

    def _unknown(self) -> list[Row]:
        return [one for one in self.sends if one["state"] in UNKNOWN and "decision" not in one]

    def _lost(self) -> list[Row]:
        """Return jobs that are neither done nor stand for an outcome that is unknown."""
        unknown = {one["jobId"] for one in self._unknown()}
        return [
            row
            for row in self.jobs
            if row["status"] != "succeeded"
            and not (row["status"] == "queued" and row["jobId"] in unknown)
        ]

    def _unexplained(self) -> list[Row]:
        """Return billed calls that do not stand in exactly one row, or in one silent send."""
        rows = Counter(one["vendorId"] for one in self.operations if one["output"] == 0)
        silent = [call for call in self.billed if call["job_id"] not in self.ids]
        named = [call for call in self.billed if call["job_id"] in self.ids]
        nameless = [one for one in self.sends if "vendorId" not in one and self._is_open(one)]
        died = {send for kill in self.kills for send in kill.died()}
        return [
            *(call for call in named if rows[call["job_id"]] != 1),
            *Silence(nameless, self.prompts, died).unexplained(silent),
        ]

    def _is_open(self, send: Row) -> bool:
        """Say whether a send without an id may stand for a billed call: unknown, or booked so."""
        return send["state"] in UNKNOWN or bool(self.rows_of[name_of(send)])

    def _misstated(self) -> list[str]:
        """Return a sentence for each row, send or sum that says what is not so."""
        bound = {name_of(one) for one in self.steps}
        billed = {call["job_id"]: Decimal(call["operations"]) for call in self.billed}
        found = [
            f"{one['jobId']} {one['sk']} says {one['cause']}"
            for one in self.operations
            if (one["cause"] in OF_A_RESULT) != (name_of(one) in bound)
        ]
        found += [
            f"{one['jobId']} {one['sk']} is booked as certain, at {one['operations']}"
            for one in self.operations
            if one["cause"] in CERTAIN
            and not one["vendorId"].startswith("send:")
            and billed.get(one["vendorId"]) != one["operations"]
        ]
        found += [
            f"{job} {step}, send {n} has {len(rows)} rows"
            for (job, step, n), rows in self.rows_of.items()
            if len(rows) != 1
        ]
        return found + list(self._wrong_sums())

    def _wrong_sums(self) -> Iterator[str]:
        for row in self.jobs:
            if "costActual" not in row:
                continue
            mine = [one for one in self.operations if one["jobId"] == row["jobId"]]
            for name, causes in (("costActual", CERTAIN), ("costPossible", POSSIBLE)):
                total = sum(
                    (one["operations"] for one in mine if one["cause"] in causes), Decimal()
                )
                if row[name] != total:
                    yield f"Job {row['jobId']} says {name} {row[name]}, its rows {total}"

    def _silent_doubles(self) -> dict[tuple[str, str], int]:
        """Return (job, step) -> payments beyond the first that no row names."""
        job_of = {digest: job for job, digest in self.prompts.items()}
        owner = {
            one["vendorId"]: (one["jobId"], one["step"]) for one in self.sends if "vendorId" in one
        }
        paid: Counter[tuple[str, str]] = Counter()
        for call in self.billed:
            if call["endpoint"] == "generate":
                paid[job_of.get(call["prompt_sha256"], "?"), "art"] += 1
            elif call["job_id"] in owner:
                paid[owner[call["job_id"]]] += 1
        named: Counter[tuple[str, str]] = Counter()
        for one in self.operations:
            if one["cause"] not in {"first-try", "retry", "regenerate"}:
                named[one["jobId"], one["step"]] += 1
        for one in self.sends:
            later = any(
                other["jobId"] == one["jobId"]
                and other["step"] == one["step"]
                and other["n"] > one["n"]
                for other in self.sends
            )
            if one["state"] in UNKNOWN and not later:
                named[one["jobId"], one["step"]] += 1
        return {
            key: count - 1 - named[key] for key, count in paid.items() if count - 1 > named[key]
        }

    def _collected(self) -> set[str]:
        """Return vendor jobs whose worker was killed and that were booked all the same."""
        booked = {one["vendorId"] for one in self.operations}
        return {
            send["vendorId"]
            for kill in self.kills
            for row, work in kill.jobs
            for send in work
            if kind(send) == "attempt"
            and send["state"] == "accepted"
            and send["wave"] == row["wave"]
            and not any(kind(one) == "step" and one["step"] == send["step"] for one in work)
            and send["vendorId"] in booked
        }
