"""A customer's client: what it says when the factory answers wrongly."""

import httpx
import pytest

from fireflyassets.local.customer import Job, UnexpectedAnswer, refused_rows


def test_wrong_answer_behind_a_redirect_never_shows_the_signed_url() -> None:
    request = httpx.Request("GET", "http://127.0.0.1/key?X-Amz-Signature=abc")

    said = str(UnexpectedAnswer("GET /v1/jobs/1/outputs/1x1", httpx.Response(403, request=request)))

    assert said == "GET /v1/jobs/1/outputs/1x1 was answered 403."


def test_job_is_read_whatever_else_the_api_tells() -> None:
    told = Job.model_validate(
        {
            "jobId": "j",
            "status": "queued",
            "held": True,
            "reason": "why",
            "costEstimate": "3.5",
            "costActual": None,
            "later": 1,
        }
    )

    assert (told.held, str(told.cost_estimate), told.cost_actual) == (True, "3.5", None)


@pytest.mark.parametrize("status", [202, 422])
def test_refused_rows_are_named_whether_others_were_accepted_or_not(status: int) -> None:
    problem = {"row": 2, "field": "key", "message": "Known.", "rule": "conflict", "fix": "Mend."}
    answer = httpx.Response(status, json={"problems": [problem]})

    assert refused_rows(answer) == ["row 2, key: Known."]


def test_accepted_brief_refuses_nothing() -> None:
    assert refused_rows(httpx.Response(202, json={"jobs": [], "problems": []})) == []


@pytest.mark.parametrize("body", ["<html>busy</html>", '{"problems": []}'])
def test_refusal_without_a_reason_is_no_acceptance(body: str) -> None:
    with pytest.raises(UnexpectedAnswer, match="jobs:batch was answered 503"):
        refused_rows(httpx.Response(503, text=body))
