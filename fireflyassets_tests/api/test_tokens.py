"""Bearer tokens. Here: which of them let somebody in, and what the others are told."""

import base64
import hmac
import json

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import ECKey, KeySet, RSAKey

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.keys import MemoryKeys
from fireflyassets.api.tokens import Bearers, Caller, Refused
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.settings import Settings
from fireflyassets_tests.api.desk_clerk import ISSUER, KEY, TOKEN, bearers, clerk, finished, token
from fireflyassets_tests.front_door import CUSTOMER, NOON, FixedCatalogue, config

SOON = int(NOON.timestamp())
STRANGER = ECKey.generate_key("P-256", auto_kid=True)


def part(said: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(said).encode()).rstrip(b"=").decode()


def unsigned() -> str:
    _, claims, _ = TOKEN.split(".")
    return f"{part({'alg': 'none', 'kid': KEY.kid})}.{claims}."


def signed_with_the_public_key() -> str:
    """Return a token whose HMAC key is the issuer's public key, which everybody has."""
    _, claims, _ = TOKEN.split(".")
    said = f"{part({'alg': 'HS256', 'kid': KEY.kid})}.{claims}"
    proof = hmac.digest(KEY.as_pem(private=False), said.encode(), "sha256")
    return f"{said}.{base64.urlsafe_b64encode(proof).rstrip(b'=').decode()}"


def changed() -> str:
    head, _, signature = TOKEN.split(".")
    claims = {"iss": ISSUER, "aud": "fireflyassets", "tenant": "bolt", "exp": SOON + 60}
    return f"{head}.{part(claims)}.{signature}"


def headed(header: object) -> str:
    _, claims, signature = TOKEN.split(".")
    return f"{part(header)}.{claims}.{signature}"


def signed(payload: bytes) -> str:
    return jws.serialize_compact({"alg": "ES256", "kid": str(KEY.kid)}, payload, KEY)


BAD = {
    "unsigned": (unsigned(), "algorithm"),
    "public key as a secret": (signed_with_the_public_key(), "algorithm"),
    "another key": (token(key=STRANGER), "signature"),
    "another key under our key's name": (
        token(key=ECKey.import_key(STRANGER.as_dict(private=True) | {"kid": str(KEY.kid)})),
        "signature",
    ),
    "changed claims": (changed(), "signature"),
    "another issuer": (token(iss="https://other.example"), "issuer"),
    "another audience": (token(aud="billing"), "audience"),
    "expired": (token(exp=SOON - 61), "expired"),
    "from the future": (token(iat=SOON + 61), "not-yet"),
    "not valid yet": (token(nbf=SOON + 61), "not-yet"),
    "no expiry": (token(exp=None), "claim"),
    "no audience": (token(aud=None), "claim"),
    "an expiry that is no number": (token(exp="tomorrow"), "malformed"),
    "an endless expiry": (token(exp=float("nan")), "malformed"),
    "no tenant": (token(tenant=""), "tenant"),
    "a tenant that is no name": (token(tenant="../acme"), "tenant"),
    "no token at all": ("abc", "malformed"),
    "three empty parts": ("..", "malformed"),
    "nested header": (f"{base64.urlsafe_b64encode(b'[' * 5000).decode()}.e30.e30", "malformed"),
    "an extension that is no list": (headed({"alg": "ES256", "crit": 5}), "malformed"),
    "an algorithm that is a list": (headed({"alg": ["ES256"]}), "malformed"),
    "nested claims": (signed(b"[" * 3000), "malformed"),
    "claims that are no object": (signed(b"[]"), "malformed"),
    "very long": (TOKEN + "A" * 9_000, "malformed"),
}


@pytest.mark.parametrize("name", BAD)
def test_tokens_that_prove_nothing_are_refused_with_the_reason(name: str) -> None:
    """401, a rule and a fix, and not a word of what the token said."""
    sent, rule = BAD[name]

    answer = clerk().ask("GET", "/v1/campaigns/spring-launch", token=sent)

    assert answer.status_code == 401
    told = answer.json()["problems"][0]
    assert (told["field"], told["rule"]) == ("Authorization", rule)
    assert told["fix"]
    assert answer.headers["WWW-Authenticate"].startswith('Bearer error="invalid_token"')
    assert sent not in answer.text


def test_a_clock_that_is_a_little_off_shuts_nobody_out() -> None:
    """A minute on either side; the issuer's clock is not ours."""
    for claims in ({"exp": SOON - 59}, {"iat": SOON + 59}, {"nbf": SOON + 59}):
        answer = clerk().ask("GET", "/v1/campaigns/spring-launch", token=token(**claims))
        assert answer.status_code == 200


def test_scopes_decide_what_a_token_may() -> None:
    """Reading and writing are apart: 403 names the scope that lacks, and nothing is written."""
    desk = clerk()
    reader, writer = token(scope="jobs:read"), token(scope="jobs:write")

    job = {"campaign": "spring-launch", "idempotencyKey": "k"}
    written = desk.ask("POST", "/v1/jobs", token=reader, json=job)
    read = desk.ask("GET", "/v1/campaigns/spring-launch", token=writer)
    neither = desk.ask("GET", "/v1/campaigns/spring-launch", token=token(scope=None))

    assert [one.status_code for one in (written, read, neither)] == [403, 403, 403]
    assert 'scope="jobs:write"' in written.headers["WWW-Authenticate"]
    assert read.json()["problems"][0]["rule"] == "scope"
    assert desk.door.ledger.outbox == ()


def reading(**settings: object) -> Bearers:
    keys = MemoryKeys(KeySet([KEY]).as_dict(private=False))
    said = {"oidc_issuer": ISSUER} | settings
    return bearers(keys, FakeClock(NOON), Settings.model_validate(said))


def test_other_issuers_ways_of_saying_it_are_understood() -> None:
    """Cognito names the client and puts its resource server before scopes; others list them."""
    cognito = reading(
        oidc_audience="client-1",
        oidc_audience_claim="client_id",
        oidc_tenant_claim="custom:tenant",
        oidc_scope_prefix="fireflyassets/",
    )
    said = {"aud": None, "client_id": "client-1", "custom:tenant": "bolt"}

    first = cognito.read(token(**said, scope="fireflyassets/jobs:read openid"))
    second = reading().read(token(scope=None, scp=["jobs:read", "ops"]))
    third = cognito.read(token(**said | {"client_id": "client-2"}))

    assert isinstance(first, Caller)
    assert first == Caller("bolt", f"system-of-{CUSTOMER}", frozenset({"jobs:read"}))
    assert isinstance(second, Caller)
    assert second.scopes == {"jobs:read", "ops"}
    assert not isinstance(third, Caller)


def test_keys_of_other_kinds_count_where_they_are_allowed() -> None:
    """The allow-list is the operator's; a key of the issuer alone is not enough."""
    rsa = RSAKey.generate_key(2048, auto_kid=True)
    keys = MemoryKeys(KeySet([KEY, rsa]).as_dict(private=False))
    sent = token(key=rsa, algorithm="RS256")

    told = [
        bearers(keys, FakeClock(NOON), Settings(oidc_issuer=ISSUER, oidc_algorithms=allowed)).read(
            sent
        )
        for allowed in (("RS256",), ("ES256",))
    ]

    assert [isinstance(one, Caller) for one in told] == [True, False]


ODD_KEYS: dict[str, object] = {
    "unknown kind": {"kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA", "kid": "pq"},
    "unknown Edwards curve": {"kty": "OKP", "crv": "X999", "x": "AAAA", "kid": "o"},
    "unknown curve": {"kty": "EC", "crv": "P-999", "x": "AAAA", "y": "AAAA", "kid": "e"},
    "no kind": {"kid": "n"},
    "a list as its kind": {"kty": ["EC"], "kid": "l"},
    "broken number": {"kty": "RSA", "kid": "r", "n": "!!", "e": "AQAB"},
    "half a key": {"kty": "RSA", "kid": "h"},
    "a text": "x",
    "nothing": None,
}


@pytest.mark.parametrize("name", ODD_KEYS)
def test_a_key_that_we_can_not_work_with_spoils_no_other(name: str) -> None:
    """An issuer may publish a new kind of key any day; alone it proves nothing."""
    good = KeySet([KEY]).as_dict(private=False)["keys"]

    beside, alone = (
        bearers(MemoryKeys({"keys": keys}), FakeClock(NOON), Settings(oidc_issuer=ISSUER))
        for keys in ([ODD_KEYS[name], *good, ODD_KEYS[name]], [ODD_KEYS[name]])
    )

    assert isinstance(beside.read(TOKEN), Caller)
    assert isinstance(beside.read(headed({"alg": "ES256"})), Refused)
    assert isinstance(alone.read(TOKEN), Refused)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)
HEADERS = st.dictionaries(
    st.sampled_from(["alg", "kid", "crit", "b64", "typ", "cty", "jwk", "jku", "x5c", "x5t", "zip"]),
    ANY_JSON | st.sampled_from(["ES256", "none", "HS256", "RS256", KEY.kid]),
)
CLAIMS = st.dictionaries(
    st.sampled_from(["iss", "aud", "exp", "nbf", "iat", "sub", "tenant", "scope", "scp"]), ANY_JSON
)


@settings(deadline=None, database=None, max_examples=300)
@given(HEADERS, CLAIMS, st.lists(ANY_JSON, max_size=2))
def test_no_token_and_no_key_of_any_shape_is_more_than_refused(
    header: dict[str, object], claims: dict[str, object], keys: list[object]
) -> None:
    """Whatever strangers send, or the issuer publishes, is answered 401 and never an error."""
    good = KeySet([KEY]).as_dict(private=False)["keys"]
    reader = bearers(
        MemoryKeys({"keys": [*keys, *good]}), FakeClock(NOON), Settings(oidc_issuer=ISSUER)
    )

    assert isinstance(reader.read(headed(header)), Refused)
    assert isinstance(reader.read(signed(json.dumps(claims).encode())), Refused)


def test_a_reviewer_alone_sees_what_is_not_approved() -> None:
    """A picture whose review is open does not leave by the small door either."""
    desk = clerk(FixedCatalogue(config(review=ReviewMode.REQUIRED)))
    address = f"/assets/acme/spring-launch/{finished(desk)}/1080x1920"

    def seen(sent: str) -> httpx.Response:
        return desk.ask("GET", address, token=sent)

    assert seen(token(scope="jobs:read jobs:write")).status_code == 404
    assert seen(token(scope="jobs:read review")).status_code == 200
