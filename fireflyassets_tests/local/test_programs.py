"""The commands: what a person is told when they can't start."""

import argparse
import re
import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fireflyassets.core.errors import ServiceDown
from fireflyassets.local import commands, programs
from fireflyassets.local.keeping import StateLost

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
    said = capsys.readouterr().err
    assert f"--port {asked} is not NAME=PORT" in said
    assert "and a port from 1 to 65535" in said


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return the folder of an earlier demo's results."""
    made = tmp_path / "out"
    (made / "renditions").mkdir(parents=True)
    for name in ("summary.json", "index.html", "renditions/one.jpg"):
        (made / name).write_text("of an earlier demo")
    return made


def test_demo_that_can_not_start_keeps_pictures_and_no_summary(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An earlier green summary would pass for this demo's; its pictures are nobody's harm."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        where = ("--state", str(tmp_path / "state"), "--output", str(results))
        code = run("demo", "--project", str(PROJECT), *where, "--port", f"api={taken}")

    assert code == 1
    assert f"Port {taken}, asked for api, is taken" in capsys.readouterr().err
    assert (results / "renditions" / "one.jpg").exists()
    assert not (results / "summary.json").exists()


def test_pictures_of_an_earlier_demo_go_once_new_ones_will_come(results: Path) -> None:
    programs._clear_results(results)

    assert list(results.iterdir()) == [results / "summary.json"]


def test_disk_that_is_full_is_named_with_what_was_written_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The kernel refuses a byte beyond the limit, as a full disk does."""

    def write() -> int:
        (tmp_path / "picture").write_bytes(b"12")
        return 0

    with files_of_at_most(1):
        code = programs._told(write, tmp_path)

    assert code == 1
    assert re.match(
        rf"{tmp_path}: File too large\. The disk at /.* has \d+ MB free\.\n",
        capsys.readouterr().err,
    )


def test_lost_state_is_told_after_the_death_that_caused_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def die_and_lose() -> int:
        try:
            raise ServiceDown("aws died.")
        finally:
            raise StateLost("The state is NOT kept.")

    assert programs._told(die_and_lose, tmp_path) == 1
    assert capsys.readouterr().err == "aws died.\nThe state is NOT kept.\n"


def test_a_stack_whose_service_died_says_how_to_go_on(tmp_path: Path) -> None:
    """The state is kept, and nothing else needs doing; a state that is lost is not called kept."""
    with pytest.raises(ServiceDown) as told, programs._going_on(tmp_path):
        raise ServiceDown("api died.")
    with pytest.raises(StateLost, match=r"^The state is NOT kept\.$"), programs._going_on(tmp_path):
        raise StateLost("The state is NOT kept.")

    assert str(told.value).startswith(
        f"api died.\nThe rest was stopped, and the state is kept in {tmp_path}"
    )
    assert "run the same command again" in str(told.value)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let this process write no file beyond *size* bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


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
