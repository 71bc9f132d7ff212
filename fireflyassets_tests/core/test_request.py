"""What a request may say. Here: every rule, red and green. Not here: files, writing."""

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.job import JobRequest
from fireflyassets.core.request import Problem, raw_request, validate
from fireflyassets_tests.front_door import ASPECTS, GOOD, config

CAMPAIGN = config()


def rules(**changes: object) -> list[tuple[str, str]]:
    told = validate(replace(GOOD, **changes), CAMPAIGN)
    assert not isinstance(told, JobRequest)
    return [(problem.field, problem.rule) for problem in told]


def test_a_good_request_passes_unchanged() -> None:
    """What is legal is sent on as it was written."""
    told = validate(GOOD, CAMPAIGN)

    assert isinstance(told, JobRequest)
    assert (told.prompt, told.headline, told.aspects) == (GOOD.prompt, GOOD.headline, ASPECTS)


@pytest.mark.parametrize(
    "text",
    [
        "Familie 👨‍👩‍👧‍👦 beim Picknick",
        "مساء الخير ☀️",
        "שלום עולם",
        "قُطفَ فجرًا",
        "Ein Glas: 50 % Frucht, »frisch«",
        "\u2067بيت\u2069 Acme",
        "-20 % today",
        "+50% more garden!",
    ],
)
def test_legal_letters_of_all_scripts_reach_the_job_unchanged(text: str) -> None:
    """Emoji, right-to-left text, isolates and signs are no reason to refuse."""
    told = validate(replace(GOOD, prompt=text, headline=text), CAMPAIGN)

    assert isinstance(told, JobRequest)
    assert (told.prompt, told.headline) == (text, text)


@pytest.mark.parametrize("field", ["prompt", "headline"])
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("\u200b\u200e\u00a0", "empty"),
        ("half \ud83d pair", "surrogate"),
        ("bell \u0007", "control"),
        ("nul \u0000", "control"),
        ("two\nlines", "control"),
        ("two\u2028lines", "control"),
        ("tab\tbed", "control"),
        ("next line \u0085", "control"),
        ("no character \ufffe", "noncharacter"),
        ("no character \U0001ffff", "noncharacter"),
        ("no character \ufdd0", "noncharacter"),
        ("שלום \u202e abc", "bidi"),
        ("abc \u202d abc", "bidi"),
        ("=cmd|'/c calc'!A0", "formula"),
        (" =1+1", "formula"),
        ("@SUM(A1)", "formula"),
        ("+cmd|'/c calc'!A0", "formula"),
        ("-HYPERLINK(A1)", "formula"),
    ],
)
def test_text_that_the_pipe_can_not_carry_is_refused_with_its_field(
    field: str, text: str, rule: str
) -> None:
    """Nothing fails late for its letters: the field and the rule are named at the door."""
    assert (field, rule) in rules(**{field: text})


@pytest.mark.parametrize(("field", "limit"), [("prompt", 1024), ("headline", 38)])
def test_lengths_are_counted_in_code_points(field: str, limit: int) -> None:
    """The last allowed length passes, one more does not, whatever the bytes are."""
    for letter in ("a", "ع", "🌿"):
        assert isinstance(validate(replace(GOOD, **{field: letter * limit}), CAMPAIGN), JobRequest)
        assert rules(**{field: letter * (limit + 1)}) == [(field, "length")]


def test_joined_emoji_count_each_code_point() -> None:
    """A family of four joined by ZWJ is seven code points, here as in the vendor's bound."""
    family = "👨‍👩‍👧‍👦"

    assert len(family) == 7
    assert isinstance(validate(replace(GOOD, headline=family * 5), CAMPAIGN), JobRequest)
    assert rules(headline=family * 6) == [("headline", "length")]


def test_composed_and_decomposed_forms_are_one_request() -> None:
    """NFC and NFD of one text have one digest, and each is sent on as it was written."""
    text = "Frühling für Café"
    composed, decomposed = (
        validate(replace(GOOD, prompt=unicodedata.normalize(form, text)), CAMPAIGN)
        for form in ("NFC", "NFD")
    )

    assert isinstance(composed, JobRequest)
    assert isinstance(decomposed, JobRequest)
    assert composed.prompt != decomposed.prompt
    assert composed.digest() == decomposed.digest()


@pytest.mark.parametrize(
    "key",
    ["", "a b", "a/b", "a,b", "a|b", "a...b", "[x]", '{"k":1}', "a\nb", "a\n", "é", "x" * 65],
)
def test_keys_that_name_no_job_are_refused(key: str) -> None:
    """A key is at most 64 of a few letters; what the partition page would split never gets in."""
    assert ("key", "key") in rules(key=key)


def test_keys_that_differ_in_case_are_two_jobs() -> None:
    """No two keys are merged."""
    upper, lower = (validate(replace(GOOD, key=key), CAMPAIGN) for key in ("KEY", "key"))

    assert isinstance(upper, JobRequest)
    assert isinstance(lower, JobRequest)
    assert upper.key != lower.key


def test_locale_and_aspects_must_be_the_campaigns() -> None:
    """Unknown ones are named, with those that are known."""
    assert rules(locale="fr-FR") == [("locale", "locale")]
    assert rules(locale="") == [("locale", "locale")]
    assert rules(aspects=()) == [("aspects", "empty")]
    assert rules(aspects=("1x1",)) == [("aspects", "aspect")]
    assert rules(aspects=("1080x1080", "1080x1080")) == [("aspects", "repeated")]


def test_all_problems_are_told_at_once() -> None:
    """Nobody mends a request one refusal at a time."""
    found = rules(key="", prompt=" ", headline="x" * 39, locale="xx", aspects=())

    assert found == [
        ("key", "key"),
        ("prompt", "empty"),
        ("headline", "length"),
        ("locale", "locale"),
        ("aspects", "empty"),
    ]


def test_order_of_aspects_makes_no_difference() -> None:
    """The same set asked in another order is the same request."""
    one, two = (
        validate(replace(GOOD, aspects=aspects), CAMPAIGN) for aspects in (ASPECTS, ASPECTS[::-1])
    )

    assert isinstance(one, JobRequest)
    assert isinstance(two, JobRequest)
    assert one.digest() == two.digest()


def test_digest_tells_every_field_apart() -> None:
    """Another text, locale or aspect under the same key is another request."""
    changes: list[dict[str, object]] = [
        {},
        {"prompt": "Another"},
        {"headline": "Another"},
        {"locale": "de-DE"},
        {"aspects": ASPECTS[:1]},
    ]
    told = [validate(replace(GOOD, **change), CAMPAIGN) for change in changes]

    assert len({each.digest() for each in told if isinstance(each, JobRequest)}) == len(changes)


def test_json_fields_of_a_wrong_type_are_problems() -> None:
    """Numbers, lists and unknown names are refused by name, and never turned into text."""
    told = raw_request({"idempotencyKey": 7, "prompt": ["a"], "aspects": "1x1", "colour": "red"})

    assert isinstance(told, tuple)
    assert {(problem.field, problem.rule) for problem in told} == {
        ("idempotencyKey", "type"),
        ("prompt", "type"),
        ("aspects", "type"),
        ("colour", "unknown"),
    }


def test_names_from_outside_are_shown_harmless() -> None:
    """A field's name may hold anything; what is shown of it fits every log and queue."""
    told = raw_request({"\ud83d\u0007" + "x" * 100: 1})

    assert isinstance(told, tuple)
    assert told[0].field.isascii()
    assert told[0].field.isprintable()
    assert len(told[0].field) <= 60


@given(text=st.text(alphabet=st.characters(codec=None), max_size=60))
def test_what_passes_can_be_carried(text: str) -> None:
    """Any text either becomes legal UTF-8 for queues and vendors, or has a problem with a fix."""
    told = validate(replace(GOOD, prompt=text), CAMPAIGN)
    if isinstance(told, JobRequest):
        told.prompt.encode()
        assert told.prompt == text
        assert not any(unicodedata.category(letter) == "Cc" for letter in text)
    else:
        assert all(isinstance(each, Problem) and each.fix and each.message for each in told)
        assert {each.field for each in told} == {"prompt"}
