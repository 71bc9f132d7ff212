"""Keeps the HTTP library's own log lines of our calls out of every log.

Belongs here: the filter on its loggers. Does not: our own line for each call (``call_log.py``).
httpx writes whole URLs at INFO, with signatures in their queries, and httpcore writes response
headers at DEBUG. Only what our clients cause is dropped; levels set by others do not matter.
"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_LOGGERS: Final = (
    "httpx",
    "httpcore.connection",
    "httpcore.http11",
    "httpcore.http2",
    "httpcore.proxy",
    "httpcore.socks",
)
_ours: Final = ContextVar("fireflyassets_adobe_call", default=False)


class _NotOurs(logging.Filter):
    """Passes what other users of the library cause."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether the record may be written."""
        return not _ours.get()


_FILTER: Final = _NotOurs()


@contextmanager
def silenced() -> Generator[None]:
    """Drop the library's log lines that this task, or a task it starts, causes meanwhile."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)  # Adding it again changes nothing.
    token = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(token)
