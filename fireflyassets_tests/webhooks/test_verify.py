"""The signature. Here: against the standard's own library, and all that must not pass."""

import ast
import base64
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.webhooks import verify as module
from fireflyassets.webhooks.verify import VerificationFailed, signed_headers, verify

SECRET = f"whsec_{base64.b64encode(b'a' * 32).decode()}"
OTHER = f"whsec_{base64.b64encode(b'b' * 32).decode()}"
BODY = '{"a":"é 🌿 \u2028 </script>","b":1.0,"url":"https://x.example/?a=1&b=2"}'.encode()
NOW = 1_796_000_000


def made(*secrets: str, at: int = NOW, body: bytes = BODY) -> dict[str, str]:
    return signed_headers(body, webhook_id="evt_1", at_seconds=at, secrets=secrets or [SECRET])


def test_the_standards_own_library_accepts_what_we_sign() -> None:
    """Odd letters, floats and ampersands included: the bytes signed are the bytes sent."""
    headers = made(at=int(SystemClock().now().timestamp()))

    assert Webhook(SECRET).verify(BODY, headers)["b"] == 1.0
    with pytest.raises(WebhookVerificationError):
        Webhook(OTHER).verify(BODY, headers)


def test_we_accept_what_the_standards_own_library_signs() -> None:
    signature = Webhook(SECRET).sign("evt_1", datetime.fromtimestamp(NOW, UTC), BODY.decode())
    headers = {"webhook-id": "evt_1", "webhook-timestamp": str(NOW)}

    told = verify(BODY, headers | {"webhook-signature": signature}, secrets=[SECRET], now=NOW)
    assert told == "evt_1"


@pytest.mark.parametrize("known", [SECRET, OTHER])
def test_while_a_secret_is_rotated_both_count(known: str) -> None:
    """A receiver that knows either secret accepts, and so does one that knows both."""
    headers = made(SECRET, OTHER)

    assert verify(BODY, headers, secrets=[known], now=NOW) == "evt_1"
    assert verify(BODY, made(SECRET), secrets=[OTHER, SECRET], now=NOW) == "evt_1"


def test_header_names_in_any_case_count() -> None:
    headers = {name.title(): value for name, value in made().items()}

    assert verify(BODY, headers, secrets=[SECRET], now=NOW) == "evt_1"


@pytest.mark.parametrize("changed", range(0, len(BODY), 7))
def test_one_byte_changed_is_refused(changed: int) -> None:
    body = bytearray(BODY)
    body[changed] ^= 1

    with pytest.raises(VerificationFailed):
        verify(bytes(body), made(), secrets=[SECRET], now=NOW)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_each_header_is_needed(name: str) -> None:
    for lacking in ({}, {name: ""}):
        headers = {key: value for key, value in made().items() if key != name} | lacking
        with pytest.raises(VerificationFailed):
            verify(BODY, headers, secrets=[SECRET], now=NOW)


@pytest.mark.parametrize("off", [-600, -301, 301, 600])
def test_a_clock_that_is_off_is_refused_in_both_directions(off: int) -> None:
    """Ten minutes late is a replay, ten minutes early a forger's reserve."""
    with pytest.raises(VerificationFailed, match="time"):
        verify(BODY, made(at=NOW + off), secrets=[SECRET], now=NOW)


@pytest.mark.parametrize("off", [-300, -60, 60, 300])
def test_within_the_window_it_counts(off: int) -> None:
    assert verify(BODY, made(at=NOW + off), secrets=[SECRET], now=NOW)


@pytest.mark.parametrize(
    "timestamp", ["abc", " ", f"{NOW}000", f"{NOW}.0", "-1", "1e9", "inf", "nan", "١٧٩٦٠٠٠٠٠٠"]
)
def test_odd_times_are_refused(timestamp: str) -> None:
    with pytest.raises(VerificationFailed):
        verify(BODY, made() | {"webhook-timestamp": timestamp}, secrets=[SECRET], now=NOW)


@pytest.mark.parametrize(
    "signature", ["v1,", "v1", ",", "v2,AAAA", "v1a,AAAA", "\u2028", "v1,é", "deadbeef" * 8]
)
def test_odd_signatures_are_refused(signature: str) -> None:
    with pytest.raises(VerificationFailed):
        verify(BODY, made() | {"webhook-signature": signature}, secrets=[SECRET], now=NOW)


def test_a_signature_in_hex_or_of_another_version_is_refused() -> None:
    signature = made()["webhook-signature"].removeprefix("v1,")
    for odd in (base64.b64decode(signature).hex().upper(), f"v0,{signature}", signature.lower()):
        with pytest.raises(VerificationFailed):
            verify(BODY, made() | {"webhook-signature": odd}, secrets=[SECRET], now=NOW)


@pytest.mark.parametrize(
    "secrets", [[], [""], ["whsec_"], ["whsec_AAAA"], ["secret"], [SECRET, ""]]
)
def test_without_a_good_secret_nothing_passes(secrets: list[str]) -> None:
    """An empty variable fails closed, for the sender as for the receiver."""
    with pytest.raises(VerificationFailed):
        verify(BODY, made(), secrets=secrets, now=NOW)
    with pytest.raises(VerificationFailed):
        signed_headers(BODY, webhook_id="evt_1", at_seconds=NOW, secrets=secrets)


def test_a_retry_has_the_same_id_and_a_signature_of_its_own() -> None:
    first, retry = made(), made(at=NOW + 2400)

    assert first["webhook-id"] == retry["webhook-id"]
    assert first["webhook-signature"] != retry["webhook-signature"]
    assert verify(BODY, retry, secrets=[SECRET], now=NOW + 2400)


def test_the_file_can_be_copied() -> None:
    """It imports the standard library alone."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    named = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [one.name for one in node.names]
        )
    }
    assert named <= sys.stdlib_module_names
