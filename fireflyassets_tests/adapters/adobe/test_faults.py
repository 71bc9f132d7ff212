"""Adobe's errors in one form, whatever their spelling, and nothing in them that leaks."""

import json

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.adapters.adobe import faults
from fireflyassets.adapters.adobe.exchange import Answer
from fireflyassets.core.failure import FailureClass, Family, Fault, classify

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "error_code",
                    "errorCode",
                    "code",
                    "type",
                    "title",
                    "reason",
                    "error",
                    "message",
                    "detail",
                    "loc",
                    "msg",
                    "errors",
                    "errorDetails",
                    "validation_errors",
                    "status",
                    "result",
                    "outputs",
                    "image",
                    "url",
                    "seed",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)

SPELLINGS: list[tuple[int, object, dict[str, str], str, str]] = [
    (400, {"error_code": "bad_request"}, {}, "bad_request", ""),
    (401, {"error_code": 401013, "message": "Oauth token is not valid"}, {}, "401013", ""),
    (500, {"errorCode": "500600"}, {}, "500600", ""),
    (404, {"type": "ResourceNotFound", "title": "not there"}, {}, "ResourceNotFound", ""),
    (404, {"code": "FileExistsErrors", "type": "x"}, {}, "FileExistsErrors", ""),
    (404, {"reason": "not_found", "message": "no model"}, {}, "not_found", ""),
    (400, {"error": "invalid_client", "error_description": "no"}, {}, "invalid_client", ""),
    (400, {"error": {"code": "x1", "message": "m"}}, {}, "x1", ""),
    (
        422,
        {"error_code": "validation_error", "validation_errors": [{"loc": ["body", "seeds"]}]},
        {},
        "validation_error",
        "body.seeds",
    ),
    (422, {"detail": [{"loc": ["body", "size"], "type": "missing"}]}, {}, "missing", "body.size"),
    (400, {"detail": "nothing of use"}, {}, "", ""),
    (
        422,
        {"error_code": "validation_error", "errors": [{"error_code": "422404", "message": "x"}]},
        {},
        "422404",
        "",
    ),
    (
        400,
        {"error_code": "validation_error", "message": "image.source.url: can't be read"},
        {},
        "validation_error",
        "image.source.url",
    ),
    (
        422,
        {"error_code": "validation_error", "message": "edits.layers.0.name: no such layer"},
        {},
        "validation_error",
        "edits.layers.0.name",
    ),
    (
        403,
        {"error_code": "access_error"},
        {"x-access-error": "quota_exhausted"},
        "quota_exhausted",
        "",
    ),
    (403, {"error_code": "access_error"}, {"X-Access-Error": "two words"}, "access_error", ""),
    (
        429,
        {"error_code": "rate_limited"},
        {"x-access-error": "quota_exhausted"},
        "rate_limited",
        "",
    ),
    (500, {"error": "Bad gateway, sorry"}, {}, "", ""),
    (500, [{"errorCode": "500600"}], {}, "500600", ""),
    (500, "text", {}, "", ""),
    (500, None, {}, "", ""),
]


def answer(status: int, body: bytes, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, httpx.Headers(headers or {}), body)


@pytest.mark.parametrize(("status", "body", "headers", "code", "field"), SPELLINGS)
def test_every_spelling_gives_code_and_field(
    status: int, body: object, headers: dict[str, str], code: str, field: str
) -> None:
    """Code and field are found wherever Adobe puts them."""
    text = json.dumps(body).encode()

    fault = faults.from_answer(Family.FIREFLY, answer(status, text, headers))

    assert (fault.status, fault.code, fault.field) == (status, code, field)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (422, {"error_code": "prompt_unsafe"}, FailureClass.UNSAFE_CONTENT),
        (
            422,
            {"error_code": "validation_error", "validation_errors": [{"loc": ["image", "source"]}]},
            FailureClass.STALE_REFERENCE,
        ),
        (
            400,
            {"error_code": "bad_request", "message": "The uploadId has expired."},
            FailureClass.STALE_REFERENCE,
        ),
        (
            400,
            {"error_code": "bad_request", "message": "Could not read 'source'"},
            FailureClass.STALE_REFERENCE,
        ),
        (
            400,
            {"error_code": "bad_request", "message": "prompt must not contain a url"},
            FailureClass.INVALID_REQUEST,
        ),
        (
            422,
            {
                "error_code": "validation_error",
                "message": "negativePrompt: a source of light is not allowed",
            },
            FailureClass.INVALID_REQUEST,
        ),
        (
            403,
            {"error_code": "unauthorized_forbidden", "message": "experiencing high traffic"},
            FailureClass.TRANSIENT,
        ),
        (
            403,
            {"error_code": "unauthorized_forbidden", "message": "quota"},
            FailureClass.QUOTA,
        ),
        (400, {"error": "invalid_client"}, FailureClass.AUTH),
        (422, {"errorDetails": [{"errorCode": "400411"}]}, FailureClass.UNSAFE_CONTENT),
    ],
)
def test_fault_leads_to_its_class(status: int, body: object, expected: FailureClass) -> None:
    """The normalised fault is what the one table of failures needs."""
    fault = faults.from_answer(Family.FIREFLY, answer(status, json.dumps(body).encode()))

    assert classify(fault) is expected


@pytest.mark.parametrize(
    "body",
    [b"", b"<html><title>413</title></html>", b"{", b"\xff\xfe", b"[" * 100_000, b"9" * 5000],
)
def test_body_that_is_no_json_leaves_the_status(body: bytes) -> None:
    """HTML, an empty, a broken or a bottomless body is a fault of its status alone."""
    headers = {"content-type": "text/html"} if body.startswith(b"<") else {}

    fault = faults.from_answer(Family.PHOTOSHOP, answer(413, body, headers))

    assert fault == Fault(Family.PHOTOSHOP, 413)


def test_message_keeps_no_secret() -> None:
    """A message is cut, and URLs, tokens and the prompt are taken out of it."""
    said = (
        "Could not get https://b.s3.amazonaws.com/k?X-Amz-Signature=SIGMARK for 'a red lighthouse'"
        f" with Bearer TOKMARK or {'k' * 60}SECMARK; X-Amz-Credential=CREDMARK " + "x " * 300
    )

    body = json.dumps({"error_code": "bad_request", "message": said}).encode()
    fault = faults.from_answer(Family.FIREFLY, answer(400, body), hide=("a red lighthouse",))

    assert fault.message.startswith("Could not get <link> for '<text>' with <cut> or <cut>; <link>")
    assert len(fault.message) <= 200


@pytest.mark.parametrize(
    "secret",
    [
        "p8e-MARKabcdefghijklmnop",
        "eyJhbGciOiJIUzI1NiJ9.eyJNQVJLIjoxfQ.MARK-short",
        "eyJNQVJLIjoxfQ.MARK",
        "//acct.blob.core.windows.net/c/x?sv=2024&sig=MARK%2Fdef%3D",
        "https%3A%2F%2Fb.s3.amazonaws.com%2Fx%3FX-Amz-Signature%3DMARK",
        "https%3A%2F%2Fb.blob.core.windows.net%2Fx%3Fsig%3DMARK",
        r"https:\/\/b.blob.core.windows.net\/x?sig=MARK",
        "hTTps://a b/c?sig=MARK",
        "b.blob.core.windows.net/c/x.png?sp=r&sig=MARK%2BC",
        "b.blob.core.windows.net/MARK.png?sp=r",
        "token=MARK.def.ghi",
        "Authorization: Basic MARKuOnBhc3M=",
        '"Authorization": "Bearer MARK"',
        "AWSAccessKeyId=AKIA1MARK&Signature=MARK%3D&Expires=1",
        "AKIAIOSFODNN7MARKXYZ",
        "client_secret=s-MARK",
        '{"client_secret": "s-MARK"}',
        "client_secret%3Ds-MARK",
        "access_token: MARK",
    ],
)
def test_secrets_of_every_form_are_cut(secret: str) -> None:
    """Signed addresses, tokens and keys, with a scheme or without, escaped for whatever it was."""
    assert "MARK" not in faults.redact(f"Could not read {secret} just now")
    assert faults.redact(f"Could not read {secret} just now").endswith("just now")


@pytest.mark.parametrize(
    "said",
    [
        "The token has expired; ask for a new one.",
        "edits.layers.0.name: no such layer // see the guide",
        "size=2048x2048 is not one of 1024x1024/2048x2048",
        "code 400401 at options.image.source.url",
        "The password of the archive is missing?",
    ],
)
def test_honest_words_are_kept(said: str) -> None:
    """Whoever decides on a send has to read them."""
    assert faults.redact(said) == said


def test_letters_that_can_not_be_stored_are_replaced() -> None:
    """Half a surrogate pair or a control character in a message breaks no log and no row."""
    body = b'{"error_code": "x", "message": "a\\ud83d\\u0000\\nb"}'

    fault = faults.from_answer(Family.FIREFLY, answer(400, body))

    assert fault.message == "a? b"


@given(st.integers(100, 599), st.binary(max_size=300), st.binary(max_size=20))
def test_no_body_makes_it_raise(status: int, body: bytes, kind: bytes) -> None:
    """Any bytes under any content type give a fault."""
    headers = httpx.Headers([(b"content-type", kind), (b"x-access-error", kind)])

    fault = faults.from_answer(Family.FIREFLY, Answer(status, headers, body))

    assert fault.status == status


@given(JSON)
def test_no_payload_makes_it_raise(payload: object) -> None:
    """Any JSON value gives a fault whose parts can be logged and stored."""
    fault = faults.from_json(Family.FIREFLY, payload, status=400)

    assert len(fault.message) <= 200
    assert len(fault.field) <= 100
    assert fault.code.isascii()
    f"{fault.code}{fault.field}{fault.message}".encode()


@pytest.mark.parametrize(
    ("payload", "own"),
    [
        ({"error_code": "runtime_error"}, True),
        ({"errorCode": "500600"}, True),
        ({"error_code": 503000}, True),
        ({"error_code": ""}, False),
        ({"message": "Internal server error"}, False),
        ({"code": 503, "error": "Service Unavailable"}, False),
        ([{"error_code": "x"}], False),
        (None, False),
    ],
)
def test_own_code_tells_adobe_from_a_proxy(payload: object, *, own: bool) -> None:
    """Only Adobe's spelling of an error code counts as Adobe's word."""
    assert faults.names_own_code(payload) is own
