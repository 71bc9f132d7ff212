"""The commands: what a person is told when they can't start."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fireflyassets.local import commands, programs

PROJECT = Path(__file__).parents[2]


def run(*words: str) -> int:
    """Run a command of the local stack and return its exit code."""
    parser = argparse.ArgumentParser()
    commands.add_to(parser.add_subparsers(required=True))
    arguments = parser.parse_args(words)
    code: int = arguments.run(arguments)
    return code


@pytest.mark.parametrize("command", ["up", "demo"])
def test_folder_that_is_no_checkout_is_said(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(command, "--project", str(tmp_path))

    assert code == 1
    assert capsys.readouterr().err == (
        f"{tmp_path} is no checkout of the project: it has no dagster.yaml, workspace.yaml, "
        "campaigns; start from the project's folder, or name it with --project.\n"
    )


@pytest.mark.parametrize("asked", ["api", "api=", "api=http", "web=80", "api=0", "api=65536"])
def test_port_that_is_none_is_said(
    asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run("up", "--project", str(PROJECT), "--state", str(tmp_path), "--port", asked)

    assert code == 1
    assert f"--port {asked} is not NAME=PORT" in capsys.readouterr().err


@pytest.mark.parametrize("well", [True, False])
def test_state_of_a_fresh_demo_stays_only_for_who_must_read_it(
    well: bool,  # noqa: FBT001 - the two cases.
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with programs._state_for(argparse.Namespace(fresh=True), PROJECT) as state:
        state.needed = not well

    assert state.path.parent == tmp_path
    assert state.path.exists() is not well
    assert ("The logs are kept in" in capsys.readouterr().out) is not well


def test_missing_extra_is_named() -> None:
    """A production install has no local stack; it says what to install instead of a traceback."""
    code = (
        "import sys; sys.modules['psutil'] = None; "
        "from fireflyassets.cli.main import main; sys.exit(main(['up']))"
    )
    ended = subprocess.run(  # noqa: S603 - our own interpreter and text.
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False
    )

    assert ended.returncode == 1
    assert ended.stderr == "The local stack needs psutil; install fireflyassets[local].\n"
