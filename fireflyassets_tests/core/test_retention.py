"""Lifecycle rules: each object meets what it should, and a held one meets none, whatever it is."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core import retention
from fireflyassets.core.campaign import Retention
from fireflyassets.core.ids import FOLDERS, INBOX
from fireflyassets.core.retention import RULES, held, meeting, released

KEY = "acme/spring/job/24x24/a.jpg"
TAGS = st.dictionaries(
    st.sampled_from(["retention", "legal-hold", "Legal-Hold", "customer", "human-reviewed"]),
    st.sampled_from(["standard", "audit", "true", "True", "false", "", "held-audit", "approved"]),
)


def expires_after(key: str, tags: dict[str, str]) -> list[int]:
    return [rule.expire_days for rule in meeting(key, tags) if rule.expire_days]


@given(TAGS, st.sampled_from(FOLDERS))
def test_no_rule_ever_meets_a_held_file(tags: dict[str, str], folder: str) -> None:
    """Whatever its tags were before, and whichever folder it was moved to."""
    assert meeting(f"{folder}{KEY}", held(tags)) == []
    assert retention.is_ours(held(tags))


@given(TAGS)
def test_a_release_gives_the_class_back(tags: dict[str, str]) -> None:
    """Holding twice is holding once, and what had no class has none: it is kept, not deleted."""
    assert released(held(tags)) == released(tags)
    assert held(held(tags)) == held(tags)
    assert ("retention" in released(held(tags))) == bool(released(tags).get("retention"))


def test_files_expire_by_a_positive_class_alone() -> None:
    """Standard ones after a year; audited ones, and those without a tag, never."""
    assert expires_after(KEY, {"retention": "standard"}) == [365]
    assert expires_after(KEY, {"retention": "audit"}) == []
    assert expires_after(KEY, {}) == []
    assert expires_after("_tmp/x", {}) == [1]
    assert expires_after(f"{INBOX}acme/x.json", {}) == [30]


def test_each_class_of_a_campaign_has_one_rule() -> None:
    """A class without a rule would be a promise that nobody keeps."""
    assert sorted(one.retention for one in RULES if one.retention) == sorted(Retention)


def test_prefixes_of_rules_hold_no_delivered_file() -> None:
    """A rule by prefix would take held files along, and no customer is called so."""
    prefixes = [rule.prefix for rule in RULES if rule.prefix]
    for folder, prefix in product(FOLDERS, prefixes):
        assert not f"{folder}{KEY}".startswith(prefix)
    assert prefixes == ["_tmp/", INBOX]
    assert all(rule.prefix or rule.retention for rule in RULES)


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ({"legal-hold": "true"}, True),
        ({"Legal-Hold": "True"}, True),
        ({"LEGAL-HOLD": "matter 7"}, True),
        ({"legal-hold": "false"}, False),
        ({"legal-hold": ""}, False),
        ({"retention": "standard"}, False),
        (held({"retention": "standard"}), False),
    ],
)
def test_holds_by_others_are_seen(tags: dict[str, str], *, said: bool) -> None:
    """In any case and with any word but a no; ours are not taken for theirs."""
    assert retention.is_others(tags) is said
