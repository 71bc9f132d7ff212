"""The state file: an append-only list of JSON lines, the last line of an id wins.

Belongs here: writing and reading lines. The file is readable by its owner only. A line cut short
by a killed process is passed over. Does not belong here: what a line means (`records.py`).
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO, cast


class Journal:
    """Lines on disk, or nothing at all without a path."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: TextIO | None = None

    @property
    def folder(self) -> Path | None:
        """Return the folder for bytes that belong to the journal."""
        return None if self._path is None else self._path.with_name(f"{self._path.name}.outputs")

    def read(self) -> Iterator[dict[str, object]]:
        """Yield every whole line written so far, oldest first."""
        if self._path is None or not self._path.exists():
            return
        with self._path.open(encoding="utf-8") as lines:
            for line in lines:
                try:
                    row: object = json.loads(line)
                except json.JSONDecodeError:
                    continue
                yield cast("dict[str, object]", row)

    def append(self, kind: str, row: Mapping[str, object]) -> None:
        """Write one line and hand it to the operating system at once."""
        if self._path is None:
            return
        if self._file is None:
            self._file = self._open(self._path)
        self._file.write(json.dumps({"kind": kind, **row}, default=str) + "\n")
        self._file.flush()

    def _open(self, path: Path) -> TextIO:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_APPEND | os.O_CREAT | os.O_RDWR, 0o600)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            os.write(descriptor, b"\n")  # End the line that a killed process left open.
        return os.fdopen(descriptor, "a", encoding="utf-8")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
