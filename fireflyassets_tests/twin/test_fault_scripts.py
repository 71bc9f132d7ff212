"""Scripted faults: each kind does what it says, to the calls it names."""

import io
from datetime import timedelta
from typing import Any

import httpx
import pytest
from PIL import Image

from fireflyassets.twin.settings import LimitSetting
from fireflyassets_tests.twin.rehearsal import ADA, BOB, EVE, GENERATE, Rehearsal, rehearse


async def statuses(twin: Rehearsal, count: int, prompt: str = "a pear") -> list[int]:
    return [(await twin.generate(prompt)).status_code for _ in range(count)]


async def first_output(twin: Rehearsal, done: dict[str, Any]) -> httpx.Response:
    return await twin.http.get(done["result"]["outputs"][0]["image"]["url"])


BUSY: dict[str, object] = {"kind": "answer", "status": 503, "body": {"error_code": "busy"}}


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({}, [503, 503, 503, 503]),
        ({"endpoint": "generate"}, [503, 503, 503, 503]),
        ({"endpoint": GENERATE}, [503, 503, 503, 503]),
        ({"endpoint": "firefly"}, [503, 503, 503, 503]),
        ({"endpoint": "photoshop"}, [202, 202, 202, 202]),
        ({"nth": 2}, [202, 503, 202, 202]),
        ({"nth": [1, 4]}, [503, 202, 202, 503]),
        ({"every": 2}, [202, 503, 202, 503]),
        ({"times": 1}, [503, 202, 202, 202]),
        ({"for_seconds": 0}, [202, 202, 202, 202]),
        ({"client": BOB.id}, [202, 202, 202, 202]),
        ({"organisation": ADA.organisation, "nth": 1}, [503, 202, 202, 202]),
        ({"organisation": EVE.organisation}, [202, 202, 202, 202]),
        ({"prompt_contains": "pear"}, [503, 503, 503, 503]),
        ({"prompt_contains": "plum"}, [202, 202, 202, 202]),
        ({"probability": 0}, [202, 202, 202, 202]),
        ({"probability": 1}, [503, 503, 503, 503]),
    ],
)
def test_trigger_names_its_calls(when: dict[str, Any], expected: list[int]) -> None:
    """Endpoint, order, client, organisation, prompt and chance choose the calls."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault(BUSY, **when)
        assert await statuses(twin, 4) == expected

    rehearse(steps)


def test_chance_falls_the_same_for_a_seed() -> None:
    """A probability strikes the same calls in every run of the same seed."""
    runs: list[list[int]] = []

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "storm"}, probability=0.5)
        runs.append(await statuses(twin, 12))

    for seed in (5, 5, 6):
        rehearse(steps, seed=seed)
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert set(runs[0]) == {202, 429}


def test_faults_are_listed_and_lifted() -> None:
    """GET shows counts; DELETE lifts one or all; a mistyped fault is refused whole."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault(BUSY, nth=2)
        await statuses(twin, 2)
        listed = (await twin.http.get("/_twin/faults")).json()["faults"]
        assert [(each["id"], each["matched"], each["fired"]) for each in listed] == [
            ("fault-1", 2, 1)
        ]
        assert (await twin.http.delete("/_twin/faults/fault-9")).status_code == 404
        assert (await twin.http.delete("/_twin/faults/fault-1")).json() == {"removed": 1}
        await twin.fault(BUSY)
        assert (await twin.http.delete("/_twin/faults")).json() == {"removed": 1}
        assert await statuses(twin, 1) == [202]
        for bad in ({"then": {"kind": "nonsense"}}, {"when": {"nht": 1}, "then": BUSY}):
            assert (await twin.http.post("/_twin/faults", json=bad)).status_code == 422
        assert not (await twin.http.get("/_twin/faults")).json()["faults"]

    rehearse(steps)


def test_any_answer_can_be_given_unaccepted() -> None:
    """Status, headers and an HTML body go out as written, and nothing is billed or counted."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault(
            {"kind": "answer", "status": 502, "body": "<h1>502</h1>", "headers": {"X-Cache": "no"}}
        )
        answer = await twin.generate()
        assert (answer.status_code, answer.text) == (502, "<h1>502</h1>")
        assert answer.headers["x-cache"] == "no"
        [call] = await twin.calls()
        assert (call["accepted"], call["billed"], call["counted"]) == (False, False, False)
        assert (call["status"], call["faults"]) == (502, ["answer"])

    rehearse(steps)


def test_answer_can_come_after_acceptance() -> None:
    """A 504 after accept: billed, and the job exists although the caller was not told."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "answer", "status": 504, "accept": True})
        answer = await twin.generate()
        assert (answer.status_code, answer.content) == (504, b"")
        [call] = await twin.calls()
        assert (call["accepted"], call["billed"], call["operations"]) == (True, True, "0.5")
        done = await twin.ended(
            httpx.Response(202, json={"statusUrl": f"/v3/status/{call['job_id']}"})
        )
        assert done["status"] == "succeeded"

    rehearse(steps)


def test_delays_stand_before_and_after_acceptance() -> None:
    """The call still ends as it should; the clock has moved as told."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "delay", "before_seconds": 0.05, "after_seconds": 0.05})
        before = twin.clock.now()
        assert await statuses(twin, 1) == [202]
        waited = (twin.clock.now() - before).total_seconds()
        assert waited >= 0.1

    rehearse(steps)


def test_storm_answers_429_whatever_the_limits_say() -> None:
    """A storm carries any Retry-After, or none, and does not use the limit up."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "storm", "retry_after": "-1"}, times=1)
        await twin.fault({"kind": "storm", "retry_after": None}, nth=2)
        first, second = await twin.generate(), await twin.generate()
        assert (first.status_code, first.headers["retry-after"]) == (429, "-1")
        assert (second.status_code, "retry-after" in second.headers) == (429, False)
        assert (await twin.summary())["http_429"] == 2

    rehearse(steps)


def test_limit_can_be_cut_for_a_time() -> None:
    """A cut limit holds while the fault is in force."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "limit", "factor": 0.5}, endpoint="firefly")
        assert await statuses(twin, 3) == [202, 202, 429]
        await twin.http.delete("/_twin/faults")
        assert await statuses(twin, 3) == [202, 202, 429]

    rehearse(steps, limits=LimitSetting(firefly_per_minute=4))


def test_a_limit_halved_for_ten_minutes_is_whole_again() -> None:
    """Minute by minute half the calls pass for ten minutes, then all of them."""

    async def steps(twin: Rehearsal) -> None:
        cut = {"endpoint": "firefly", "for_seconds": 600}
        await twin.fault({"kind": "limit", "factor": 0.5}, **cut)
        passed: list[int] = []
        for _ in range(12):
            passed.append((await statuses(twin, 5)).count(202))
            twin.clock.shift += timedelta(seconds=61)
        assert passed == [2] * 10 + [4] * 2

    rehearse(steps, limits=LimitSetting(firefly_per_minute=4))


@pytest.mark.parametrize(
    ("then", "header"),
    [
        ({"form": "date"}, "GMT"),
        ({"form": "literal", "value": "1e9"}, "1e9"),
        ({"form": "seconds"}, ""),
        ({"form": "none"}, None),
    ],
)
def test_real_429_can_take_another_form(then: dict[str, object], header: str | None) -> None:
    """Date, literal, seconds or no header at all."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "retry_after", **then})
        await twin.generate()
        refused = await twin.generate()
        assert refused.status_code == 429
        said = refused.headers.get("retry-after")
        assert said is None if header is None else said is not None and said.endswith(header)

    rehearse(steps, limits=LimitSetting(firefly_per_minute=1))


def test_stuck_job_never_ends_but_can_be_cancelled() -> None:
    """A stuck job runs for ever; cancelling it still works."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "stuck"})
        accepted = (await twin.generate()).json()
        for hours in (0, 5, 23):
            twin.clock.shift = timedelta(hours=hours)
            assert (await twin.get(accepted["statusUrl"])).json()["status"] == "running"
        await twin.http.put(accepted["cancelUrl"], headers=await twin.headers())
        ended = await twin.ended(httpx.Response(202, json=accepted))
        assert ended["status"] == "cancelled"

    rehearse(steps)


def test_late_job_ends_later() -> None:
    """The extra seconds are wall time."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "late", "seconds": 0.2})
        before = twin.clock.now()
        await twin.ended(await twin.generate())
        assert (twin.clock.now() - before).total_seconds() >= 0.2

    rehearse(steps)


def test_lost_job_is_billed_and_unknown() -> None:
    """Status answers 404 for a job that was accepted and billed."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "lost"})
        accepted = (await twin.generate()).json()
        answer = await twin.get(accepted["statusUrl"])
        assert (answer.status_code, answer.json()["error_code"]) == (404, "unknown_job_id")
        assert (await twin.summary())["billed"] == 1

    rehearse(steps)


@pytest.mark.parametrize(("then", "word"), [("cancelled", "cancelled"), ("succeeded", "succeeded")])
def test_cancel_can_stay_pending(then: str, word: str) -> None:
    """`cancel_pending` lasts as told and ends as told."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "cancel_pending", "seconds": 0.02, "then": then})
        await twin.fault({"kind": "late", "seconds": 0.2})
        accepted = await twin.generate()
        await twin.http.put(accepted.json()["cancelUrl"], headers=await twin.headers())
        pending = (await twin.get(accepted.json()["statusUrl"])).json()
        assert pending["status"] == "cancel_pending"
        assert (await twin.ended(accepted))["status"] == word

    rehearse(steps)


@pytest.mark.parametrize("word", ["canceled", "cancelled", "timeout", "failed", "weird_new_state"])
def test_job_can_end_with_any_word(word: str) -> None:
    """Known or not, the word is shown with HTTP 200 and no result."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "ends_as", "status": word, "error_code": "e", "message": "m"})
        done = await twin.ended(await twin.generate())
        assert done["status"] == word
        assert (done["error_code"], done["message"], "result" in done) == ("e", "m", False)

    rehearse(steps)


def test_status_word_can_be_missing() -> None:
    """A null status leaves the word out of the body."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "ends_as", "status": None})
        accepted = await twin.generate()
        assert set(await twin.ended(accepted)) == {"jobId"}

    rehearse(steps)


@pytest.mark.parametrize("count", [0, 1])
def test_job_can_bring_fewer_outputs(count: int) -> None:
    """It succeeds with fewer outputs than asked, and only those are billed."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "fewer_outputs", "count": count})
        done = await twin.ended(await twin.generate(numVariations=3))
        assert (done["status"], len(done["result"]["outputs"])) == ("succeeded", count)
        told = await twin.summary()
        assert (told["outputs_billed"], told["billed"]) == (count, min(count, 1))

    rehearse(steps)


def test_nothing_written_is_a_missing_key() -> None:
    """The job succeeds and its URL leads nowhere."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "nothing_written"})
        answer = await first_output(twin, await twin.ended(await twin.generate()))
        assert answer.status_code == 404
        assert "NoSuchKey" in answer.text

    rehearse(steps)


def test_outputs_can_be_empty_cut_or_of_the_wrong_size() -> None:
    """Zero bytes, half a file, half the size: each with a status of `succeeded`."""

    async def steps(twin: Rehearsal) -> None:
        contents: dict[str, bytes] = {}
        for kind in ("zero_bytes", "truncated", "wrong_size"):
            await twin.fault({"kind": kind}, times=1)
            answer = await first_output(twin, await twin.ended(await twin.generate(seeds=[1])))
            assert answer.status_code == 200
            contents[kind] = answer.content
        assert contents["zero_bytes"] == b""
        with pytest.raises(OSError, match="truncated"):
            Image.open(io.BytesIO(contents["truncated"])).load()
        assert Image.open(io.BytesIO(contents["wrong_size"])).size == (448, 576)

    rehearse(steps)


def test_partial_failure_fails_the_job() -> None:
    """Some outputs were made, yet the job is failed and has no result."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "partial_failure", "written": 1})
        done = await twin.ended(await twin.generate(numVariations=2))
        assert (done["status"], done["error_code"]) == ("failed", "runtime_error")

    rehearse(steps)


def test_url_can_be_expired_at_birth() -> None:
    """The first status answer carries a dead URL, the next a live one."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "expired_url"})
        accepted = await twin.generate()
        assert (await first_output(twin, await twin.ended(accepted))).status_code == 403
        assert (await first_output(twin, await twin.ended(accepted))).status_code == 200

    rehearse(steps)


def test_flags_can_be_set_on_any_prompt() -> None:
    """The result says that words were ignored."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "flags", "blocked_artists": True})
        result = (await twin.ended(await twin.generate()))["result"]
        assert result["promptHasDeniedWords"]
        assert result["promptHasBlockedArtists"]

    rehearse(steps)


@pytest.mark.parametrize("endpoint", ["status", "token", "output", "cancel"])
def test_free_calls_have_faults_too(endpoint: str) -> None:
    """Status, token, output and cancel can be made to fail; `*` means paid calls only."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate()
        done = await twin.ended(accepted)
        headers = await twin.headers()
        await twin.fault({"kind": "answer", "status": 500})
        await twin.fault({"kind": "answer", "status": 418}, endpoint=endpoint)
        answers = {
            "status": await twin.get(accepted.json()["statusUrl"]),
            "token": await twin.http.post("/ims/token/v3"),
            "output": await first_output(twin, done),
            "cancel": await twin.http.put(accepted.json()["cancelUrl"], headers=headers),
        }
        struck = {name for name, answer in answers.items() if answer.status_code == 418}
        assert struck == {endpoint}
        assert all(answer.status_code != 500 for answer in answers.values())

    rehearse(steps)


@pytest.mark.parametrize("accept", [True, False])
def test_drop_bills_only_what_it_accepts(accept: bool) -> None:  # noqa: FBT001 - a parameter
    """A dropped call has no status in the list; it is billed when it was accepted."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "drop", "accept": accept})
        with pytest.raises(ConnectionResetError):
            await twin.generate()
        [call] = await twin.calls()
        assert (call["status"], call["accepted"], call["billed"]) == (None, accept, accept)
        assert (await twin.summary())["dropped"] == 1

    rehearse(steps)
