"""The `campaign` commands. Here: words, exit codes, and that the groups are found."""

import json
import shutil
from pathlib import Path

import pytest

from fireflyassets.cli import main as cli
from fireflyassets.cli.main import main
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets_tests.adapters.project_folder import DEMO, ProjectFolder
from fireflyassets_tests.twin import retouch


def test_a_sound_project_checks_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every campaign is named with its version; exit code 0."""
    ProjectFolder(tmp_path)

    code = main(["campaign", "check", "--project", str(tmp_path)])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert [line.split()[:2] for line in lines] == [
        ["usable", "acme/spring-launch"],
        ["usable", "bolt/relaunch"],
    ]


def test_a_bad_file_is_named_and_the_exit_code_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipeline that runs the check stops."""
    project = ProjectFolder(tmp_path)
    project.write("campaigns/acme/spring-launch/1080x1080.psd", b"hello")

    code = main(["campaign", "check", "--project", str(tmp_path)])

    out = capsys.readouterr().out
    assert code == 1
    assert "quarantined  campaigns/acme/spring-launch/campaign.yaml: " in out
    assert "usable       bolt/relaunch" in out


@pytest.mark.parametrize(
    ("mended", "fault"),
    [
        (("title:", "headline:"), "line 3: headline: is not a known field"),
        (("title:", "deadline: 2020-01-01T00:00:00Z\ntitle:"), "is in the past; give one still"),
        (("title:", "budget: 0\ntitle:"), "line 3: budget: Input should be greater than 0"),
        (("campaign: spring-launch", "campaign: relaunch\ncustomer: bolt"), "a key that stands"),
        (("campaign: spring-launch", "campaign: spring-launch"), "Choose another name"),
        (("title:", "x: &a [1]\ny: [" + "*a," * 20 + "]\ntitle:"), "anchors and aliases"),
    ],
)
def test_a_file_that_can_not_be_added_is_named_with_one_advice(
    mended: tuple[str, str], fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong, in which file; the general advice to mend what is named is left out."""
    ProjectFolder(tmp_path / "project")
    file = tmp_path / "new" / "campaign.yaml"
    shutil.copytree(tmp_path / "project/campaigns/acme/spring-launch", file.parent)
    text = file.read_text(encoding="utf-8")
    assert mended[0] in text
    file.write_text(text.replace(*mended, 1), encoding="utf-8")

    code = main(["campaign", "add", str(file), "--project", str(tmp_path / "project")])

    told = capsys.readouterr().err
    assert code == 1
    assert told.startswith(f"{file}: ")
    assert fault in told
    assert UnusableConfiguration.remedy not in told


def test_a_project_without_prices_is_not_ready(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No estimate could be made, so no job would be taken in."""
    project = ProjectFolder(tmp_path)
    shutil.rmtree(project.root / "rates")

    assert main(["campaign", "check", "--project", str(tmp_path)]) == 1
    assert "missing      rates/: without a rate card no job is accepted" in capsys.readouterr().out


def test_one_campaign_can_be_checked_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another one's faults do not count; one that is not there does."""
    project = ProjectFolder(tmp_path)
    project.write("campaigns/acme/spring-launch/1080x1080.psd", b"hello")
    here = ["--project", str(tmp_path)]

    codes = [
        main(["campaign", "check", name, *here])
        for name in ("bolt/relaunch", "acme/spring-launch", "acme/nothing")
    ]

    told = capsys.readouterr()
    assert codes == [0, 1, 1]
    assert "no campaign 'acme/nothing'" in told.err


def test_the_list_shows_usable_campaigns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ProjectFolder(tmp_path)

    assert main(["campaign", "list", "--project", str(tmp_path)]) == 0
    assert "en-GB, de-DE; 1920x1080, 1080x1920, 1080x1080" in capsys.readouterr().out


ACME = "campaigns/acme/spring-launch"


def test_locked_documents_may_not_drift(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After a lock a changed document is refused with a diff, until it is released anew."""
    project = ProjectFolder(tmp_path)
    here = ["acme/spring-launch", "--project", str(tmp_path)]
    assert main(["campaign", "lock", *here]) == 0
    assert main(["campaign", "check", *here]) == 0
    document = tmp_path / ACME / "1080x1080.psd"
    moved = retouch.moved_slot(document.read_bytes(), "Hero", right=-40)
    project.write(f"{ACME}/1080x1080.psd", moved)
    capsys.readouterr()

    codes = [main(["campaign", *command, *here]) for command in (["check"], ["lock"], ["check"])]

    out = capsys.readouterr().out
    assert codes == [1, 0, 0]
    assert "1080x1080: layer 'Hero' (id 3) stood at" in out
    assert "released  template.lock.json: 1080x1080: layer 'Hero'" in out


def test_lock_holds_a_campaign_to_its_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A designer's budget for a locale, written into the lock, binds the campaign's file."""
    project = ProjectFolder(tmp_path)
    here = ["acme/spring-launch", "--project", str(tmp_path)]
    main(["campaign", "lock", *here])
    path = tmp_path / ACME / "template.lock.json"
    lock = json.loads(path.read_text())
    layers = lock["documents"]["1080x1080"]["layers"]
    (headline,) = [layer for layer in layers if layer["name"] == "Headline"]
    headline["texts"]["de-DE"]["budget"] = 20
    project.write(f"{ACME}/template.lock.json", json.dumps(lock))

    assert main(["campaign", "check", *here]) == 1
    assert "takes 20 letters in de-DE, and headline_limit allows 38" in capsys.readouterr().out
    project.replace(f"{ACME}/campaign.yaml", "recipe:", "headline_limit: 20\nrecipe:")
    assert main(["campaign", "check", *here]) == 0
    assert main(["campaign", "lock", *here]) == 0
    assert '"budget": 20' in path.read_text()


def with_fonts(project: ProjectFolder, *names: str) -> None:
    """Name fonts in the campaign's file, and put those of the sample beside it."""
    for path in (DEMO / "fonts").glob("*.ttf"):
        project.write(f"{ACME}/fonts/{path.name}", path.read_bytes())
    project.replace(
        f"{ACME}/campaign.yaml",
        "recipe:",
        f"fonts: [{', '.join(f'fonts/{name}' for name in names)}]\nrecipe:",
    )


def test_lock_holds_the_fonts_and_what_they_draw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another file of the same name is drift, as another document is."""
    project = ProjectFolder(tmp_path)
    here = ["acme/spring-launch", "--project", str(tmp_path)]
    with_fonts(project, "Fraunces-SemiBold.ttf")
    assert main(["campaign", "lock", *here]) == 0
    locked = json.loads((tmp_path / ACME / "template.lock.json").read_text())
    assert list(locked["fonts"]) == ["Fraunces-SemiBold"]
    assert locked["fonts"]["Fraunces-SemiBold"]["glyphs"].startswith("20-7E ")
    assert main(["campaign", "check", *here]) == 0

    font = tmp_path / ACME / "fonts" / "Fraunces-SemiBold.ttf"
    font.write_bytes(font.read_bytes() + b"\0")

    assert main(["campaign", "check", *here]) == 1
    assert "the file of font Fraunces-SemiBold has changed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("None.ttf", None, "line 11: fonts: fonts/None.ttf: There is no file None.ttf"),
        ("Bad.ttf", b"hello", "line 11: fonts: fonts/Bad.ttf: It is no TrueType"),
        ("../../../bolt/x.ttf", None, "is outside of the customer's folder"),
    ],
)
def test_a_font_that_can_not_be_read_is_named(
    name: str,
    content: bytes | None,
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the line that names it; without it nothing could be measured."""
    project = ProjectFolder(tmp_path)
    with_fonts(project, name)
    if content is not None:
        project.write(f"{ACME}/fonts/{name}", content)

    assert main(["campaign", "check", "acme/spring-launch", "--project", str(tmp_path)]) == 1
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("  1080x1920: 1080x1920.psd\n", "", "line 7: templates: no PSD for 1080x1920"),
        ("1080x1920.psd", "gone.psd", "line 9: templates.1080x1920: There is no file gone.psd"),
    ],
)
def test_a_missing_template_is_told_with_its_line(
    old: str, new: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line where it should be named, or is: not the first one of the file."""
    project = ProjectFolder(tmp_path)
    project.replace(f"{ACME}/campaign.yaml", old, new)

    assert main(["campaign", "check", "--project", str(tmp_path)]) == 1
    assert f"campaign.yaml: {told}" in capsys.readouterr().out


def test_a_broken_lock_is_no_lock(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lock that can't be read refuses the campaign instead of letting everything pass."""
    project = ProjectFolder(tmp_path)
    project.write(f"{ACME}/template.lock.json", "{}")
    here = ["--project", str(tmp_path)]

    assert main(["campaign", "check", *here]) == 1
    assert "template.lock.json: 1 faults" in capsys.readouterr().out
    assert main(["campaign", "lock", "acme/nothing", *here]) == 1


def test_a_folder_that_is_no_project_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A typing mistake in a path must not look like a sound project."""
    assert main(["campaign", "check", "--project", str(tmp_path)]) == 1
    assert "has no folder campaigns/" in capsys.readouterr().err


def test_a_command_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_groups_that_are_not_installed_are_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line works where a part of the package is missing."""
    monkeypatch.setattr(cli, "GROUPS", ("fireflyassets.cli.nothing", "fireflyassets.cli.campaign"))

    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "campaign" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["campaign", "job", "message"])
def test_schemas_are_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON, so that a pipeline can hand them to an editor."""
    assert main(["campaign", "schema", name]) == 0
    assert json.loads(capsys.readouterr().out)["$schema"].endswith("2020-12/schema")
