"""Which call a send without an id made, and which window a kill hit.

Belongs here: matching by prompt, organisation and time, one each way. Does not: what follows from
it (``fence_judge.py``).
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from fence_books import Kill, Row, Send, kind, name_of, when

CLOCKS = timedelta(milliseconds=150)
"""A row's time is taken before its write, a call's when it arrives."""
DELAY = timedelta(seconds=1.4)
"""The longest that the vendor is told to wait, before it accepts or before it answers."""
LATE = timedelta(seconds=1)
"""A busy vendor lists a call so long after it was sent, and answers so long after it meant to."""
SUBMIT = timedelta(seconds=3)
LEASE = timedelta(seconds=10)
"""A send leaves within the lease that its row was written under, or not at all."""
REDIRECTED = 300
UNKNOWN = {"submitting", "lost"}


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
        """Say whether the send's call arrived and was turned away since its row.

        A composite's call names no prompt: any of its organisation's may be it.
        """
        begun = when(attempt["submittedAt"]) - CLOCKS
        composes = "." in attempt["step"]
        return any(
            call["organisation"] == attempt["organisation"]
            and call["endpoint"] == ("composite" if composes else "generate")
            and (composes or call["prompt_sha256"] in {None, self._prompts[attempt["jobId"]]})
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
