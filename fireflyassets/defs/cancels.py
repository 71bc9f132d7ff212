# pyright: standard
"""Cancels of runs whose code server is not there any more.

Belongs here: hearing of them. Does not: how a run ends by one (``wave/thread.py``).

Dagster hands a cancel to the code server that answers now, which knows only what it has started
itself. A run outlives its server where that is replaced, and asks the instance from then on.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import dagster as dg

LOOK_SECONDS: Final = 5.0


@contextmanager
def heard(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Interrupt this process, as its server would, if the run is cancelled after that has gone."""
    over = threading.Event()
    listener = threading.Thread(
        target=_listen,
        args=(over, partial(is_due, instance, run_id, is_orphan)),
        name=f"cancels of {run_id}",
        daemon=True,
    )
    listener.start()
    try:
        yield
    finally:
        over.set()
        listener.join()


def is_orphan() -> bool:
    """Say whether the server that started this process is gone; one that nobody started is none."""
    parent = multiprocessing.parent_process()
    return parent is not None and not parent.is_alive()


def is_due(instance: dg.DagsterInstance, run_id: str, orphaned: Callable[[], bool]) -> bool:
    """Say whether a run must end by a cancel that nobody else brings it."""
    if not orphaned():
        return False
    run = instance.get_run_by_id(run_id)
    return run is not None and run.status is dg.DagsterRunStatus.CANCELING


def _listen(over: threading.Event, due: Callable[[], bool]) -> None:
    while not over.wait(LOOK_SECONDS):
        if due():
            os.kill(os.getpid(), signal.SIGINT)
            return
