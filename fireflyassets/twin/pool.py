"""Where CPU work runs: one or two workers beside the event loop, so that polls stay quick.

Belongs here: the pool and its start and stop. Does not belong here: the work itself.
"""

import os
import signal
from asyncio import get_running_loop
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Literal, TypeVar, TypeVarTuple

A = TypeVarTuple("A")
R = TypeVar("R")


def _settle_in() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The parent decides when to stop.
    Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """End this worker when the twin was killed; it would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _import_renderers() -> None:
    """Import what rendering needs: spawned workers begin empty, and the first job would wait."""
    import_module("fireflyassets.twin.photoshop_pictures")
    import_module("fireflyassets.twin.composite")
    import_module("fireflyassets.twin.firefly_pictures")


class Pool:
    """Runs plain functions in *workers* processes or threads; made on first use."""

    def __init__(self, kind: Literal["process", "thread"], workers: int) -> None:
        self._kind = kind
        self._workers = workers
        self._executor: Executor | None = None

    async def run(self, work: Callable[[*A], R], *args: *A) -> R:
        """Return what *work* returns, computed beside the event loop."""
        if self._executor is None:
            self._executor = self._make()
        try:
            return await get_running_loop().run_in_executor(self._executor, work, *args)
        except BrokenExecutor:
            self._executor = None  # A worker died (memory, a signal): the next call makes anew.
            raise

    def warm(self) -> None:
        """Start the workers and let them import, without waiting for them."""
        if self._executor is None:
            self._executor = self._make()
        self._executor.submit(_import_renderers)

    def _make(self) -> Executor:
        if self._kind == "thread":
            return ThreadPoolExecutor(self._workers, thread_name_prefix="twin-render")
        # Spawned, not forked: a fork would copy the event loop and its sockets.
        return ProcessPoolExecutor(self._workers, get_context("spawn"), initializer=_settle_in)

    def close(self) -> None:
        """Stop the workers, dropping what has not begun."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None
