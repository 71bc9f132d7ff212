"""The judge of the fence's bench: the vendor's list of calls against what the tables say.

Belongs here: the promises and the figures. Does not: anything of the package under test; the rules
are stated once more here.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256

from fence_books import Books, Kill, Row, Send, kind, name_of
from fence_match import UNKNOWN, Match, Silence, windows

WINDOWS = ("before_row", "row_not_sent", "sent", "accepted_no_id", "id_no_result")
OF_A_RESULT = {"first-try", "retry", "regenerate"}
CERTAIN = OF_A_RESULT | {"duplicate", "extra-variant", "extra-aspect", "orphaned", "cancelled-late"}
POSSIBLE = {"possible-duplicate", "possible-cost", "accepted-but-failed"}


@dataclass
class Verdict:
    """What the judge found."""

    figures: dict[str, int]
    faults: list[str] = field(default_factory=list)
    causes: dict[str, int] = field(default_factory=dict)
    ends: dict[str, int] = field(default_factory=dict)
    misstated: int = 0
    """Rows and sums that are there and not true."""


def prompts_of(jobs: Iterable[Row], say: Callable[[str, int], str]) -> dict[str, str]:
    """Return job id -> the hash of its prompt, which the vendor's list shows."""
    return {
        row["jobId"]: sha256(
            say(row["customerId"], int(row["idempotencyKey"])).encode()
        ).hexdigest()
        for row in jobs
    }


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
        died = {send for kill in self.kills for send in kill.died}
        return [
            *(call for call in named if rows[call["job_id"]] != 1),
            *Silence(nameless, self.prompts, died).unexplained(silent),
        ]

    def _is_open(self, send: Row) -> bool:
        """Say whether a send without an id may stand for a billed call: unknown, or booked so."""
        return send["state"] in UNKNOWN or name_of(send) in self.rows_of

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
