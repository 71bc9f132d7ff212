"""Files of recorded actions of a project folder. Here: pinned, changed, and not to be played."""

from pathlib import Path

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.core.errors import TemplateChanged
from fireflyassets_tests.adapters.project_folder import RATES, ProjectFolder

ACME = "campaigns/acme/spring-launch/campaign.yaml"
ACTIONS = "campaigns/acme/spring-launch/grade.atn"
_LAYOUT = (
    "    - {name: layout, kind: compose, inputs: {Hero: art.picture, Headline: job.headline}}\n"
)
_GRADED = """\
    - name: graded
      kind: execute-actions
      picture: layout.picture
      actions: [{file: FILE}]
"""


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    """Return a sound project."""
    return ProjectFolder(tmp_path)


def play(project: ProjectFolder, file: str = "grade.atn") -> None:
    """Let the campaign play a file of actions on its composites, at a price."""
    project.write("rates/test.yaml", (RATES + 'edits: {execute-actions: "1"}\n').encode())
    project.replace(ACME, _LAYOUT, _LAYOUT + _GRADED.replace("FILE", file))


def test_a_file_of_actions_is_pinned_with_its_campaign(project: ProjectFolder) -> None:
    """Its bytes are handed out while they are the pinned ones; a changed file is a new version."""
    play(project)
    project.write(ACTIONS, b"one")
    catalogue = FileCatalogue(project.root)
    campaign = catalogue.campaign("acme", "spring-launch")
    assert catalogue.template(campaign, "grade.atn") == b"one"

    project.write(ACTIONS, b"two")
    with pytest.raises(TemplateChanged):
        catalogue.template(campaign, "grade.atn")
    newer = FileCatalogue(project.root).campaign("acme", "spring-launch")
    assert newer.version != campaign.version


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("grade.atn", None, "There is no file grade.atn"),
        ("grade.atn", b"", "grade.atn is empty"),
        ("../../bolt/grade.atn", b"x", "outside of the customer's folder"),
    ],
)
def test_a_file_of_actions_that_can_not_be_played_is_found(
    project: ProjectFolder, file: str, content: bytes | None, told: str
) -> None:
    """Missing, empty, or another customer's: said when the campaign is read."""
    play(project, file)
    if content is not None:
        project.write(ACTIONS, content)

    (bad,) = FileCatalogue(project.root).quarantined()
    assert bad.path == ACME
    assert told in bad.reason
