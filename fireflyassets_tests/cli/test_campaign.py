"""The `campaign` commands. Here: words, exit codes, and that the groups are found."""

from pathlib import Path

import pytest

from fireflyassets.cli import main as cli
from fireflyassets.cli.main import main
from fireflyassets_tests.adapters.project_folder import ProjectFolder


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
