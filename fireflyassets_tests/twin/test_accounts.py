"""Tokens and the gateway: who may call, and the documented refusals."""

from datetime import timedelta

import pytest

from fireflyassets.twin.settings import ClientSetting
from fireflyassets_tests.twin.rehearsal import ADA, BOB, GENERATE, SCOPES, Rehearsal, rehearse

PHOTOSHOP_ONLY = ClientSetting(
    id="psd", secret="s", organisation="acme@AdobeOrg", entitlements=frozenset({"photoshop"})
)


def form(**changes: str) -> dict[str, str]:
    return {
        "grant_type": "client_credentials",
        "client_id": ADA.id,
        "client_secret": ADA.secret,
        "scope": SCOPES,
        **changes,
    }


def test_token_has_the_documented_shape() -> None:
    """A right form earns a bearer token for a day, and no refresh token."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.http.post("/ims/token/v3", data=form())
        assert answer.status_code == 200
        body = answer.json()
        assert set(body) == {"access_token", "token_type", "expires_in"}
        assert (body["token_type"], body["expires_in"]) == ("bearer", 86_399)

    rehearse(steps)


def test_token_by_query_works_too() -> None:
    """The query form is taken as Adobe takes it."""

    async def steps(twin: Rehearsal) -> None:
        assert (await twin.http.post("/ims/token/v3", params=form())).status_code == 200

    rehearse(steps)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"client_id": "nobody"}, "invalid_client"),
        ({"client_secret": "wrong"}, "invalid_client"),
        ({"grant_type": "password"}, "unauthorized_client"),
        ({"scope": ""}, "invalid_scope"),
    ],
)
def test_bad_form_is_refused(changes: dict[str, str], error: str) -> None:
    """Each wrong field earns IMS's own error word."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.http.post("/ims/token/v3", data=form(**changes))
        assert answer.status_code == 400
        assert answer.json()["error"] == error

    rehearse(steps)


def test_two_secrets_of_one_client_are_live_together() -> None:
    """A rotation adds a secret before the old one goes."""

    async def steps(twin: Rehearsal) -> None:
        for secret in ("old", "new"):
            answer = await twin.http.post(
                "/ims/token/v3", data=form(client_id="r", client_secret=secret)
            )
            assert answer.status_code == 200

    rotated = [ClientSetting(id="r", secret=each, organisation="o") for each in ("old", "new")]
    rehearse(steps, clients=tuple(rotated))


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "401013"),
        ({"Authorization": "Bearer nonsense", "x-api-key": ADA.id}, 401, "401013"),
        ({"Authorization": "Bearer a.b", "x-api-key": ADA.id}, 401, "401013"),
        ({"Authorization": "Basic dXNlcg==", "x-api-key": ADA.id}, 401, "401013"),
    ],
)
def test_bad_token_is_refused(headers: dict[str, str], status: int, code: str) -> None:
    """Without a token of this twin nothing is answered."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.http.post(GENERATE, json={"prompt": "x"}, headers=headers)
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    rehearse(steps)


def test_expired_token_is_told_apart() -> None:
    """A token past its life earns 401014, on paid calls and polls alike."""

    async def steps(twin: Rehearsal) -> None:
        await twin.headers()
        twin.clock.shift = timedelta(days=1)
        for answer in (await twin.generate(), await twin.get("/v3/status/some-job")):
            assert (answer.status_code, answer.json()["error_code"]) == (401, "401014")

    rehearse(steps)


def test_revoked_tokens_end_at_once() -> None:
    """Whoever rehearses can end all tokens; a new one works."""

    async def steps(twin: Rehearsal) -> None:
        await twin.headers()
        await twin.http.delete("/_twin/tokens")
        assert (await twin.generate()).json()["error_code"] == "401014"
        twin.tokens.clear()
        assert (await twin.generate()).status_code == 202

    rehearse(steps)


def test_api_key_must_be_the_token_s_client() -> None:
    """A missing key earns 403000; another client's key 403003."""

    async def steps(twin: Rehearsal) -> None:
        headers = await twin.headers()
        without = {"Authorization": headers["Authorization"]}
        for given, code in ((without, "403000"), ({**headers, "x-api-key": BOB.id}, "403003")):
            answer = await twin.http.post(GENERATE, json={"prompt": "x"}, headers=given)
            assert (answer.status_code, answer.json()["error_code"]) == (403, code)

    rehearse(steps)


def test_product_must_be_on_the_project() -> None:
    """A credential with Photoshop only cannot call Firefly."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.post(GENERATE, {"prompt": "x"}, client=PHOTOSHOP_ONLY)
        assert (answer.status_code, answer.json()["error_code"]) == (403, "403003")

    rehearse(steps, clients=(PHOTOSHOP_ONLY,))


def test_dropped_scope_shows_at_the_first_call() -> None:
    """IMS drops unknown scopes without a word; the call then names the reason in a header."""

    async def steps(twin: Rehearsal) -> None:
        twin.tokens[ADA.id] = await twin.token(scope="openid,firefly-api")
        answer = await twin.generate()
        assert (answer.status_code, answer.json()["error_code"]) == (403, "access_error")
        assert answer.headers["x-access-error"] == "invalid_ims_scope"

    rehearse(steps)
