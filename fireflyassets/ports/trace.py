"""On whose behalf something is done: what each log line, and each count of a call, is marked with.

Belongs here: the mark, and passing it on within a task. Does not: writing lines.
A run marks its thread, and each turn its own task, so that nothing hands the mark from call to
call.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class Trace:
    """Who it is for. Empty where nobody is named: a sweep works for many."""

    run: str = ""
    job: str = ""
    customer: str = ""
    campaign: str = ""


_trace: Final[ContextVar[Trace]] = ContextVar("fireflyassets_trace", default=Trace())  # noqa: B039 - frozen.


def current() -> Trace:
    """Return the mark of this task."""
    return _trace.get()


@contextmanager
def traced(**changes: str) -> Generator[None]:
    """Mark what this task, and those it starts, do meanwhile."""
    token = _trace.set(replace(_trace.get(), **changes))
    try:
        yield
    finally:
        _trace.reset(token)
