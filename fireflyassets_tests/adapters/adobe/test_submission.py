"""What a submit's answer means for the money: one table, every doubt on the side of lost."""

from datetime import timedelta

import httpx
import pytest

from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.ports.paid import Accepted, NotAccepted, OutcomeLost, Submission
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import Script, ScriptedAdobe, answering, error, page

OWN = {"error_code": "runtime_error"}


def submit(script: Script) -> Submission:
    return bench.run(lambda clients: clients.images.generate(bench.GENERATE), ScriptedAdobe(script))


@pytest.mark.parametrize("status", [200, 201, 202])
def test_any_success_with_a_link_is_accepted(status: int) -> None:
    """200 and 202 alike are accepted when they say where to poll."""
    answer = httpx.Response(status, json={"jobId": "j", "statusUrl": bench.STATUS_URL})

    assert submit(answering(answer)) == Accepted("j", bench.STATUS_URL, None)


def test_foreign_link_is_still_paid_for() -> None:
    """A poll link elsewhere is kept: the job was accepted, whether or not we may ask there."""
    answer = httpx.Response(202, json={"jobId": "j", "statusUrl": "https://evil.com/1"})

    assert submit(answering(answer)) == Accepted("j", "https://evil.com/1", None)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(202, json={"jobId": "j"}),
        httpx.Response(200, json=[]),
        httpx.Response(202),
        page(200),
        error(408, {"error_code": "timeout_error"}),
        error(502, OWN),
        error(504, OWN),
        error(501, {"error_code": "not_implemented"}),
        error(500, {"message": "Internal server error"}),
        error(503, {"code": 503, "error": "Service Unavailable"}),
        httpx.Response(500),
        httpx.Response(503),
        page(500),
        page(503),
        httpx.Response(503, json=OWN, headers={"Content-Type": "text/html"}),
        page(502),
        httpx.Response(302, headers={"Location": "https://firefly-api.adobe.io/elsewhere"}),
        httpx.Response(304),
    ],
)
def test_doubt_is_a_lost_outcome(answer: httpx.Response) -> None:
    """What does not say in Adobe's own words that the call was refused may have run."""
    assert isinstance(submit(answering(answer)), OutcomeLost)


@pytest.mark.parametrize("status", [500, 503])
def test_own_server_error_is_a_refusal_that_may_cost(status: int) -> None:
    """500 and 503 with Adobe's own code were not taken, by its word, and are booked as maybe."""
    headers = {"Retry-After": "3"}

    outcome = submit(answering(error(status, OWN, headers)))

    assert isinstance(outcome, NotAccepted)
    assert outcome.possible_cost
    assert outcome.retry_after == timedelta(seconds=3)
    assert (outcome.fault.status, outcome.fault.code) == (status, "runtime_error")


@pytest.mark.parametrize("status", [400, 403, 404, 409, 410, 413, 415, 422, 429, 451, 499])
def test_client_error_is_a_refusal_without_cost(status: int) -> None:
    """Every other 4xx says that the call was not taken."""
    outcome = submit(answering(error(status, {"error_code": "x"})))

    assert isinstance(outcome, NotAccepted)
    assert not outcome.possible_cost


def test_page_of_a_client_error_is_a_refusal_too() -> None:
    """413 is HTML at Adobe, and nothing was taken."""
    assert isinstance(submit(answering(page(413))), NotAccepted)


def test_throttling_tells_how_long() -> None:
    """A 429 carries its wait, measured against the server's own clock."""
    said = {
        "Retry-After": "Mon, 30 Nov 2026 09:00:20 GMT",
        "Date": "Mon, 30 Nov 2026 09:00:00 GMT",
    }

    outcome = submit(answering(error(429, {"error_code": "rate_limited"}, said)))

    assert isinstance(outcome, NotAccepted)
    assert outcome.retry_after == timedelta(seconds=20)
    assert classify(outcome.fault) is FailureClass.THROTTLED


@pytest.mark.parametrize("kind", [httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout])
def test_nothing_sent_is_not_accepted(kind: type[httpx.TransportError]) -> None:
    """Where no connection came about, nothing can have run."""
    outcome = submit(bench.failing(kind))

    assert isinstance(outcome, NotAccepted)
    assert classify(outcome.fault) is FailureClass.TRANSIENT


@pytest.mark.parametrize(
    "kind",
    [
        httpx.ReadTimeout,
        httpx.WriteTimeout,
        httpx.ReadError,
        httpx.WriteError,
        httpx.CloseError,
        httpx.RemoteProtocolError,
        httpx.LocalProtocolError,
    ],
)
def test_any_later_failure_is_a_lost_outcome(kind: type[httpx.TransportError]) -> None:
    """Once bytes may have left, silence settles nothing."""
    outcome = submit(bench.failing(kind))

    assert isinstance(outcome, OutcomeLost)
    assert classify(outcome.fault) is FailureClass.LOST_ANSWER
    assert "SIGMARK" not in repr(outcome)


def test_echoed_prompt_is_not_kept() -> None:
    """A message that quotes the prompt loses it."""
    said = f"Refused: {bench.GENERATE.prompt}!"

    outcome = submit(answering(error(422, {"error_code": "prompt_unsafe", "message": said})))

    assert isinstance(outcome, NotAccepted)
    assert outcome.fault.message == "Refused: <text>!"
