"""Names of files: a campaign's template, legal whatever goes in, and ids that stay."""

import pytest
from pydantic import TypeAdapter, ValidationError

from fireflyassets.core.naming import NAMING, Naming, creative_id, file_name

TEMPLATES: TypeAdapter[str] = TypeAdapter(Naming)
JOB = "0a0b0c0d-1111-5111-8111-111111111111"


def named(template: str) -> str:
    return file_name(
        template,
        campaign="spring-launch",
        concept="terrace_01",
        locale="zh-Hant-TW",
        aspect="1080x1920",
        creative="0123456789ab",
    )


def test_a_name_holds_what_its_template_names() -> None:
    assert named(NAMING) == "spring-launch_terrace_01_zh-Hant-TW_1080x1920_0123456789ab"
    assert named("ACME-{creative_id}") == "ACME-0123456789ab"


@pytest.mark.parametrize("template", [NAMING, "{creative_id}", "x{creative_id}-{locale}_9"])
def test_templates_that_can_be_used(template: str) -> None:
    assert TEMPLATES.validate_python(template) == template


@pytest.mark.parametrize(
    "template",
    [
        "",
        "{campaign}",
        "{creative_id}/{locale}",
        "../{creative_id}",
        "{creative_id}.jpg",
        "{creative_id!r}",
        "{creative_id.__class__}",
        "{creative_id:>99}",
        "{prompt}{creative_id}",
        "{creative_id}{",
        "é{creative_id}",
        "{creative_id} ",
        "{creative_id}\n",
        "x" * 80 + "{creative_id}",
    ],
)
def test_templates_that_can_not(template: str) -> None:
    """No folder, no attribute, no field without a value, no name that two files could have."""
    with pytest.raises(ValidationError):
        TEMPLATES.validate_python(template)


def test_ids_stay_and_differ() -> None:
    """A creative keeps its id for ever; another aspect, job or generation is another creative."""
    one = creative_id(JOB, "1080x1920", 1)

    assert one == "5d0c7f9f92a9"
    others = [creative_id(JOB, "1080x1080", 1), creative_id(JOB, "1080x1920", 2)]
    assert len({one, *others, creative_id(JOB[::-1], "1080x1920", 1)}) == 4
