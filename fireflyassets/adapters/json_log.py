"""Log lines as JSON, one object a line.

Belongs here: the form of a line. Does not: where lines go (``composition.py``), what is said.
"""

import json
import logging
import time
from dataclasses import asdict
from typing import Final

from fireflyassets.ports import trace

FACTS: Final = ("adobe_call", "adobe_tokens")
"""Attributes of a record that hold facts: their fields become fields of the line."""


class JsonLines(logging.Formatter):
    """Writes a record with whom it is for, the facts it carries, and the release that wrote it."""

    converter = time.gmtime

    def __init__(self, release: str) -> None:
        super().__init__(datefmt="%Y-%m-%dT%H:%M:%S")
        self._release = release

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        line: dict[str, object] = {
            "at": f"{self.formatTime(record, self.datefmt)}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": _said(record),
            **{name: said for name, said in asdict(trace.current()).items() if said},
            "release": self._release,
        }
        for name in FACTS:
            if (facts := vars(record).get(name)) is not None:
                line |= asdict(facts)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _said(record: logging.LogRecord) -> str:
    """Return the message; of one that only lists facts, what they are of."""
    text = record.getMessage()
    return text.partition(" ")[0] if any(name in vars(record) for name in FACTS) else text
