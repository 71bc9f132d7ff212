"""The token service: `POST /ims/token/v3`.

Belongs here: reading the form (or, as Adobe also takes it, the query) and IMS's own errors.
Does not belong here: what a token is (`accounts.py`).
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fireflyassets.twin.rejections import ims
from fireflyassets.twin.simulator import Simulator


async def mint_token(sim: Simulator, request: Request) -> Response:
    """Answer with a new access token; there is no refresh token."""
    async with request.form() as form:
        fields = {key: str(value) for key, value in form.items()}
    fields = {**request.query_params, **fields}
    if fields.get("grant_type") != "client_credentials":
        raise ims(400, "unauthorized_client", "unsupported grant_type parameter")
    account = sim.accounts.find(fields.get("client_id", ""))
    if account is None:
        raise ims(400, "invalid_client", "invalid client_id parameter")
    if fields.get("client_secret") not in account.secrets:
        raise ims(400, "invalid_client", "invalid client_secret parameter")
    scopes = frozenset(part.strip() for part in fields.get("scope", "").split(",")) - {""}
    if not scopes:
        raise ims(400, "invalid_scope", "missing scope parameter")
    ttl = sim.settings.token_ttl
    token = sim.accounts.mint(account, scopes, sim.clock.now(), ttl)
    sim.bills.mints[account.client] += 1
    return JSONResponse(
        {
            "access_token": token,
            "token_type": "bearer",
            "expires_in": int(ttl.total_seconds()),
        }
    )
