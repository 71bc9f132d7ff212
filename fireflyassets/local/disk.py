"""The disk under a folder: which it is, and whether it has room.

Belongs here: looking, and the sentence that names the disk. Does not: what needs the room.
"""

import shutil
from pathlib import Path

from fireflyassets.core.errors import FactoryError


class DiskFull(FactoryError):
    """A disk has too little room to go on."""

    remedy = "Free some, or name another folder with --state."


def described(path: Path) -> str:
    """Name the disk under *path*, and how much room it has."""
    above = [each for each in (path.resolve(), *path.resolve().parents) if each.exists()]
    mount = next(each for each in above if each.is_mount())
    return f"The disk at {mount} has {free_bytes(mount) / 1e6:.0f} MB free"


def free_bytes(path: Path) -> int:
    """Return the room under *path* that this user may fill."""
    return shutil.disk_usage(path).free


def require_room(path: Path, needed_bytes: int, why: str) -> None:
    """Return if the disk under *path* has *needed_bytes*; *why* ends the sentence if not.

    Raises:
        DiskFull: It has not.
    """
    if free_bytes(path) < needed_bytes:
        raise DiskFull(f"{described(path)}, and {needed_bytes / 1e6:.0f} MB are needed {why}")
