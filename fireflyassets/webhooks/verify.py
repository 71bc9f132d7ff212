"""Checks that a webhook is ours: Standard Webhooks headers, HMAC-SHA256 over the raw body.

Belongs here: the signature, both ways, with the standard library alone: copy this file where the
package is not installed. Does not: receiving, parsing, remembering which ids were seen.

    verify(raw_body, request.headers, secrets=["whsec_…"])

Verify before parsing, over the bytes as they came: whatever is parsed and written again may differ.
Then drop an id that you have seen: each event comes at least once.
"""

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping
from typing import Final

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"
PREFIX: Final = "whsec_"
TOLERANCE_SECONDS: Final = 300
"""How far the timestamp may be from the receiver's clock, before it or behind."""
_SECONDS: Final = re.compile(r"[0-9]{1,11}")
_MOST_SIGNATURES: Final = 20
_LEAST_KEY_BYTES: Final = 16


class VerificationFailed(Exception):
    """The request is not proved to be ours: answer 400 and do nothing else."""


def verify(
    body: bytes,
    headers: Mapping[str, str],
    *,
    secrets: Iterable[str],
    now: float | None = None,
    tolerance_seconds: float = TOLERANCE_SECONDS,
) -> str:
    """Return the id of a webhook that one of *secrets* has signed within the tolerance.

    While a secret is rotated, give both. *now* is in seconds since 1970; without it the machine's
    clock counts.

    Raises:
        VerificationFailed: A header is missing or odd, the time is too far off, no signature fits,
            or there is no secret at all.
    """
    keys = [_key(secret) for secret in secrets]
    if not keys:
        raise VerificationFailed("No secret is set, so nothing can be verified.")
    said = {name.lower(): value for name, value in headers.items()}
    webhook_id, timestamp, given = (said.get(name, "") for name in (ID, TIMESTAMP, SIGNATURE))
    if not webhook_id or not timestamp or not given:
        raise VerificationFailed(f"{ID}, {TIMESTAMP} and {SIGNATURE} must all be there.")
    if not _SECONDS.fullmatch(timestamp):
        raise VerificationFailed(f"{TIMESTAMP} is no number of seconds.")
    moment = time.time() if now is None else now  # noqa: TID251 - the receiver's own clock.
    if abs(moment - int(timestamp)) > tolerance_seconds:
        raise VerificationFailed(f"{TIMESTAMP} is too far from this machine's time.")
    # All are compared, so that the time it takes tells nobody which one fits.
    fits = [
        hmac.compare_digest(_signed(key, webhook_id, timestamp, body).encode(), one.encode())
        for one in given.split(" ")[:_MOST_SIGNATURES]
        for key in keys
    ]
    if not any(fits):
        raise VerificationFailed("No signature fits the body.")
    return webhook_id


def signed_headers(
    body: bytes, *, webhook_id: str, at_seconds: int, secrets: Iterable[str]
) -> dict[str, str]:
    """Return the headers that go with *body*, signed with each secret.

    Raises:
        VerificationFailed: There is no secret.
    """
    timestamp = str(at_seconds)
    made = [_signed(_key(secret), webhook_id, timestamp, body) for secret in secrets]
    if not made:
        raise VerificationFailed("No secret is set, so nothing can be signed.")
    return {ID: webhook_id, TIMESTAMP: timestamp, SIGNATURE: " ".join(made)}


def _key(secret: str) -> bytes:
    """Return the bytes that a secret stands for.

    Raises:
        VerificationFailed: It is none; a short one would let anybody sign.
    """
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or len(key) < _LEAST_KEY_BYTES:
        raise VerificationFailed(f"A secret is {PREFIX} and base64 of 16 bytes or more.") from None
    return key


def _signed(key: bytes, webhook_id: str, timestamp: str, body: bytes) -> str:
    content = b".".join((webhook_id.encode(), timestamp.encode(), body))
    return f"v1,{base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()}"
