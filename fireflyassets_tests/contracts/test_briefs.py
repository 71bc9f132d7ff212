"""What every ledger promises of briefs in mid-writing. Not here: who finishes them."""

from dataclasses import replace

from fireflyassets.ports.briefs import BegunBrief
from fireflyassets_tests.contracts.ledgers import ACME, MINUTE, NOON, World

BRIEF = BegunBrief("word", ACME, "spring", "v1", "card-1", "manifests/a.jsonl", NOON, partial=False)


def test_a_begun_brief_is_found_until_it_is_ended(ledger_world: World) -> None:
    """The oldest first, within the bound; the same again is one, and its end may be repeated."""
    ledger = ledger_world.ledger
    later = replace(
        BRIEF, word="later", manifest="manifests/b.jsonl", made_at=NOON + MINUTE, partial=True
    )
    for brief in (later, BRIEF, BRIEF):
        ledger.begin_brief(brief)

    assert ledger.begun_briefs(before=NOON + 2 * MINUTE, most=9) == [BRIEF, later]
    assert ledger.begun_briefs(before=NOON + 2 * MINUTE, most=1) == [BRIEF]
    assert ledger.begun_briefs(before=NOON, most=9) == []
    for _ in range(2):
        ledger.end_brief(BRIEF)
    assert ledger.begun_briefs(before=NOON + 2 * MINUTE, most=9) == [later]


def test_a_writer_ends_no_word_but_its_own(ledger_world: World) -> None:
    """The same brief sent twice at once has one manifest: one's end leaves the other's word."""
    ledger = ledger_world.ledger
    other = replace(BRIEF, word="other")
    ledger.begin_brief(BRIEF)
    ledger.begin_brief(other)

    ledger.end_brief(other)

    assert ledger.begun_briefs(before=NOON + MINUTE, most=9) == [BRIEF]


def test_a_ledger_that_answers_is_ready(ledger_world: World) -> None:
    """The question moves nothing."""
    ledger_world.ledger.ready()

    assert ledger_world.ledger.lines() == set()


def test_a_begun_brief_is_no_reservation(ledger_world: World) -> None:
    """What lapses are blocks alone."""
    ledger_world.ledger.begin_brief(BRIEF)

    assert ledger_world.ledger.lapsed(before=NOON + MINUTE, most=9) == []
