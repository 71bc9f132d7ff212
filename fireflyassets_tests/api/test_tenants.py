"""Who sees what. Here: every route shows the caller's own rows alone."""

import pytest

from fireflyassets.core import ids
from fireflyassets_tests.api.desk_clerk import (
    OTHER,
    clerk,
    finished,
)
from fireflyassets_tests.front_door import CUSTOMER

ROUTES = [
    "/v1/jobs/{job}",
    "/v1/jobs/{job}/outputs/1080x1920",
    "/assets/acme/spring-launch/{job}/1080x1920",
]


@pytest.mark.parametrize("route", ROUTES)
def test_another_tenant_sees_no_job_of_ours(route: str) -> None:
    """For them it is not there: the answer is that of an id that never was."""
    desk = clerk()
    job_id = finished(desk)
    never = ids.job_id(CUSTOMER, "never")

    mine = desk.ask("GET", route.format(job=job_id))
    theirs = desk.ask("GET", route.format(job=job_id), token=OTHER)
    nobodys = desk.ask("GET", route.format(job=never), token=OTHER)

    assert mine.status_code in {200, 307}
    assert theirs.status_code == nobodys.status_code == 404
    assert theirs.content == nobodys.content


@pytest.mark.parametrize(
    "route", ["/v1/campaigns/spring-launch", "/v1/campaigns/spring-launch/jobs"]
)
def test_another_tenants_campaign_of_one_name_is_their_own(route: str) -> None:
    """Campaign names are the tenant's: two of one name share nothing."""
    desk = clerk()
    finished(desk)

    theirs = desk.ask("GET", route, token=OTHER).json()

    assert theirs["jobs"] in ([], 0)


@pytest.mark.parametrize(
    "route", [*ROUTES, "/v1/campaigns/spring-launch", "/v1/campaigns/spring-launch/jobs"]
)
@pytest.mark.parametrize("token", [None, "wrong"])
def test_every_route_needs_a_token(route: str, token: str | None) -> None:
    desk = clerk()
    job_id = finished(desk)

    answer = desk.ask("GET", route.format(job=job_id), token=token)

    assert answer.status_code == 401
    assert job_id not in answer.text
