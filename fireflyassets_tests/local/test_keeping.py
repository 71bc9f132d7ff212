"""The state over a stop: saved, or said to be lost; never quietly older than it seems."""

import os
from pathlib import Path

import pytest

from fireflyassets.local import keeping
from fireflyassets.local.folder import StateFolder
from fireflyassets.local.keeping import SAVED, StateLost


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    made = StateFolder(tmp_path / "state")
    made.prepare(needed_bytes=0)
    made.saved.mkdir()
    return made


def save(folder: StateFolder, *names: str, seconds_later: int = 1) -> None:
    """Write files as the embedded AWS does at its end."""
    for name in names:
        path = folder.saved / name
        path.write_text('{"payload": {}}')
        since = folder.unsaved.stat().st_mtime_ns if folder.unsaved.exists() else 0
        os.utime(path, ns=(0, since + seconds_later * 10**9))


def test_state_that_was_saved_is_kept_and_may_be_used_again(folder: StateFolder) -> None:
    with keeping.kept(folder):
        keeping.mark(folder)
        save(folder, *SAVED)

    keeping.require_whole(folder)


def test_state_that_was_not_saved_is_said_with_its_disk(folder: StateFolder) -> None:
    """One file of three is the old one: what names the other two would be found and it not."""
    keeping.mark(folder)
    save(folder, "s3.json", "sqs.json")
    save(folder, "dynamodb.json", seconds_later=-60)

    with pytest.raises(StateLost) as lost, keeping.kept(folder):
        pass

    sentence = str(lost.value)
    assert "The state is NOT kept: the embedded AWS did not save dynamodb.json in" in sentence
    assert "The disk at /" in sentence
    assert "MB free" in sentence


def test_lost_state_does_not_hide_what_went_wrong_before(folder: StateFolder) -> None:
    """A service that died says so, and then the state: both stand in the chain."""
    keeping.mark(folder)

    with pytest.raises(StateLost) as lost, keeping.kept(folder):
        raise ValueError

    assert isinstance(lost.value.__context__, ValueError)


def test_next_start_refuses_a_lost_state_until_it_is_reset(folder: StateFolder) -> None:
    keeping.mark(folder)
    (folder.twin / "journal.jsonl").write_text("bills")
    folder.access.write_text("ports")

    for _ in range(2):
        with pytest.raises(StateLost, match=r"is older than what was done .* --reset"):
            keeping.require_whole(folder)
    keeping.reset(folder)

    keeping.require_whole(folder)
    assert not (folder.twin / "journal.jsonl").exists()
    assert folder.access.read_text() == "ports"


def test_state_saved_after_its_launcher_was_killed_is_good(folder: StateFolder) -> None:
    """Only the mark is left over: the embedded AWS was ended later, and saved."""
    keeping.mark(folder)
    save(folder, *SAVED)

    keeping.require_whole(folder)


@pytest.mark.parametrize("content", ["", '{"payload": {"jobs": ['])
def test_torn_file_is_named(folder: StateFolder, content: str) -> None:
    """The embedded AWS would begin with nothing and say so in its log alone."""
    save(folder, *SAVED)
    (folder.saved / "sqs.json").write_text(content)

    with pytest.raises(StateLost, match=r"damaged: sqs\.json ends in the middle"):
        keeping.require_whole(folder)


def test_state_that_never_was_is_no_loss(folder: StateFolder) -> None:
    with keeping.kept(folder):
        pass

    keeping.require_whole(folder)
