"""Whether a stack's state outlived its stop: the embedded AWS saves it at its end, or fails to.

Belongs here: the mark of a state in use, the look for what was saved since, beginning afresh.
Does not: the folder's layout (``folder.py``), nor the saving, which is the embedded AWS's own.

It writes one file for each service, whole, and logs a failure without any other sign. So a file is
trusted by its age: it must be younger than the mark, which is set once the services have it open.
"""

import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fireflyassets.core.errors import FactoryError
from fireflyassets.local import disk
from fireflyassets.local.folder import StateFolder

SAVED: Final = ("dynamodb.json", "s3.json", "sqs.json")


class StateLost(FactoryError):
    """What the embedded AWS held is not on the disk, or not whole."""

    remedy = (
        "Begin afresh with --reset, which empties the state folder, or name another one with "
        "--state."
    )


def mark(folder: StateFolder) -> None:
    """Note that from now on the saved files are older than what the embedded AWS holds."""
    folder.unsaved.write_bytes(b"")


@contextmanager
def kept(folder: StateFolder) -> Generator[None]:
    """See at the end that what was marked has been saved, whatever else went wrong.

    Raises:
        StateLost: It has not; the sentence names the disk.
    """
    try:
        yield
    finally:
        lost = _lost(folder)
        if lost:
            raise StateLost(
                f"The state is NOT kept: the embedded AWS did not save {', '.join(lost)} in "
                f"{folder.saved}. {disk.described(folder.root)}. Jobs and messages since the start "
                f"are gone; the twin still knows what was billed. {StateLost.remedy}"
            )
        folder.unsaved.unlink(missing_ok=True)


def require_whole(folder: StateFolder) -> None:
    """Return if the state is what the last stack left, or there is none.

    Raises:
        StateLost: It is older, or a file of it is torn: going on with it could pay again.
    """
    lost = _lost(folder)
    if lost:
        at = datetime.fromtimestamp(folder.unsaved.stat().st_mtime, tz=UTC)
        raise StateLost(
            f"The state in {folder.root} is older than what was done on it: the stack that started "
            f"at {at:%Y-%m-%d %H:%M} UTC ended without saving {', '.join(lost)}. {StateLost.remedy}"
        )
    torn = [path.name for path in sorted(folder.saved.glob("*.json")) if not _ends_whole(path)]
    if torn:
        raise StateLost(
            f"The state in {folder.root} is damaged: {', '.join(torn)} ends in the middle. "
            f"{StateLost.remedy}"
        )


def reset(folder: StateFolder) -> None:
    """Empty the state: jobs, files, runs and bills. Ports and the key of the tokens stay."""
    for path in (folder.aws, folder.twin, folder.dagster_home):
        shutil.rmtree(path)
        path.mkdir()
    shutil.rmtree(folder.postgres, ignore_errors=True)


def _lost(folder: StateFolder) -> list[str]:
    try:
        since = folder.unsaved.stat().st_mtime_ns
    except FileNotFoundError:
        return []
    return list(_older(folder.saved, since))


def _older(saved: Path, since: int) -> Iterator[str]:
    for name in SAVED:
        path = saved / name
        if not path.exists() or path.stat().st_mtime_ns <= since:
            yield name


def _ends_whole(path: Path) -> bool:
    """Say whether a saved file ends as JSON does; it may be too large to be read for that."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 1))
        return file.read() == b"}"
