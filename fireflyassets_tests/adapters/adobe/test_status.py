"""Status payloads: every state and spelling, and never an end that was not said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.adapters.adobe import status
from fireflyassets.core.failure import FailureClass, Family, Fault, classify
from fireflyassets.ports.paid import Done, EndedBadly, Output, Poll, Working
from fireflyassets_tests.adapters.adobe.test_faults import JSON

URL = "https://out.s3-accelerate.amazonaws.com/k?X-Amz-Signature=z%2F"


def read(payload: object) -> Poll:
    return status.read(payload, family=Family.FIREFLY)


@pytest.mark.parametrize(
    "payload",
    [
        {"status": "pending"},
        {"status": "running", "progress": 7},
        {"status": "cancel_pending", "error_code": "x"},
        {"status": "weird_new_state"},
        {"status": "Succeeded"},
        {"status": "succeeded "},
        {"status": None},
        {"status": ["succeeded"]},
        {"jobId": "j"},
        {"result": {"outputs": [{"image": {"url": URL}}]}},
        {},
        [],
        "succeeded",
        None,
    ],
)
def test_what_is_not_an_end_is_work(payload: object) -> None:
    """An unknown, absent or half-way state keeps the poll going until the caller's deadline."""
    assert read(payload) == Working()


@pytest.mark.parametrize(
    ("payload", "code", "failure"),
    [
        ({"status": "canceled"}, "cancelled", FailureClass.UNKNOWN),
        ({"status": "cancelled"}, "cancelled", FailureClass.UNKNOWN),
        ({"status": "timeout"}, "timeout", FailureClass.TRANSIENT),
        (
            {"status": "failed", "error_code": "image_unsafe"},
            "image_unsafe",
            FailureClass.UNSAFE_CONTENT,
        ),
        (
            {"status": "failed", "errorDetails": [{"errorCode": "422404", "message": "no output"}]},
            "422404",
            FailureClass.STALE_REFERENCE,
        ),
        (
            {"status": "timeout", "error_code": "timeout_error"},
            "timeout_error",
            FailureClass.TRANSIENT,
        ),
        (
            {"status": "timeout", "error_code": "session_x"},
            "timeout",
            FailureClass.TRANSIENT,
        ),
        (
            {"status": "timeout", "error_code": "prompt_unsafe"},
            "prompt_unsafe",
            FailureClass.UNSAFE_CONTENT,
        ),
        (
            {"status": "cancelled", "error_code": "runtime_error"},
            "cancelled",
            FailureClass.UNKNOWN,
        ),
        ({"status": "failed"}, "", FailureClass.UNKNOWN),
        (
            {"status": "failed", "result": {"outputs": [{"url": URL}]}},
            "",
            FailureClass.UNKNOWN,
        ),
    ],
)
def test_bad_ends_are_told_with_their_reason(
    payload: object, code: str, failure: FailureClass
) -> None:
    """Both spellings of cancelled, timeout and failed end the poll, each with its own code."""
    ended = read(payload)

    assert isinstance(ended, EndedBadly)
    assert ended.fault.code == code
    assert ended.fault.status is None
    assert classify(ended.fault) is failure


def test_failure_keeps_its_message_without_urls() -> None:
    """What a failed job says is kept, redacted."""
    ended = read({"status": "failed", "error_code": "runtime_error", "message": f"at {URL}"})

    assert ended == EndedBadly(Fault(Family.FIREFLY, None, "runtime_error", "", "at <link>"))


@pytest.mark.parametrize(
    ("result", "outputs"),
    [
        ({"outputs": [{"seed": 7, "image": {"url": URL}}]}, (Output(URL, 7),)),
        ({"outputs": [{"id": "1", "presignedUrl": URL}]}, (Output(URL),)),
        ({"outputs": [{"destination": {"url": URL}, "mediaType": "image/jpeg"}]}, (Output(URL),)),
        ({"outputs": [{"url": URL, "mediaType": "image/jpeg"}]}, (Output(URL),)),
        ({"outputs": {"url": URL}}, (Output(URL),)),
        ({"outputs": {"destination": {"url": URL}}}, (Output(URL),)),
        ({"outputs": {"0": {"url": URL}, "1": {"url": "b"}}}, (Output(URL), Output("b"))),
        ({"outputs": [{"seed": True, "image": None}]}, (Output(),)),
        ({"outputs": [None, 7]}, ()),
        (
            {"outputs": {"crops": [{"boundingBoxes": [{"url": URL}]}, {"boundingBoxes": []}]}},
            (Output(URL),),
        ),
        ({"outputs": None}, ()),
        ({}, ()),
    ],
)
def test_outputs_in_every_shape(result: object, outputs: tuple[Output, ...]) -> None:
    """Lists and objects, nested and flat URLs, and upscale's own key are all read."""
    assert read({"status": "succeeded", "result": result}) == Done(outputs)


@pytest.mark.parametrize("seed", [10**40, -(10**40), 2**63, True, 1.5, "7"])
def test_a_seed_that_is_none_is_not_kept(seed: object) -> None:
    """Its number could not be stored, and the picture is paid for all the same."""
    done = read({"status": "succeeded", "result": {"outputs": [{"seed": seed, "url": URL}]}})

    assert done == Done((Output(URL),))


@pytest.mark.parametrize("flag", ["promptHasDeniedWords", "promptHasBlockedArtists"])
def test_ignored_words_are_told(flag: str) -> None:
    """A picture that left out a part of the prompt is done, and says so."""
    done = read({"status": "succeeded", "result": {"outputs": [{"seed": 7}], flag: True}})

    assert done == Done((Output(seed=7, ignored_words=True),))


@given(JSON)
def test_only_the_literal_word_is_done(payload: object) -> None:
    """No payload raises, and none is done unless its status is exactly `succeeded`."""
    poll = read(payload)

    literal = isinstance(payload, dict) and payload.get("status") == "succeeded"
    assert isinstance(poll, Done) == literal


@given(st.sampled_from(["succeeded", "failed", "timeout", "canceled"]), JSON, JSON)
def test_known_words_never_raise(word: str, result: object, more: object) -> None:
    """Whatever stands beside a known word, the poll ends."""
    poll = read({"status": word, "result": result, "outputs": more, "errorDetails": more})

    assert isinstance(poll, (Done, EndedBadly))
