"""Polls over HTTP: what an answer's status and form lead to."""

from datetime import timedelta

import httpx
import pytest

from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.ports.paid import Done, EndedBadly, Gone, Output, Poll, PollFailed, Working
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import ScriptedAdobe, answering, error, page


def poll(answer: httpx.Response) -> Poll:
    adobe = ScriptedAdobe(answering(answer))
    return bench.run(lambda clients: clients.images.poll(bench.STATUS_URL), adobe)


def test_success_carries_its_outputs() -> None:
    """A finished job tells where its pictures are, and from which seed."""
    output = {"seed": 7, "image": {"url": "https://o.s3.amazonaws.com/1?X=%2F"}}
    body = {"status": "succeeded", "result": {"outputs": [output]}}

    done = Done((Output("https://o.s3.amazonaws.com/1?X=%2F", 7),))
    assert poll(httpx.Response(200, json=body)) == done


def test_failure_inside_a_200_is_a_failure() -> None:
    """HTTP 200 is no success."""
    ended = poll(httpx.Response(200, json={"status": "failed", "error_code": "runtime_error"}))

    assert isinstance(ended, EndedBadly)


@pytest.mark.parametrize("answer", [error(404, {"error_code": "unknown_job_id"}), page(404)])
def test_404_is_gone(answer: httpx.Response) -> None:
    """The vendor knows no such job."""
    assert poll(answer) == Gone()


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (page(200), FailureClass.TRANSIENT),
        (httpx.Response(200), FailureClass.TRANSIENT),
        (page(502), FailureClass.TRANSIENT),
        (error(500, {"error_code": "runtime_error"}), FailureClass.TRANSIENT),
        (error(429, {"error_code": "rate_limited"}), FailureClass.THROTTLED),
        (error(403, {"error_code": "403003"}), FailureClass.ENTITLEMENT),
        (httpx.Response(302, headers={"Location": "https://x"}), FailureClass.UNKNOWN),
    ],
)
def test_bad_answer_is_a_failed_question(answer: httpx.Response, failure: FailureClass) -> None:
    """An answer that says nothing of the job never ends it."""
    failed = poll(answer)

    assert isinstance(failed, PollFailed)
    assert classify(failed.fault) is failure


def test_throttled_poll_tells_how_long() -> None:
    """The wait of a 429 is handed on."""
    failed = poll(error(429, {"error_code": "rate_limited"}, {"Retry-After": "4"}))

    assert isinstance(failed, PollFailed)
    assert failed.retry_after == timedelta(seconds=4)


def test_an_unknown_state_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """A new word of the vendor is polled on, and told of in one line; known ones in none."""
    words = iter(["running", "resting", "resting", "pending", "resting"])
    adobe = ScriptedAdobe(lambda _: httpx.Response(200, json={"status": next(words)}))

    async def ask(clients: bench.AdobeClients) -> list[Poll]:
        return [await clients.images.poll(bench.STATUS_URL) for _ in range(5)]

    assert bench.run(ask, adobe) == [Working()] * 5
    said = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert said == ["firefly: job status 'resting' is not known; it is polled on"]
