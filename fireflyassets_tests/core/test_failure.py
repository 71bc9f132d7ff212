"""The classification table: total, by code first, and unknown means hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.failure import (
    ACTIONS,
    BY_CODE,
    BY_PLAIN_CODE,
    GUIDANCE,
    REPLAYS,
    Action,
    FailureClass,
    Family,
    Fault,
    Replay,
    classify,
)

PS, FF, IMS, STORAGE = Family.PHOTOSHOP, Family.FIREFLY, Family.IMS, Family.STORAGE

AUTH, THROTTLED, TRANSIENT = FailureClass.AUTH, FailureClass.THROTTLED, FailureClass.TRANSIENT
STALE, INVALID = FailureClass.STALE_REFERENCE, FailureClass.INVALID_REQUEST
UNSAFE, ENTITLEMENT = FailureClass.UNSAFE_CONTENT, FailureClass.ENTITLEMENT
QUOTA, RETIRED, LOST = FailureClass.QUOTA, FailureClass.MODEL_RETIRED, FailureClass.LOST_ANSWER
BUG, UNKNOWN = FailureClass.BUG, FailureClass.UNKNOWN

FIREFLY: dict[str, tuple[Fault, FailureClass]] = {
    "400-bad-request": (Fault(FF, 400, "bad_request"), INVALID),
    "400-bad-request-in-a-job": (Fault(FF, None, "bad_request"), INVALID),
    "400-empty-body": (Fault(FF, 400, "empty_input_body"), INVALID),
    "400-storage-reference": (Fault(FF, 400, "400312"), STALE),
    "400-names-an-upload": (Fault(FF, 400, "bad_request", "uploadId"), STALE),
    "401-token-not-valid": (Fault(FF, 401, "401013"), AUTH),
    "401-token-expired": (Fault(FF, 401, "401014"), AUTH),
    "401-bare": (Fault(FF, 401), AUTH),
    "402-bare": (Fault(FF, 402), QUOTA),
    "403-quota": (Fault(FF, 403, "quota_exhausted"), QUOTA),
    "403-not-entitled": (Fault(FF, 403, "user_non_entitled"), ENTITLEMENT),
    "403-profile-denied": (Fault(FF, 403, "user_profile_denied"), ENTITLEMENT),
    "403-scope": (Fault(FF, 403, "invalid_ims_scope"), ENTITLEMENT),
    "403-access-error": (Fault(FF, 403, "access_error"), ENTITLEMENT),
    "403-no-api-key": (Fault(FF, 403, "403000"), ENTITLEMENT),
    "403-api-key-invalid": (Fault(FF, 403, "403003"), ENTITLEMENT),
    "403-bare": (Fault(FF, 403), ENTITLEMENT),
    "404-unknown-job": (Fault(FF, 404, "unknown_job_id"), LOST),
    "404-unknown-model": (Fault(FF, 404), RETIRED),
    "408": (Fault(FF, 408, "timeout_error"), TRANSIENT),
    "410-names-an-input": (Fault(FF, 410, "", "image.source.url"), STALE),
    "413-html": (Fault(FF, 413), INVALID),
    "415": (Fault(FF, 415, "invalid_content_type"), INVALID),
    "422-validation": (Fault(FF, 422, "validation_error"), INVALID),
    "422-cai": (Fault(FF, 422, "cai_assertion_violation_error"), INVALID),
    "422-unsafe": (Fault(FF, 422, "prompt_unsafe"), UNSAFE),
    "422-names-an-input": (Fault(FF, 422, "validation_error", "body.image.source.url"), STALE),
    "422-names-a-mask": (Fault(FF, 422, "validation_error", "mask.source.uploadId"), STALE),
    "429": (Fault(FF, 429, "rate_limited"), THROTTLED),
    "429-gateway": (Fault(FF, 429, "429050"), THROTTLED),
    "429-backpressure-in-a-job": (Fault(FF, None, "backpressure_limited"), THROTTLED),
    "451-legal": (Fault(FF, 451, "legal_error"), UNSAFE),
    "451-prompt": (Fault(FF, 451, "prompt_unsafe"), UNSAFE),
    "451-entity": (Fault(FF, 451, "prompt_entity_denied"), UNSAFE),
    "451-image": (Fault(FF, 451, "image_unsafe"), UNSAFE),
    "451-video": (Fault(FF, 451, "video_unsafe"), UNSAFE),
    "451-reference": (Fault(FF, 451, "reference_image_unsafe_error"), UNSAFE),
    "451-input": (Fault(FF, 451, "input_media_unsafe"), UNSAFE),
    "451-bare": (Fault(FF, 451), UNSAFE),
    "499-cancelled": (Fault(FF, 499, "cancelled_error"), UNKNOWN),
    "500-runtime": (Fault(FF, 500, "runtime_error"), TRANSIENT),
    "500-session": (Fault(FF, 500, "session_data_not_recovered"), TRANSIENT),
    "500-bare": (Fault(FF, 500), TRANSIENT),
    "501": (Fault(FF, 501, "not_implemented"), BUG),
    "501-bare": (Fault(FF, 501), BUG),
    "503-model-not-loaded": (Fault(FF, 503, "model_not_loaded"), TRANSIENT),
    "503-bare": (Fault(FF, 503), TRANSIENT),
    "job-prompt-unsafe": (Fault(FF, None, "prompt_unsafe"), UNSAFE),
    "job-unsafe-of-a-new-kind": (Fault(FF, None, "some_unsafe"), UNSAFE),
    "job-output-unsafe": (Fault(FF, None, "output_media_unsafe"), UNSAFE),
    "job-language": (Fault(FF, None, "language_not_supported"), INVALID),
    "job-indecipherable": (Fault(FF, None, "input_media_indecipherable"), INVALID),
    "job-timeout": (Fault(FF, None, "timeout"), TRANSIENT),
    "job-cancelled": (Fault(FF, None, "cancelled"), UNKNOWN),
    "model-in-training": (Fault(FF, None, "model_not_ready"), FailureClass.MODEL_NOT_READY),
    "model-unknown": (Fault(FF, None, "model_unknown"), RETIRED),
    "model-of-another-base": (Fault(FF, None, "model_base"), INVALID),
    "resource-is-no-source": (Fault(FF, 422, "validation_error", "resource.curlurl"), INVALID),
    "never-heard-of": (Fault(FF, 418), UNKNOWN),
    "never-heard-of-in-a-job": (Fault(FF, None, "brand_new"), UNKNOWN),
}
PHOTOSHOP: dict[str, tuple[Fault, FailureClass]] = {
    "401013": (Fault(PS, 401, "401013"), AUTH),
    "validation-error": (Fault(PS, 400, "validation_error"), INVALID),
    "validation-error-at-a-layer": (
        Fault(PS, 422, "validation_error", "edits.layers.0.name"),
        INVALID,
    ),
    "validation-error-at-an-input": (
        Fault(PS, 400, "validation_error", "image.source.url"),
        STALE,
    ),
    "unsupported-method": (Fault(PS, 405, "unsupported_method"), BUG),
    "invalid-content-type": (Fault(PS, 415, "invalid_content_type"), INVALID),
    "unknown-job": (Fault(PS, 404, "unknown_job_id"), LOST),
    "forbidden": (Fault(PS, 403, "unauthorized_forbidden"), ENTITLEMENT),
    "forbidden-by-traffic": (
        Fault(PS, 403, "unauthorized_forbidden", message="Try later, high traffic"),
        TRANSIENT,
    ),
    "forbidden-traffic": (
        Fault(PS, 403, "unauthorized_forbidden", message="no traffic of this kind is allowed"),
        ENTITLEMENT,
    ),
    "forbidden-by-quota": (
        Fault(PS, 403, "unauthorized_forbidden", message="Quota exceeded"),
        QUOTA,
    ),
    "legal-reasons": (Fault(PS, 451, "unauthorized_legal_reasons"), UNSAFE),
    "rate-limited": (Fault(PS, 429, "unauthorized_rate_limited"), THROTTLED),
    "runtime-error": (Fault(PS, 500, "runtime_error"), TRANSIENT),
    "invalid-json": (Fault(PS, 400, "invalid_json"), INVALID),
    "job-400400": (Fault(PS, None, "400400"), INVALID),
    "job-400401": (Fault(PS, None, "400401"), INVALID),
    "job-400410": (Fault(PS, None, "400410"), INVALID),
    "job-400420": (Fault(PS, None, "400420"), INVALID),
    "job-400411-content-filter": (Fault(PS, None, "400411"), UNSAFE),
    "job-403401": (Fault(PS, None, "403401"), ENTITLEMENT),
    "job-403421-quota": (Fault(PS, None, "403421"), QUOTA),
    "job-404404": (Fault(PS, None, "404404", "image.source.url"), STALE),
    "job-404-of-any-kind": (Fault(PS, None, "404999"), STALE),
    "job-404-at-an-input": (Fault(PS, None, "404999", "image.source.url"), STALE),
    "job-422404-outputs": (Fault(PS, None, "422404"), STALE),
    "job-500600": (Fault(PS, None, "500600"), TRANSIENT),
    "job-names-an-input": (Fault(PS, None, "", "image.source.url"), STALE),
    "never-heard-of": (Fault(PS, 200, "never_heard_of"), UNKNOWN),
}
TOKENS: dict[str, tuple[Fault, FailureClass]] = {
    "invalid-client": (Fault(IMS, 401, "invalid_client"), AUTH),
    "invalid-scope": (Fault(IMS, 400, "invalid_scope"), ENTITLEMENT),
    "unauthorized-client": (Fault(IMS, 400, "unauthorized_client"), ENTITLEMENT),
    "access-denied": (Fault(IMS, 400, "access_denied"), AUTH),
    "no-such-address": (Fault(IMS, 404), AUTH),
    "internal-error": (Fault(IMS, 400, "internal_error"), TRANSIENT),
    "429": (Fault(IMS, 429), THROTTLED),
    "no-secret": (Fault(IMS, None, "no_secret"), AUTH),
    "secrets-unreachable": (Fault(IMS, None, "secret_unreachable"), TRANSIENT),
    "refused-again": (Fault(IMS, None, "token_rejected"), AUTH),
}
OURS: dict[str, tuple[Fault, FailureClass]] = {
    "network": (Fault(FF, None, "connect_error"), TRANSIENT),
    "no-answer-to-a-poll": (Fault(FF, None, "no_answer"), TRANSIENT),
    "lost-answer-to-a-submit": (Fault(FF, None, "lost_answer"), LOST),
    "success-without-a-link": (Fault(FF, 202, "no_poll_link"), LOST),
    "refused-before-sending": (Fault(FF, None, "refused_locally"), INVALID),
    "success-that-ignored-words": (Fault(FF, None, "words_ignored", "prompt"), UNSAFE),
    "result-url-expired": (Fault(STORAGE, 403, "expired_url"), STALE),
    "result-is-no-picture": (Fault(STORAGE, 200, "not_a_picture"), FailureClass.STORAGE),
    "untrusted-url": (Fault(FF, None, "untrusted_url"), BUG),
    "tries-spent": (Fault(FF, None, "tries_spent"), TRANSIENT),
}
ROWS = {
    f"{family}-{name}": row
    for family, rows in (
        ("firefly", FIREFLY),
        ("photoshop", PHOTOSHOP),
        ("tokens", TOKENS),
        ("ours", OURS),
    )
    for name, row in rows.items()
}


@pytest.mark.parametrize(("fault", "failure"), ROWS.values(), ids=ROWS.keys())
def test_each_row_has_its_class(fault: Fault, failure: FailureClass) -> None:
    """What Adobe says becomes the class that operators read in the table."""
    assert classify(fault) is failure


def test_every_class_has_an_action_and_guidance() -> None:
    """Nobody meets a class that the factory or a person does not know what to do with."""
    assert set(ACTIONS) == set(FailureClass)
    assert set(GUIDANCE) == set(FailureClass)
    assert set(REPLAYS) == set(FailureClass)
    assert ACTIONS[FailureClass.UNKNOWN] is Action.HOLD


@given(
    st.builds(
        Fault,
        family=st.sampled_from(Family),
        status=st.none() | st.integers(0, 999),
        code=st.text(max_size=30),
        field=st.text(max_size=30),
        message=st.text(max_size=80),
    )
)
def test_the_table_is_total(fault: Fault) -> None:
    """Whatever comes, there is a class, and it never raises."""
    assert classify(fault) in FailureClass


def test_every_code_of_the_table_has_a_row_here() -> None:
    """No code is in the table without a test that says why."""
    tested = {fault.code for fault, _ in ROWS.values()}
    shared = {kind for kind in BY_CODE if kind not in tested}

    # Our own words for an exchange that failed before anything was said: one class for all.
    assert shared <= {
        "pool_timeout",
        "connection_lost",
        "not_json",
        "oversized",
        "no_token_in_time",
        "token_locked",
        "bad_token_answer",
        "storage_error",
        "nothing_written",
    }
    assert set(BY_PLAIN_CODE) <= tested


def test_dead_letter_of_a_5xx_is_replayed_once_adobe_answers() -> None:
    """5xx, transient: replay after the service is back."""
    failure = classify(Fault(FF, 503))

    assert (ACTIONS[failure], REPLAYS[failure]) == (Action.RETRY, Replay.FREELY)


@pytest.mark.parametrize("code", ["prompt_unsafe", "validation_error"])
def test_dead_letter_of_a_422_is_never_replayed(code: str) -> None:
    """422, content rejected: the customer is told to revise the prompt."""
    failure = classify(Fault(FF, 422, code))

    assert (ACTIONS[failure], REPLAYS[failure]) == (Action.REVIEW, Replay.NEVER)
    assert "new key" in GUIDANCE[failure]


def test_dead_letter_of_a_403_waits_for_an_operator() -> None:
    """403, not entitled: nothing is replayed before somebody has mended the credential."""
    for fault in (Fault(FF, 403), Fault(PS, None, "403401"), Fault(FF, 403, "user_non_entitled")):
        failure = classify(fault)

        assert (ACTIONS[failure], REPLAYS[failure]) == (Action.DLQ, Replay.AFTER_MENDING)
        assert "credential" in GUIDANCE[failure]


def test_dead_letter_of_a_retired_model_is_never_replayed() -> None:
    """404, custom model retired: the customer is told to train it again."""
    for fault in (Fault(FF, 404), Fault(FF, None, "model_unknown")):
        failure = classify(fault)

        assert (ACTIONS[failure], REPLAYS[failure]) == (Action.REVIEW, Replay.NEVER)
        assert "Train" in GUIDANCE[failure]


def test_dead_letter_of_an_expired_reference_is_replayed_with_a_fresh_one() -> None:
    """400312, storage reference expired: every send signs its references anew."""
    failure = classify(Fault(FF, 400, "400312"))

    assert (ACTIONS[failure], REPLAYS[failure]) == (Action.RETRY, Replay.FREELY)
    assert "signed anew" in GUIDANCE[failure]


def test_dead_letter_of_a_timeout_is_replayed() -> None:
    """A step that ran out of time is replayed, and collects the vendor's job first."""
    for code in ("timeout", "tries_spent", "no_answer"):
        failure = classify(Fault(FF, None, code))

        assert REPLAYS[failure] is Replay.FREELY
