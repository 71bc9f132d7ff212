"""Cancel: a row of the table each, and nothing that counts as proof."""

import httpx
import pytest

from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.ports.images import CancelAnswer
from fireflyassets.ports.paid import PollFailed
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import ScriptedAdobe, answering, error, failing

CANCEL_URL = "https://firefly-epo854211.adobe.io/v3/cancel/urn:ff:jobs:epo854211:one?x=%2F+a"


def cancel(
    answer: httpx.Response, url: str = CANCEL_URL
) -> tuple[CancelAnswer | PollFailed, list[bench.Seen]]:
    adobe = ScriptedAdobe(answering(answer))
    return bench.run(lambda clients: clients.images.cancel(url), adobe), adobe.seen


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        (httpx.Response(200), CancelAnswer.REQUESTED),
        (error(404, {"error_code": "unknown_job_id"}), CancelAnswer.GONE),
        (error(409, {"error_code": "job_completed"}), CancelAnswer.COMPLETED),
        (error(409, {"error_code": "job_already_canceled"}), CancelAnswer.CANCELLED),
        (error(409, {"error_code": "job_already_cancelled"}), CancelAnswer.CANCELLED),
        (error(409, {"error_code": "job_cancel_failed"}), CancelAnswer.NOT_CANCELLED),
        (error(410, {"error_code": "job_timeout"}), CancelAnswer.TIMED_OUT),
    ],
)
def test_each_answer_has_its_meaning(answer: httpx.Response, meaning: CancelAnswer) -> None:
    """The documented table, row by row; the URL goes out byte for byte."""
    found, (seen,) = cancel(answer)

    assert found is meaning
    assert (seen.method, seen.host) == ("PUT", "firefly-epo854211.adobe.io")
    assert seen.target == "/v3/cancel/urn:ff:jobs:epo854211:one?x=%2F+a"


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (error(403, {"error_code": "access_error"}), FailureClass.ENTITLEMENT),
        (error(429, {"error_code": "rate_limited"}), FailureClass.THROTTLED),
        (error(500, {}), FailureClass.TRANSIENT),
        (error(503, {}), FailureClass.TRANSIENT),
        (error(409, {"error_code": "something_new"}), FailureClass.UNKNOWN),
        (bench.page(404), FailureClass.MODEL_RETIRED),
    ],
)
def test_other_answers_follow_the_usual_rules(
    answer: httpx.Response, failure: FailureClass
) -> None:
    found, _ = cancel(answer)

    assert isinstance(found, PollFailed)
    assert classify(found.fault) is failure


def test_silence_and_strange_hosts_are_failures_of_the_question() -> None:
    """No answer, or a URL that may not see our token, says nothing about the job."""
    adobe = ScriptedAdobe(failing(httpx.ReadTimeout))
    silent = bench.run(lambda clients: clients.images.cancel(CANCEL_URL), adobe)
    strange, seen = cancel(httpx.Response(200), "https://evil.com/v3/cancel/1")

    assert isinstance(silent, PollFailed)
    assert isinstance(strange, PollFailed)
    assert seen == []
