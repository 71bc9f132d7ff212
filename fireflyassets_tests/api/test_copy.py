"""Headlines that the sample's own documents can't hold, refused at each door before any cost."""

import json
from functools import cache

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.stages.queue import Drained, drain
from fireflyassets_tests.adapters.project_folder import REPOSITORY
from fireflyassets_tests.api.desk_clerk import CAMPAIGN, CUSTOMER, JOB, PUBLIC, Clerk, clerk

WIDE = "W" * 38
"""As many letters as the campaign allows, in one word twice as wide as any of its boxes."""


@cache
def catalogue() -> FileCatalogue:
    return FileCatalogue(REPOSITORY)


def door() -> Clerk:
    return clerk(catalogue())


def body(**changes: object) -> dict[str, object]:
    return JOB | changes


@pytest.mark.parametrize(
    ("headline", "rule", "told"),
    [
        ("春天 Spring 🌸", "glyphs", "draws '春' (U+6625), '天' (U+5929), '🌸' (U+1F338)"),
        ("漢", "glyphs", "'Headline' of 1920x1080, 'Headline' of 1080x1920"),
        (WIDE, "width", "a word of 38 letters is 3222 px wide, and a line 876 px"),
    ],
)
def test_a_headline_that_can_not_be_made_is_refused_at_once(
    headline: str, rule: str, told: str
) -> None:
    """Column, rule, what exactly and a cure; nothing is written, so nothing can be paid."""
    desk = door()

    answer = desk.post(headline=headline)

    assert answer.status_code == 422
    problems = answer.json()["problems"]
    assert {(one["field"], one["rule"]) for one in problems} == {("headline", rule)}
    assert told in " ".join(one["message"] for one in problems)
    assert all(one["fix"] for one in problems)
    assert desk.door.ledger.campaign_jobs(CUSTOMER, CAMPAIGN) == []


def test_only_the_aspects_that_are_asked_for_are_judged() -> None:
    """Three lines find room in the wide document and not in the square one."""
    desk = door()
    headline = "MWMW MWMWMW MWMWMWM MWMWMW"

    wide = desk.post(headline=headline, aspects=["1920x1080"], idempotencyKey="wide")
    both = desk.post(headline=headline, aspects=["1920x1080", "1080x1080"], idempotencyKey="both")

    assert (wide.status_code, both.status_code) == (202, 422)
    (problem,) = both.json()["problems"]
    assert problem == {
        "field": "headline",
        "rule": "lines",
        "message": "headline can't be set in 'Headline' of 1080x1080: "
        "it takes 3 lines of 936 px, and 2 fit.",
        "fix": "Shorten it by about 7 letters.",
        "doc": f"{PUBLIC}/problems#lines",
    }


def test_a_brief_names_the_row_and_goes_on_without_it() -> None:
    """The same fault in a CSV has its row; with `partial` the good rows are taken."""
    desk = door()
    rows = [
        "key,prompt,locale,headline,aspects",
        "k1,A glass,en-GB,Spring,1080x1080",
        "k2,A glass,ar-AE,春,1080x1080|1920x1080",
        f"k3,A glass,de-DE,{WIDE},1080x1080",
    ]
    answer = desk.ask(
        "POST",
        f"/v1/jobs:batch?campaign={CAMPAIGN}&partial=true",
        content="\n".join(rows).encode(),
        headers={"Content-Type": "text/csv"},
    )

    assert answer.status_code == 202
    told = answer.json()
    assert told["accepted"] == 1
    assert [(one["row"], one["field"], one["rule"]) for one in told["problems"]] == [
        (3, "headline", "glyphs"),
        (4, "headline", "width"),
    ]


def test_a_message_is_put_aside_with_the_same_words() -> None:
    """Who reads the dead letters reads what the API would have said."""
    desk = door()
    said = {"version": 1, "customer": CUSTOMER} | body(headline="Spring 花")
    desk.door.queue.send([json.dumps(said)])

    assert drain(desk.door.queue, desk.door.intake, most=10) == Drained(quarantined=1)
    reason = str(desk.door.queue.dead[0].reason)
    assert reason.startswith("headline (glyphs): headline can't be set in 'Headline' of")
    assert "no font of it draws '花' (U+82B1). Write it without them" in reason
    assert "Spring" not in reason


def test_copy_is_judged_beside_the_other_fields() -> None:
    """All that is wrong is told at once: a second round costs the customer a day."""
    answer = door().post(headline="花", prompt="", aspects=["1080x1080", "1x1"])

    assert [(one["field"], one["rule"]) for one in answer.json()["problems"]] == [
        ("prompt", "empty"),
        ("aspects", "aspect"),
        ("headline", "glyphs"),
    ]
    assert answer.json()["problems"][-1]["message"].count("1080x1080") == 1


def test_a_field_that_is_wrong_already_is_not_told_twice() -> None:
    """Too long is too long; how wide it would be helps nobody."""
    answer = door().post(headline="W" * 39)

    assert [one["rule"] for one in answer.json()["problems"]] == ["length"]
