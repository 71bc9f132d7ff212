"""The authenticated seam: headers, hosts, and what a 401 leads to."""

from datetime import timedelta

import httpx

from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.core.failure import FailureClass, Family, classify
from fireflyassets.ports.paid import Accepted, Done, NotAccepted, PollFailed, Working
from fireflyassets.ports.tokens import StoredToken
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import (
    STATUS_URL,
    ScriptedAdobe,
    Seen,
    answering,
    error,
)

EXPIRED = error(401, {"error_code": "401014", "message": "token expired"})
RUNNING = httpx.Response(200, json={"status": "running"})


def test_calls_carry_our_headers() -> None:
    """Token, client id and a correlation id of its own go with every call to Adobe."""
    adobe = ScriptedAdobe(answering(RUNNING))

    async def twice(clients: bench.AdobeClients) -> None:
        await clients.images.poll(STATUS_URL)
        await clients.images.poll(STATUS_URL)

    bench.run(twice, adobe)

    first, second = adobe.seen
    assert first.headers["authorization"] == "Bearer TOKMARK-1"
    assert first.headers["x-api-key"] == "acme-client"
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    assert first.target == "/v3/status/urn:ff:jobs:epo854211:one?x=%2F+a"


def test_foreign_host_gets_nothing() -> None:
    """A status URL that is not on the list is refused before a byte is sent."""
    adobe = ScriptedAdobe(answering(RUNNING))

    poll = bench.run(lambda clients: clients.images.poll("https://evil.com/v3/status/1"), adobe)

    assert isinstance(poll, PollFailed)
    assert classify(poll.fault) is FailureClass.BUG
    assert "allow-list" in poll.fault.message
    assert adobe.seen == []
    assert adobe.mints == 0


def test_poll_is_repeated_once_with_a_new_token() -> None:
    """A 401 on a poll costs one new token and one repeat."""
    adobe = ScriptedAdobe(answering(EXPIRED, RUNNING))

    poll = bench.run(lambda clients: clients.images.poll(STATUS_URL), adobe)

    assert poll == Working()
    assert [seen.headers["authorization"] for seen in adobe.seen] == [
        "Bearer TOKMARK-1",
        "Bearer TOKMARK-2",
    ]


def test_second_401_ends_it() -> None:
    """When the new token is refused as well, the call fails as an authentication fault."""
    adobe = ScriptedAdobe(answering(EXPIRED))

    poll = bench.run(lambda clients: clients.images.poll(STATUS_URL), adobe)

    assert isinstance(poll, PollFailed)
    assert classify(poll.fault) is FailureClass.AUTH
    assert len(adobe.seen) == 2
    assert adobe.mints == 2


def test_refused_tokens_are_not_minted_in_a_storm() -> None:
    """While a fresh token is refused at once, more calls ask for no more tokens for a minute."""
    adobe = ScriptedAdobe(answering(EXPIRED))
    clock = bench.FakeClock()

    async def many(clients: bench.AdobeClients) -> list[int]:
        mints = []
        for _ in range(20):
            await clients.images.poll(STATUS_URL)
        mints.append(adobe.mints)
        clock.pass_time(timedelta(minutes=2))
        await clients.images.poll(STATUS_URL)
        return [*mints, adobe.mints]

    assert bench.run(many, adobe, clock=clock) == [2, 3]


def test_token_revoked_again_is_replaced_again() -> None:
    """A replacement that worked once is an ordinary token: its own end is mended as well."""
    adobe = ScriptedAdobe(answering(EXPIRED, RUNNING, EXPIRED, RUNNING))

    async def twice(clients: bench.AdobeClients) -> list[object]:
        return [await clients.images.poll(STATUS_URL) for _ in range(2)]

    assert bench.run(twice, adobe) == [Working(), Working()]
    assert adobe.mints == 3


def test_refused_submit_is_not_repeated_here_but_finds_a_new_token() -> None:
    """Each send of a paid call has a row of its own: the 401 goes back, the next send succeeds."""
    adobe = ScriptedAdobe(answering(EXPIRED, bench.accepted()))

    async def twice(clients: bench.AdobeClients) -> list[object]:
        return [await clients.images.generate(bench.GENERATE) for _ in range(2)]

    first, second = bench.run(twice, adobe)

    assert isinstance(first, NotAccepted)
    assert classify(first.fault) is FailureClass.AUTH
    assert isinstance(second, Accepted)
    assert [seen.headers["authorization"] for seen in adobe.seen] == [
        "Bearer TOKMARK-1",
        "Bearer TOKMARK-2",
    ]


def test_403_never_renews() -> None:
    """A missing right is no stale token."""
    refused = error(403, {"error_code": "access_error"}, {"x-access-error": "invalid_ims_scope"})
    adobe = ScriptedAdobe(answering(refused))

    poll = bench.run(lambda clients: clients.images.poll(STATUS_URL), adobe)

    assert isinstance(poll, PollFailed)
    assert poll.fault.code == "invalid_ims_scope"
    assert adobe.mints == 1
    assert len(adobe.seen) == 1


def test_submit_without_a_token_is_not_sent() -> None:
    """When the token service refuses, the submit is certainly not accepted, and says why."""
    adobe = ScriptedAdobe(answering(bench.accepted()))
    adobe.token_answers = [error(400, {"error": "invalid_client"})]

    outcome = bench.run(lambda clients: clients.images.generate(bench.GENERATE), adobe)

    assert isinstance(outcome, NotAccepted)
    assert classify(outcome.fault) is FailureClass.AUTH
    assert adobe.seen == []


def test_redirects_are_not_followed() -> None:
    """Our headers never travel to where an answer points."""
    away = httpx.Response(307, headers={"Location": "https://firefly-api.adobe.io/other"})
    adobe = ScriptedAdobe(answering(away))

    poll = bench.run(lambda clients: clients.images.poll(STATUS_URL), adobe)

    assert isinstance(poll, PollFailed)
    assert len(adobe.seen) == 1


def test_cookies_are_not_kept() -> None:
    """What one answer sets does not travel with the next call."""
    setting = httpx.Response(200, json={"status": "running"}, headers={"Set-Cookie": "a=b; Path=/"})
    adobe = ScriptedAdobe(answering(setting))

    async def twice(clients: bench.AdobeClients) -> None:
        await clients.images.poll(STATUS_URL)
        await clients.images.poll(STATUS_URL)

    bench.run(twice, adobe)

    assert [seen.headers.get("cookie") for seen in adobe.seen] == [None, None]


def test_unreachable_region_is_asked_at_the_base_host() -> None:
    """When the job's own host can't be reached, the base host is asked for the same path."""

    def script(seen: Seen) -> httpx.Response:
        if seen.host != "firefly-api.adobe.io":
            raise httpx.ConnectError("no such host")
        return httpx.Response(200, json={"status": "succeeded", "result": {"outputs": []}})

    adobe = ScriptedAdobe(script)

    poll = bench.run(lambda clients: clients.images.poll(STATUS_URL), adobe)

    assert poll == Done(())
    assert [(seen.host, seen.target) for seen in adobe.seen] == [
        ("firefly-epo854211.adobe.io", "/v3/status/urn:ff:jobs:epo854211:one?x=%2F+a"),
        ("firefly-api.adobe.io", "/v3/status/urn:ff:jobs:epo854211:one?x=%2F+a"),
    ]


def test_base_host_that_does_not_know_the_job_proves_nothing() -> None:
    """A 404 from another region is not taken for a lost job: the poll has just failed."""

    def script(seen: Seen) -> httpx.Response:
        if seen.host != "firefly-api.adobe.io":
            raise httpx.ConnectError("no such host")
        return error(404, {"error_code": "unknown_job_id"})

    poll = bench.run(lambda clients: clients.images.poll(STATUS_URL), ScriptedAdobe(script))

    assert isinstance(poll, PollFailed)
    assert poll.fault.code == "connect_error"


def test_other_failures_stay_with_the_job_s_own_host() -> None:
    """Only a failed connection leads to the base host; a lost answer is asked for again later."""
    adobe = ScriptedAdobe(bench.failing(httpx.ReadTimeout))

    poll = bench.run(lambda clients: clients.images.poll(STATUS_URL), adobe)

    assert isinstance(poll, PollFailed)
    assert {seen.host for seen in adobe.seen} == {"firefly-epo854211.adobe.io"}


def test_a_service_is_ready_with_the_token_in_hand() -> None:
    """The first ask fetches the token, every further one and the call itself cost nothing."""
    adobe = ScriptedAdobe(answering(bench.accepted()))

    async def asked(clients: bench.AdobeClients) -> list[object]:
        services = (clients.images, clients.documents, clients.images)
        return [await one.ready() for one in services] + [
            await clients.images.generate(bench.GENERATE)
        ]

    *ready, sent = bench.run(asked, adobe)

    assert ready == [None] * 3
    assert isinstance(sent, Accepted)
    assert adobe.mints == 1
    assert len(adobe.seen) == 1


def test_a_service_without_a_token_is_not_ready() -> None:
    """It says why, as the token service did, and nothing goes to the service itself."""
    adobe = ScriptedAdobe(answering(bench.accepted()))
    adobe.token_answers = [error(429, {}, {"Retry-After": "70"})]

    missing = bench.run(lambda clients: clients.images.ready(), adobe)

    assert missing is not None
    assert missing.fault.family is Family.IMS
    assert classify(missing.fault) is FailureClass.THROTTLED
    assert missing.retry_after == timedelta(seconds=70)
    assert adobe.seen == []


class BrokenTokens(MemoryTokens):
    """A token store that does not answer."""

    def read(self, entry: str) -> StoredToken | None:
        raise StoreUnavailable("DynamoDB", "ThrottlingException")


def test_a_token_store_that_is_away_leaves_no_outcome_unknown() -> None:
    """Nothing was sent, and the answer says so; an error would leave the send undecided."""
    adobe = ScriptedAdobe(answering(bench.accepted()))
    clock = bench.FakeClock()

    async def asked(clients: bench.AdobeClients) -> list[object]:
        return [await clients.images.ready(), await clients.images.generate(bench.GENERATE)]

    answers = bench.run(asked, adobe, clock=clock, store=BrokenTokens(clock))

    assert all(isinstance(one, NotAccepted) for one in answers)
    assert adobe.seen == []
