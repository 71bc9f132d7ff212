"""The three shapes of an accepted submit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.adapters.adobe import accept
from fireflyassets.ports.paid import Accepted
from fireflyassets_tests.adapters.adobe.test_faults import JSON

URL = "https://firefly-epo854211.adobe.io/v3/status/urn%3Aff%3Ajobs%3Aepo854211%3Aone?k=%2F#f"
SLASHED = "https://x.adobe.io/v2/status/a%2Fb/"
CANCEL = "https://firefly-epo854211.adobe.io/v3/cancel/one"


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (
            {"jobId": "urn:ff:jobs:epo854211:one", "statusUrl": URL, "cancelUrl": CANCEL},
            Accepted("urn:ff:jobs:epo854211:one", URL, CANCEL),
        ),
        (
            {"links": {"result": {"href": URL}, "cancel": {"href": CANCEL}}, "progress": 0},
            Accepted("urn:ff:jobs:epo854211:one", URL, CANCEL),
        ),
        ({"jobId": "p1", "statusUrl": URL}, Accepted("p1", URL, None)),
        ({"statusUrl": SLASHED}, Accepted("a/b", SLASHED, None)),
    ],
)
def test_one_reader_for_three_shapes(payload: object, expected: Accepted) -> None:
    """The poll link is kept byte for byte; a missing id is the link's last segment, decoded."""
    assert accept.read(payload) == expected


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        {},
        {"jobId": "one"},
        {"jobId": "one", "statusUrl": ""},
        {"statusUrl": 7},
        {"statusUrl": "https://x.adobe.io/\ud83d"},
        {"links": {"result": "https://x.adobe.io/1"}},
        {"links": {"cancel": {"href": CANCEL}}},
    ],
)
def test_without_a_link_nothing_is_accepted(payload: object) -> None:
    """A success that can't be polled is not taken for an accepted job."""
    assert accept.read(payload) is None


@given(JSON)
def test_no_payload_makes_it_raise(payload: object) -> None:
    """Any JSON value is either an acceptance with a link, or none."""
    read = accept.read(payload)

    assert read is None or (read.status_url and read.vendor_id)


@given(st.text())
def test_any_id_gives_something_to_store(job: str) -> None:
    """However odd the id, what is kept can be encoded and is not empty."""
    read = accept.read({"jobId": job, "statusUrl": "https://x.adobe.io/v3/status/one"})

    assert read is not None
    assert read.vendor_id.encode("ascii")
