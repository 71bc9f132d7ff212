"""The guardrail in front of the queue. Here: what it lets through, rewrites and declines."""

from dataclasses import replace

import pytest

from fireflyassets.adapters.word_lists import WordList, WordLists, WordRule
from fireflyassets.core import manifest
from fireflyassets.core.job import Rewritten
from fireflyassets.core.request import PROMPT_LIMIT
from fireflyassets.ports.entries import Conflict, Duplicate, Recorded
from fireflyassets.stages.intake import Answer, Invalid
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    FixedCatalogue,
    FrontDoor,
    asked,
    config,
    front_door,
    stored_manifest,
)

BRAND = WordRule(rule="brands", fix="Leave the brand out.", words=("Acme  Cola",))
MILD = WordRule(rule="spirits", fix="Name no spirits.", words=("gin",), replace_with="cordial")


def door_with(*rules: WordRule) -> FrontDoor:
    return front_door(guardrail=WordLists([WordList(rules=rules)]))


def accept(door: FrontDoor, *prompts: str, partial: bool = False) -> list[Answer]:
    rows = [asked(n + 2, key=f"k{n}", prompt=prompt) for n, prompt in enumerate(prompts)]
    return door.intake.accept(rows, customer=CUSTOMER, campaign=CAMPAIGN, partial=partial)


def test_a_declined_prompt_is_told_with_word_rule_fix_and_row() -> None:
    """Nothing of it is written, and good rows beside it are accepted where that was asked."""
    door = door_with(BRAND)

    bad, good = accept(door, "A can of ACME  cola", "A glass", partial=True)

    assert isinstance(bad, Invalid)
    assert [(p.row, p.field, p.rule, p.fix) for p in bad.problems] == [
        (2, "prompt", "brands", "Leave the brand out.")
    ]
    assert bad.problems[0].message == "The prompt says 'ACME cola', which it must not say."
    assert isinstance(good, Recorded)
    assert len(door.ledger.outbox) == 1


def test_a_rewritten_prompt_is_kept_beside_the_original() -> None:
    """The paid call says the new one; the key's hash is that of the old one."""
    door = door_with(MILD)

    (told,) = accept(door, "A glass of Gin on a meadow")

    assert isinstance(told, Recorded)
    content = stored_manifest(door, told.row)
    assert content is not None
    request = manifest.load(content)
    assert request.prompt == "A glass of Gin on a meadow"
    assert request.rewritten == Rewritten("A glass of cordial on a meadow", "spirits")
    assert request.text("prompt") == "A glass of cordial on a meadow"
    assert told.row.body_hash == replace(request, rewritten=None).digest()


def test_a_repeat_is_the_same_job_whatever_the_lists_say_by_now() -> None:
    """What was accepted stays accepted; the key still stands for its own words alone."""
    door = front_door()
    (first,) = accept(door, "A glass of gin")
    strict = replace(
        door.intake, guardrail=WordLists([WordList(rules=(replace_with_nothing(MILD),))])
    )

    repeat = strict.accept(
        [asked(key="k0", prompt="A glass of gin")], customer=CUSTOMER, campaign=CAMPAIGN
    )
    other = strict.accept(
        [asked(key="k0", prompt="A glass of cordial")], customer=CUSTOMER, campaign=CAMPAIGN
    )

    assert isinstance(first, Recorded)
    assert isinstance(repeat[0], Duplicate)
    assert isinstance(other[0], Conflict)


def replace_with_nothing(rule: WordRule) -> WordRule:
    return rule.model_copy(update={"replace_with": None})


@pytest.mark.parametrize(
    ("rewriting", "rule"), [("x" * 90, "length"), ("", "empty"), ("a\u0007", "control")]
)
def test_a_rewriting_that_makes_a_bad_prompt_is_told_to_its_writer(
    rewriting: str, rule: str
) -> None:
    """No job fails late for what a list made of it."""
    door = door_with(MILD.model_copy(update={"replace_with": rewriting}))
    prompt = "gin" if rule == "empty" else "gin " + "y" * (PROMPT_LIMIT - 4)

    (told,) = accept(door, prompt)

    assert isinstance(told, Invalid)
    assert rule in [problem.rule for problem in told.problems]
    assert all("spirits" in problem.message for problem in told.problems)


def test_rules_are_for_their_customers_and_locales() -> None:
    """One customer's words stop nobody else."""
    door = front_door(
        FixedCatalogue(config(), config(customer="bolt")),
        guardrail=WordLists(
            [
                WordList(
                    rules=(
                        BRAND.model_copy(update={"customers": frozenset({"bolt"})}),
                        MILD.model_copy(update={"locales": frozenset({"de-DE"})}),
                    )
                )
            ]
        ),
    )

    (told,) = accept(door, "Acme Cola with gin")

    assert isinstance(told, Recorded)
    assert told.row.customer_id == CUSTOMER


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("acme\u00a0cola", True),
        ("(Acme Cola)", True),
        ("Acme Colada", False),
        ("pacme cola", False),
        ("Acme-Cola", False),
    ],
)
def test_words_are_found_as_a_whole(prompt: str, found: bool) -> None:  # noqa: FBT001 - a table.
    """A word inside another one is another word."""
    told = WordLists([WordList(rules=(BRAND,))]).judge(
        prompt, customer=CUSTOMER, campaign=CAMPAIGN, locale="en-GB"
    )

    assert (type(told).__name__ == "Declined") is found


def test_empty_lists_allow_everything() -> None:
    """A file that is there and says nothing yet stops nobody."""
    door = door_with(BRAND.model_copy(update={"words": ("", " ")}))

    assert isinstance(accept(door, "Acme Cola")[0], Recorded)


@pytest.mark.parametrize(
    "prompt",
    [
        "A glass of gins",
        "The gin's glass",
        "A glass of \u0261in, g\u0456n",  # A Cyrillic i.
        "A glass of g\u03b9n",  # A Greek iota.
        "A glass of \uff27\uff29\uff2e",  # Wide letters.
        "A glass of g\u00adi\u200bn",  # A soft hyphen and a space of no width.
    ],
)
def test_a_word_is_found_as_an_eye_reads_it(prompt: str) -> None:
    """Look-alike letters, invisible ones and plain endings hide nothing."""
    door = door_with(replace_with_nothing(MILD))

    (told,) = accept(door, prompt)

    assert isinstance(told, Invalid)


@pytest.mark.parametrize("prompt", ["ginger", "A virgin forest", "engines", "A ginkgo"])
def test_other_words_are_other_words(prompt: str) -> None:
    """A word within a word is none."""
    (told,) = accept(door_with(replace_with_nothing(MILD)), prompt)

    assert isinstance(told, Recorded)


def test_a_rewritten_prompt_keeps_all_else_as_it_was_typed() -> None:
    """Folding finds the word; what is sent is what was written, but for that word."""
    door = door_with(MILD)

    (told,) = accept(door, "GINS \ufb01rst, then g\u0456n, \uff21 ACME")

    assert isinstance(told, Recorded)
    request = manifest.load(stored_manifest(door, told.row) or b"")
    assert request.text("prompt") == "cordial \ufb01rst, then cordial, \uff21 ACME"


def test_an_exact_word_leaves_its_plural_alone() -> None:
    """Where a rule says so."""
    exact = replace_with_nothing(MILD).model_copy(update={"exact": True})

    bad, good = accept(door_with(exact), "A gin", "Two gins", partial=True)

    assert isinstance(bad, Invalid)
    assert isinstance(good, Recorded)


@pytest.mark.parametrize("rule", [BRAND, MILD])
def test_a_headline_is_judged_and_never_rewritten(rule: WordRule) -> None:
    """Customers read it as it was sent, or not at all."""
    door = door_with(rule)

    (told,) = door.intake.accept(
        [asked(7, headline="Acme Cola and gin")], customer=CUSTOMER, campaign=CAMPAIGN
    )

    assert isinstance(told, Invalid)
    (problem,) = told.problems
    assert (problem.row, problem.field, problem.rule) == (7, "headline", rule.rule)


@pytest.mark.parametrize(
    ("word", "text", "locale", "found"),
    [
        ("rak\u0131", "RAKI VE MEZE", "tr-TR", True),
        ("tik", "Bir t\u0131k uzakta", "tr-TR", False),  # A tic, and a click.
        ("tik", "TIK", "tr-TR", True),
        ("istanbul", "İSTANBUL", "tr-TR", True),
        ("gin", "A g\u0131n", "en-GB", True),
        ("रम", "रम", "hi-IN", True),
        ("रम", "रमा की सैर", "hi-IN", False),  # Rum, and a name that begins like it.
        ("रम", "कीरम", "hi-IN", False),
        ("pot", "Открой рот", "ru-RU", False),  # A mouth.
        ("pot", "Открой p\u043et", "ru-RU", True),  # With a Cyrillic o.
        ("pot", "A рот", "en-GB", True),
        ("ром", "Белый ром", "ru-RU", True),
        ("pot", "pot", "sr-Latn-RS", True),
        ("spaß", "SPASS", "de-DE", True),
    ],
)
def test_words_are_those_of_their_language(
    word: str,
    text: str,
    locale: str,
    found: bool,  # noqa: FBT001 - a table.
) -> None:
    """Turkish capitals, vowel signs, and whole words of another script are read as written."""
    rule = WordRule(rule="words", fix="Leave it out.", words=(word,))
    told = WordLists([WordList(rules=(rule,))]).judge(
        text, customer=CUSTOMER, campaign=CAMPAIGN, locale=locale
    )

    assert (type(told).__name__ == "Declined") is found
