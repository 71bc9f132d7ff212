"""Routes of endpoints and deliveries: where a tenant is told of events, and what was told.

Belongs here: HTTP in front of ``stages/endpoints.py``. Does not: its rules, sending.
"""

import asyncio
import secrets
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from fireflyassets.api import webhook_shapes as shapes
from fireflyassets.api.bodies import JobBody
from fireflyassets.api.description import refusals
from fireflyassets.api.desk import AtDesk, Desk, Operator, Reader
from fireflyassets.api.problems import ProblemRaised, not_found
from fireflyassets.api.wishes import body as body_of
from fireflyassets.api.wishes import wish
from fireflyassets.core.endpoint import Endpoint, Kind, Outcome
from fireflyassets.core.request import Problem
from fireflyassets.ports.webhooks import Chosen
from fireflyassets.stages.endpoints import Change, moment

router: Final = APIRouter()

PAGE: Final = 50
_MISSING: Final = refusals(HTTPStatus.NOT_FOUND)
_OF_A_BODY: Final = refusals(
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
_OF_A_QUERY: Final = refusals(HTTPStatus.UNPROCESSABLE_ENTITY)
_PRIVATE: Final = {"Cache-Control": "no-store"}
Time = Annotated[str | None, Query(description="ISO 8601 with its zone.", max_length=40)]
_Found = TypeVar("_Found")


@router.post(
    "/v1/endpoints",
    status_code=HTTPStatus.CREATED,
    response_model=shapes.EndpointWithSecret,
    responses={**_OF_A_BODY, **refusals(HTTPStatus.CONFLICT)},
    openapi_extra=body_of(shapes.NewEndpoint),
)
def add_endpoint(at: AtDesk, who: Operator, body: JobBody) -> Response:
    """Add an endpoint. Its secret is shown here, and never again but by a rotation."""
    wished = wish(shapes.NewEndpoint, body, of="endpoint")
    _insist(_fault(at, who.tenant, wished.kind, wished.url))
    name = f"ep_{secrets.token_hex(10)}"
    told = at.endpoints.add(who.tenant, name, kind=wished.kind, url=wished.url, types=wished.types)
    if isinstance(told, Problem):
        raise ProblemRaised(HTTPStatus.CONFLICT, "The endpoint was not added.", told)
    return _with_secret(at, told, HTTPStatus.CREATED)


@router.get("/v1/endpoints", response_model=shapes.EndpointList, responses=refusals())
def list_endpoints(at: AtDesk, who: Reader) -> Response:
    """List the tenant's endpoints, and how each does."""
    found = at.endpoints.store.endpoints(who.tenant)
    return JSONResponse({"endpoints": [shapes.endpoint(one) for one in found]}, headers=_PRIVATE)


@router.get("/v1/endpoints/{endpoint_id}", response_model=shapes.EndpointShape, responses=_MISSING)
def show_endpoint(at: AtDesk, who: Reader, endpoint_id: str) -> Response:
    """Show one endpoint."""
    return _told(at.endpoints.store.endpoint(who.tenant, endpoint_id))


@router.patch(
    "/v1/endpoints/{endpoint_id}",
    response_model=shapes.EndpointShape,
    responses={**_MISSING, **_OF_A_BODY},
    openapi_extra=body_of(shapes.ChangedEndpoint),
)
def change_endpoint(at: AtDesk, who: Operator, endpoint_id: str, body: JobBody) -> Response:
    """Change an endpoint, or switch it off or on; one that is switched on begins afresh."""
    wished = wish(shapes.ChangedEndpoint, body, of="endpoint")
    stands = at.endpoints.store.endpoint(who.tenant, endpoint_id)
    if stands is not None and wished.url is not None:
        _insist(_fault(at, who.tenant, stands.kind, wished.url))
    types = None if wished.types is None else frozenset(wished.types)
    change = Change(wished.url, types, wished.enabled)
    return _told(at.endpoints.change(who.tenant, endpoint_id, change))


@router.delete(
    "/v1/endpoints/{endpoint_id}", response_model=shapes.EndpointShape, responses=_MISSING
)
def remove_endpoint(at: AtDesk, who: Operator, endpoint_id: str) -> Response:
    """Remove an endpoint. What waits for it is not sent."""
    told = _told(at.endpoints.store.endpoint(who.tenant, endpoint_id))
    at.endpoints.store.remove_endpoint(who.tenant, endpoint_id)
    return told


@router.post(
    "/v1/endpoints/{endpoint_id}/secret",
    response_model=shapes.EndpointWithSecret,
    responses=_MISSING,
)
def rotate_secret(at: AtDesk, who: Operator, endpoint_id: str) -> Response:
    """Make a new secret, shown this once. The one before signs beside it for 24 hours."""
    told = _there(at.endpoints.rotate(who.tenant, endpoint_id), "endpoint")
    return _with_secret(at, told, HTTPStatus.OK)


@router.post(
    "/v1/endpoints/{endpoint_id}/test",
    status_code=HTTPStatus.ACCEPTED,
    response_model=shapes.DeliveryShape,
    responses=_MISSING,
)
def test_endpoint(at: AtDesk, who: Operator, endpoint_id: str) -> Response:
    """Send a test, within half a minute, as any event is sent."""
    made = at.endpoints.test(who.tenant, endpoint_id, chance=secrets.token_hex(8))
    told = shapes.delivery(_there(made, "endpoint"))
    return JSONResponse(told, HTTPStatus.ACCEPTED, headers=_PRIVATE)


@router.post(
    "/v1/endpoints/{endpoint_id}/replay",
    status_code=HTTPStatus.ACCEPTED,
    response_model=shapes.Replayed,
    responses={**_MISSING, **_OF_A_QUERY},
)
def replay_endpoint(
    at: AtDesk,
    who: Operator,
    endpoint_id: str,
    since: Time = None,
    until: Time = None,
    outcome: Outcome = Outcome.FAILED,
) -> Response:
    """Send again what failed, or was delivered, of a time; under the ids that it had."""
    _there(at.endpoints.store.endpoint(who.tenant, endpoint_id), "endpoint")
    chosen = _chosen(who.tenant, endpoint_id, outcome, since, until)
    told = {"replayed": at.endpoints.replay(chosen)}
    return JSONResponse(told, HTTPStatus.ACCEPTED, headers=_PRIVATE)


@router.get("/v1/deliveries", response_model=shapes.DeliveryList, responses=_OF_A_QUERY)
def list_deliveries(
    at: AtDesk,
    who: Reader,
    endpoint: Annotated[str | None, Query(max_length=64)] = None,
    outcome: Outcome | None = None,
    since: Time = None,
    until: Time = None,
    cursor: Annotated[str | None, Query(max_length=128)] = None,
) -> Response:
    """List deliveries of the last thirty days with every try, the newest first."""
    chosen = _chosen(who.tenant, endpoint, outcome, since, until)
    found = at.endpoints.store.deliveries(chosen, after=cursor or None, most=PAGE)
    told: shapes.DeliveryList = {
        "deliveries": [shapes.delivery(one) for one in found],
        "next": found[-1].delivery_id if len(found) == PAGE else None,
    }
    return JSONResponse(told, headers=_PRIVATE)


@router.get(
    "/v1/deliveries/{delivery_id}", response_model=shapes.DeliveryWithBody, responses=_MISSING
)
def show_delivery(at: AtDesk, who: Reader, delivery_id: str) -> Response:
    """Show one delivery with its body and every try."""
    found = _there(at.endpoints.store.delivery(who.tenant, delivery_id), "delivery")
    return JSONResponse({**shapes.delivery(found), "body": found.body}, headers=_PRIVATE)


@router.post(
    "/v1/deliveries/{delivery_id}/replay",
    status_code=HTTPStatus.ACCEPTED,
    response_model=shapes.Replayed,
    responses=_MISSING,
)
def replay_delivery(at: AtDesk, who: Operator, delivery_id: str) -> Response:
    """Send one delivery again, under the id that it had; one that waits is sent anyway."""
    found = _there(at.endpoints.store.delivery(who.tenant, delivery_id), "delivery")
    told = {"replayed": int(at.endpoints.again(found))}
    return JSONResponse(told, HTTPStatus.ACCEPTED, headers=_PRIVATE)


def _insist(*faults: Problem | None) -> None:
    found = [one for one in faults if one]
    if found:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        raise ProblemRaised(status, "The endpoint is not right.", *found)


def _fault(at: Desk, tenant: str, kind: Kind, url: str) -> Problem | None:
    """Return why nothing is sent there, by its form and by where it leads just now."""
    if kind is Kind.WEBHOOK:
        return asyncio.run(at.ports.guard.problem(url))
    found = shapes.TOPIC.fullmatch(url)
    if found and found["account"] in at.topic_accounts.get(tenant, ()):
        return None
    said = "This is no topic of an AWS account that is known as yours."
    return Problem("url", "topic", said, "Ask who runs the API to note the account.")


def _chosen(
    tenant: str, endpoint: str | None, outcome: Outcome | None, since: str | None, until: str | None
) -> Chosen:
    times = {"since": since, "until": until}
    read = {name: moment(said) for name, said in times.items() if said is not None}
    _insist(
        *(
            Problem(name, "time", f"{name} is no time with its zone.", "Send …T03:30:00Z.")
            for name, at in read.items()
            if at is None
        )
    )
    return Chosen(tenant, endpoint or None, outcome, read.get("since"), read.get("until"))


def _there(found: _Found | None, what: str) -> _Found:
    if found is None:
        raise not_found(f"There is no such {what}.", f"{what}_id")
    return found


def _told(found: Endpoint | None) -> Response:
    return JSONResponse(shapes.endpoint(_there(found, "endpoint")), headers=_PRIVATE)


def _with_secret(at: Desk, endpoint: Endpoint, status: HTTPStatus) -> Response:
    said: dict[str, Any] = {**shapes.endpoint(endpoint)}
    said["secret"] = at.ports.webhook_secrets.newest(endpoint)
    return JSONResponse(said, status, headers=_PRIVATE)
