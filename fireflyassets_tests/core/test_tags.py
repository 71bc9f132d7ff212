"""Tags in S3's legal form: stable, and never two texts as one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.disclosure import SourceType
from fireflyassets.core.origin import Origin
from fireflyassets.core.status import HumanReview
from fireflyassets.core.tags import TAG_LIMIT, VALUE_LIMIT, legal_value, rendition_tags
from fireflyassets_tests.contracts.ledgers import job
from fireflyassets_tests.front_door import config

LEGAL = re.compile(r"[A-Za-z0-9_ .:/=+\-@]{1,256}")


@pytest.mark.parametrize("text", ["spring-launch", "Spring 2027", "a/b:c=d+e@f.g_h"])
def test_legal_texts_stay_as_they_are(text: str) -> None:
    """What S3 takes is not touched."""
    assert legal_value(text) == text


@pytest.mark.parametrize(
    "text", ["Spring (EU)", "Été \u2013 50% off!", "🌱", "x" * 257, "trailing ", "", "\ud83d", "١٢"]
)
def test_illegal_texts_become_legal(text: str) -> None:
    """Brackets, percent signs, emoji, length, blanks at the end: nothing is lost by a bad tag."""
    assert LEGAL.fullmatch(legal_value(text))


@given(st.text(max_size=300), st.text(max_size=300))
def test_two_texts_stay_two(one: str, other: str) -> None:
    """Two campaigns never collapse to one tag unseen, and one text always gives one value."""
    assert legal_value(one) == legal_value(one)
    assert LEGAL.fullmatch(legal_value(one))
    assert len(legal_value(one)) <= VALUE_LIMIT
    if one != other:
        assert legal_value(one) != legal_value(other)


def test_a_rendition_has_its_whole_set() -> None:
    """Five tags of ours leave room below S3's limit of ten."""
    row = job(human_reviewed=HumanReview.PENDING)
    tags = rendition_tags(config(), row, Origin("image3", None, SourceType.COMPOSITE, ()))
    assert tags == {
        "customer": "acme",
        "campaign": "spring-launch",
        "generated-by": "firefly-v3-base",
        "human-reviewed": "pending",
        "retention": "standard",
    }
    alone = rendition_tags(config(), row, Origin(None, None, None, ()))
    assert alone["generated-by"] == "composed-only"


def test_a_custom_model_is_tagged_in_a_legal_form() -> None:
    """Its id may hold what S3 refuses; even then the set stays within S3's limits."""
    origin = Origin("image3_custom", "urn:aaid:sc:EU:{1}" + "x" * 240, SourceType.GENERATED, ())
    tags = rendition_tags(config(), job(), origin)

    assert tags["generated-by"] == "firefly-v3-custom"
    assert tags["model-id"] == legal_value(origin.custom_model or "") != origin.custom_model
    assert len(tags) <= TAG_LIMIT
    assert all(LEGAL.fullmatch(value) for value in tags.values())
