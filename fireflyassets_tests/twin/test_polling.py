"""Status and cancel, and the files behind a result."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from fireflyassets.twin.settings import LatencySetting
from fireflyassets_tests.twin.rehearsal import EVE, QUICK, Rehearsal, rehearse

SLOW = LatencySetting(firefly_median=timedelta(hours=1), sigma=0)


async def output_url(twin: Rehearsal) -> str:
    done = await twin.ended(await twin.generate())
    url: str = done["result"]["outputs"][0]["image"]["url"]
    return url


async def cancelled(twin: Rehearsal, accepted: httpx.Response) -> httpx.Response:
    return await twin.http.put(accepted.json()["cancelUrl"], headers=await twin.headers())


def test_states_come_in_order() -> None:
    """Pending, then running with progress, then the end: all of it HTTP 200."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate()
        url = accepted.json()["statusUrl"]
        seen: list[tuple[str, float]] = []
        for minutes in (1, 30, 59):
            twin.clock.shift = timedelta(minutes=minutes)
            body = (await twin.get(url)).json()
            seen.append((body["status"], body["progress"]))
        assert [word for word, _ in seen] == ["pending", "running", "running"]
        assert [progress for _, progress in seen] == pytest.approx([0.02, 0.5, 0.98], abs=0.01)

    rehearse(steps, latency=SLOW)


def test_speed_shortens_the_job_and_nothing_else() -> None:
    """The same draw over a higher speed ends sooner; the token still lives a day."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate()
        twin.clock.shift = timedelta(minutes=6)
        progress = (await twin.get(accepted.json()["statusUrl"])).json()["progress"]
        assert progress == 0.99
        assert twin.simulator.settings.token_ttl == timedelta(seconds=86_399)

    rehearse(steps, latency=LatencySetting(firefly_median=timedelta(hours=1), sigma=0, speed=10))


def test_open_jobs_show_the_bare_id() -> None:
    """A running body names the bare id, and both forms can be polled."""

    async def steps(twin: Rehearsal) -> None:
        job_id = (await twin.generate()).json()["jobId"]
        bare = job_id.rpartition(":")[2]
        for path in (job_id, bare, job_id.replace(":", "%3A")):
            body = (await twin.get(f"/v3/status/{path}")).json()
            assert body["jobId"] == bare

    rehearse(steps, latency=SLOW)


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v3/status/urn:ff:jobs:twin:0", 404, "unknown_job_id"),
        ("/v3/status/not%20an%20id", 422, "validation_error"),
        ("/v2/status/0", 404, "unknown_job_id"),
        ("/v2/status/not%20an%20id", 400, "validation_error"),
    ],
)
def test_unknown_and_malformed_ids(path: str, status: int, code: str) -> None:
    """An unknown id is a 404; one that cannot be an id is refused as such."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.get(path)
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    rehearse(steps)


def test_jobs_are_the_organisation_s_own() -> None:
    """Another organisation sees a 404, and so does the other family's status call."""

    async def steps(twin: Rehearsal) -> None:
        accepted = (await twin.generate()).json()
        assert (await twin.get(accepted["statusUrl"], client=EVE)).status_code == 404
        bare = accepted["jobId"].rpartition(":")[2]
        assert (await twin.get(f"/v2/status/{bare}")).status_code == 404

    rehearse(steps)


def test_records_vanish_after_retention() -> None:
    """A day later neither the record nor its file is there."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate()
        await twin.ended(accepted)
        twin.clock.shift = timedelta(minutes=11)
        assert (await twin.get(accepted.json()["statusUrl"])).status_code == 404
        assert not len(twin.simulator.jobs)

    rehearse(steps, retention=timedelta(minutes=10))


def test_cancel_takes_hold_after_a_while() -> None:
    """Cancel answers 200 with nothing in it; the job goes through cancel_pending."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate()
        answer = await cancelled(twin, accepted)
        assert (answer.status_code, answer.content) == (200, b"")
        pending = (await twin.get(accepted.json()["statusUrl"])).json()
        assert pending["status"] == "cancel_pending"
        assert (await twin.ended(accepted))["status"] == "cancelled"
        again = await cancelled(twin, accepted)
        assert (again.status_code, again.json()["error_code"]) == (409, "job_already_canceled")
        assert (await twin.summary())["billed"] == 0

    rehearse(steps, latency=LatencySetting(firefly_median=timedelta(hours=10), sigma=0, speed=20))


def test_completed_job_cannot_be_cancelled() -> None:
    """409 job_completed: the result is there, and billed."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate()
        await twin.ended(accepted)
        answer = await cancelled(twin, accepted)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "job_completed")
        assert (await twin.summary())["billed"] == 1

    rehearse(steps)


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ({"kind": "cancel_failed"}, 409, "job_cancel_failed"),
        ({"kind": "lost"}, 404, "unknown_job_id"),
    ],
)
def test_rest_of_the_cancel_table(fault: dict[str, object], status: int, code: str) -> None:
    """Failed and unknown cancels have their own answers."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault(fault)
        answer = await cancelled(twin, await twin.generate())
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    rehearse(steps, latency=SLOW)


def test_timed_out_job_is_gone_for_cancel() -> None:
    """410 job_timeout."""

    async def steps(twin: Rehearsal) -> None:
        await twin.fault({"kind": "ends_as", "status": "timeout"})
        accepted = await twin.generate()
        assert (await twin.ended(accepted))["status"] == "timeout"
        answer = await cancelled(twin, accepted)
        assert (answer.status_code, answer.json()["error_code"]) == (410, "job_timeout")

    rehearse(steps)


def test_output_url_expires() -> None:
    """After its life the URL answers 403 as S3 does; a new status answer signs anew."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate()
        first = (await twin.ended(accepted))["result"]["outputs"][0]["image"]["url"]
        assert (await twin.http.get(first)).status_code == 200
        twin.clock.shift = timedelta(hours=1, seconds=1)
        expired = await twin.http.get(first)
        assert expired.status_code == 403
        assert "Request has expired" in expired.text
        fresh = (await twin.ended(accepted))["result"]["outputs"][0]["image"]["url"]
        assert (await twin.http.get(fresh)).status_code == 200

    rehearse(steps)


def test_urls_can_be_signed_once_only() -> None:
    """Without fresh URLs an expired one stays expired, whatever status says."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate()
        await twin.ended(accepted)
        twin.clock.shift = timedelta(hours=1, seconds=1)
        late = (await twin.ended(accepted))["result"]["outputs"][0]["image"]["url"]
        assert (await twin.http.get(late)).status_code == 403

    rehearse(steps, fresh_urls=False)


def test_output_url_refuses_a_bearer() -> None:
    """A leaking client is noticed: two auth schemes are a 400."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.get(await output_url(twin))
        assert answer.status_code == 400
        assert "Only one auth mechanism allowed" in answer.text

    rehearse(steps)


def test_output_url_is_opaque() -> None:
    """A touched query, a HEAD and a foreign path do not match the signature."""

    async def steps(twin: Rehearsal) -> None:
        url = await output_url(twin)
        path, _, query = url.partition("?")
        for bad in (f"{path}?{query}&x=1", path, url.replace("%2F", "/"), url[:-1]):
            answer = await twin.http.get(bad)
            assert answer.status_code == 403, bad
            assert "SignatureDoesNotMatch" in answer.text
        assert (await twin.http.head(url)).status_code == 403
        first = await twin.http.get(url, headers={"Range": "bytes=0-1"})
        assert (first.status_code, first.content) == (206, b"\xff\xd8")

    rehearse(steps)


def test_picture_outlives_the_cache() -> None:
    """A picture that fell out of memory is drawn again, byte for byte."""

    async def steps(twin: Rehearsal) -> None:
        first = await output_url(twin)
        before = (await twin.http.get(first)).content
        await output_url(twin)
        assert (await twin.http.get(first)).content == before

    rehearse(steps, picture_cache_bytes=1, latency=QUICK)


def test_urls_follow_the_settings() -> None:
    """Public and status bases replace the request's own host."""

    async def steps(twin: Rehearsal) -> None:
        accepted: dict[str, Any] = (await twin.generate()).json()
        assert accepted["statusUrl"].startswith("https://region.example/v3/status/")
        path = accepted["statusUrl"].removeprefix("https://region.example")
        body = await twin.ended(httpx.Response(202, json={"statusUrl": path}))
        url = body["result"]["outputs"][0]["image"]["url"]
        assert url.startswith("https://public.example/_out/")

    rehearse(steps, public_url="https://public.example/", status_url="https://region.example/")
