"""Adding campaigns over HTTP: what is taken, and what each refusal says."""

from typing import cast

import pytest

from fireflyassets_tests.api.desk_clerk import CAMPAIGN, Clerk, clerk, token

AUTUMN: dict[str, object] = {"campaign": "autumn", "title": "Autumn launch"}


def added(who: Clerk, like: str | None = CAMPAIGN, **said: object) -> tuple[int, dict[str, object]]:
    """Ask for a campaign; return status and answer."""
    query = f"?like={like}" if like else ""
    answer = who.ask("POST", f"/v1/campaigns{query}", json=AUTUMN | said)
    return answer.status_code, answer.json()


def test_a_campaign_begins_from_another() -> None:
    """Recipe, templates, credential and all that is left out are the other's."""
    status, told = added(clerk(), budget="500", priority="high", deadline="2027-01-01T00:00:00Z")
    assert (status, told["campaignId"], told["title"]) == (201, "autumn", "Autumn launch")
    assert str(told["url"]).endswith("/v1/campaigns/autumn")
    assert len(str(told["version"])) == 12


def test_of_one_name_there_is_one() -> None:
    """The second is refused and told what to do."""
    who = clerk()
    assert added(who)[0] == 201
    status, told = added(who, title="Another")
    assert status == 409
    assert "already" in str(told)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"deadline": "2020-01-01T00:00:00Z"}, "in the past"),
        ({"deadline": "2027-01-01T00:00:00"}, "deadline"),
        ({"budget": "0"}, "budget"),
        ({"budget": 0}, "greater than 0"),
        ({"campaign": "Not A Slug"}, "campaign"),
        ({"aspects": ["1x1"]}, "templates"),
        ({"priority": "urgent"}, "priority"),
        ({"colour": "red"}, "colour"),
        ({"locales": []}, "locales"),
    ],
)
def test_a_bad_field_is_named(said: dict[str, object], words: str) -> None:
    """Deadline in the past, budget of zero and the like: the field, what is wrong, what to do."""
    status, told = added(clerk(), **said)
    assert status == 422
    assert words in str(told["problems"])


def test_without_another_campaign_each_missing_field_is_named() -> None:
    """And that one may be named to take them over from."""
    status, told = added(clerk(), like=None)
    problems = cast("list[dict[str, str]]", told["problems"])

    assert status == 422
    assert {"credential", "recipe", "locales", "aspects"} <= {one["field"] for one in problems}
    assert {one["rule"] for one in problems} == {"missing"}
    assert all("like" in one["fix"] for one in problems)


def test_the_customer_is_the_token_s() -> None:
    """Whatever the body says of it; another tenant's campaign is none to begin from."""
    who = clerk()
    assert added(who, customer="bolt")[0] == 201
    assert added(who, like="none")[0] == 422


def test_adding_wants_the_scope_of_operators() -> None:
    """Who may send jobs may not spend under another budget for it."""
    bearer = token(scope="jobs:write jobs:read")
    answer = clerk().ask("POST", "/v1/campaigns", json=AUTUMN, token=bearer)
    assert answer.status_code == 403
