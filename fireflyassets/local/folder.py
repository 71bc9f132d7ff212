"""The state folder: where a stack keeps everything that outlives it, and who may use it.

Belongs here: the folder's layout, the checks before a start, and the lock that admits one stack.
Does not: what the services write into it.
"""

import fcntl
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.local import disk

NEEDED_BYTES: Final = 500_000_000
"""A demo leaves about a fifth of it; a database on a full disk is damaged, not just stopped."""
LEAST_BYTES: Final = 100_000_000
"""What a running stack must find: a stop has to save its state."""

PRIVATE: Final = 0o600


@dataclass(frozen=True, slots=True)
class StateFolder:
    """Names of what lies in the folder."""

    root: Path

    @property
    def logs(self) -> Path:
        """One file for each service."""
        return self.root / "logs"

    @property
    def dagster_home(self) -> Path:
        """Dagster's instance: runs, events, partitions."""
        return self.root / "dagster"

    @property
    def aws(self) -> Path:
        """What the embedded AWS keeps over a clean stop."""
        return self.root / "aws"

    @property
    def saved(self) -> Path:
        """One file for each of its services, written when it stops."""
        return self.aws / "state"

    @property
    def unsaved(self) -> Path:
        """There while it holds more than it has saved; its time is that of the start."""
        return self.aws / "unsaved"

    @property
    def twin(self) -> Path:
        """The twin's journal of calls and bills."""
        return self.root / "twin"

    @property
    def postgres(self) -> Path:
        """Dagster's database, where it is not SQLite."""
        return self.root / "postgres"

    @property
    def access(self) -> Path:
        """Ports of the last start, and the key that signs tokens."""
        return self.root / "stack.json"

    @property
    def key_set(self) -> Path:
        """The public half of that key, as the API reads it."""
        return self.root / "keys.json"

    @property
    def tokens(self) -> Path:
        """One file for each customer's API token."""
        return self.root / "tokens"

    @property
    def commands(self) -> Path:
        """What a shell reads before the operators' commands."""
        return self.root / "env"

    @property
    def lock(self) -> Path:
        """Held by the stack that runs; says which."""
        return self.root / "lock"

    def prepare(self, *, needed_bytes: int = NEEDED_BYTES) -> None:
        """Make the folder, and see that it can be written and the disk has room.

        Raises:
            UnusableConfiguration: It can't be used; the sentence says why and what to do.
            DiskFull: The disk has too little room.
        """
        try:
            for path in (self.root, self.logs, self.dagster_home, self.aws, self.twin, self.tokens):
                path.mkdir(parents=True, exist_ok=True)
            self.tokens.chmod(0o700)
            probe = self.root / ".writable"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise UnusableConfiguration(
                f"The state folder {self.root} cannot be written ({error.strerror}); "
                "name another one with --state."
            ) from error
        disk.require_room(
            self.root,
            needed_bytes,
            f"to start on {self.root}; free some, or name another folder with --state.",
        )


def write_private(path: Path, text: str) -> None:
    """Replace *path* in one move by a file that only its owner can read."""
    fresh = path.with_name(f"{path.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    fresh.replace(path)


class Held:
    """The lock of a state folder, taken."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def describe(self, url: str) -> None:
        """Note who holds the lock, for the sentence that a second stack says."""
        text = json.dumps({"process": os.getpid(), "url": url})
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)


@contextmanager
def locked(folder: StateFolder) -> Generator[Held]:
    """Hold the folder. The kernel frees it with the process, so no stale lock can remain.

    Raises:
        UnusableConfiguration: Another stack holds it.
    """
    # The file is never removed: a lock on a removed file would let two stacks in.
    descriptor = os.open(folder.lock, os.O_RDWR | os.O_CREAT, PRIVATE)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UnusableConfiguration(
                f"A stack is already running on {folder.root}{_holder(descriptor)}; stop it first, "
                "or name another folder with --state."
            ) from error
        held = Held(descriptor)
        held.describe("")
        yield held
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> str:
    try:
        said = cast("dict[str, object]", json.loads(os.pread(descriptor, 4096, 0)))
    except ValueError:
        return ""
    url = f", {said['url']}" if said.get("url") else ""
    return f" (process {said.get('process')}{url})"
