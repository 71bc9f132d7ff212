"""The state folder: who may use it, and what is said when it can't be used."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local.disk import DiskFull
from fireflyassets.local.folder import StateFolder, locked, write_private

HOLDER = """
import sys
from pathlib import Path
from fireflyassets.local.folder import StateFolder, locked
with locked(StateFolder(Path(sys.argv[1]))) as held:
    held.describe("http://127.0.0.1:3000")
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    made = StateFolder(tmp_path / "state")
    made.prepare(needed_bytes=0)
    return made


@pytest.fixture
def holder(folder: StateFolder) -> "subprocess.Popen[str]":
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and text.
        [sys.executable, "-c", HOLDER, str(folder.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_second_stack_is_refused_in_one_sentence(
    folder: StateFolder, holder: "subprocess.Popen[str]"
) -> None:
    """It names the folder, the process and the URL of the stack that runs."""
    with pytest.raises(UnusableConfiguration) as refused, locked(folder):
        pass
    holder.communicate("")

    sentence = str(refused.value)
    assert f"already running on {folder.root} (process {holder.pid}" in sentence
    assert "http://127.0.0.1:3000" in sentence
    assert "\n" not in sentence


def test_lock_dies_with_its_holder(folder: StateFolder, holder: "subprocess.Popen[str]") -> None:
    """After a kill -9 the next stack starts; there is no stale lock to remove by hand."""
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()

    with locked(folder) as held:
        held.describe("")


def test_full_disk_is_said_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(DiskFull, match=r"^The disk at / has \d+ MB free, and \d+ MB are needed"):
        StateFolder(tmp_path).prepare(needed_bytes=10**18)


def test_unwritable_folder_is_said(tmp_path: Path) -> None:
    """A file in the folder's place can't be written to, not even by root."""
    (tmp_path / "file").write_text("")

    with pytest.raises(UnusableConfiguration, match=r"file/state cannot be written .*--state"):
        StateFolder(tmp_path / "file" / "state").prepare(needed_bytes=0)


def test_private_files_are_private_from_their_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_private(path, "one")
    write_private(path, "two")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "two"
