"""The processes of a stack, found by a mark that children inherit.

Belongs here: finding, measuring and ending them by id, run workers and render workers included.
Does not: which programs a stack consists of.
"""

import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import psutil

MARK: Final = "FIREFLYASSETS_STACK"
"""Environment variable that every process of a stack carries: its state folder."""


def of_stack(folder: Path) -> list[psutil.Process]:
    """Return the live processes of the stack on *folder*, this one excluded."""
    mine = os.getpid()
    return [each for each in psutil.process_iter() if each.pid != mine and _carries(each, folder)]


def memory_bytes(processes: Iterable[psutil.Process]) -> int:
    """Return the memory of *processes*, shared pages split among those that share them (PSS)."""
    return sum(_memory(each) for each in processes)


def end(processes: Sequence[psutil.Process], *, patience_seconds: float) -> int:
    """Ask *processes* to end, force those that do not, and return how many had to be asked."""
    asked = [each for each in processes if _signal(each, signal.SIGTERM)]
    _, stubborn = psutil.wait_procs(asked, timeout=patience_seconds)
    for each in stubborn:
        _signal(each, signal.SIGKILL)
    psutil.wait_procs(stubborn, timeout=patience_seconds)
    return len(asked)


def _carries(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.environ().get(MARK) == str(folder)
    except (psutil.Error, OSError):
        return False  # Ended meanwhile, a zombie, or another user's.


def _memory(process: psutil.Process) -> int:
    try:
        info = process.memory_full_info()
    except (psutil.Error, OSError):
        return 0
    return int(getattr(info, "pss", info.uss))  # Only Linux counts shares.


def _signal(process: psutil.Process, number: signal.Signals) -> bool:
    try:
        process.send_signal(number)  # Checks that the id still is the same process.
    except psutil.NoSuchProcess:
        return False
    return True
