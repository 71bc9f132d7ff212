"""Small real programs for the tests of starting, watching and stopping."""

import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from fireflyassets.local.processes import MARK
from fireflyassets.local.service import Service

SLEEPER = "import signal; signal.pause()"
DYING = "print('the last words'); raise SystemExit(3)"
DYING_LATER = "import time; time.sleep(0.5); raise SystemExit(3)"
STUBBORN = (
    "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('deaf', flush=True); signal.pause()"
)
WITH_RUNAWAY = (
    "import signal, subprocess, sys; "
    "subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'],"
    " start_new_session=True); print('ran away', flush=True); signal.pause()"
)


def service(
    folder: Path,
    code: str,
    *,
    name: str = "one",
    ready: Callable[[], bool] = lambda: True,
    stop_within: timedelta = timedelta(seconds=30),
    start_within: timedelta = timedelta(seconds=60),
    restarts: int = 0,
) -> Service:
    """Return a service that runs Python *code*, marked as a part of the stack on *folder*."""
    return Service(
        name=name,
        command=(sys.executable, "-c", code),
        environment={MARK: str(folder)},
        cwd=folder,
        log=folder / f"{name}.log",
        ready=ready,
        start_within=start_within,
        stop_within=stop_within,
        restarts=restarts,
    )


def says(log: Path, words: str) -> Callable[[], bool]:
    """Return the question whether *log* holds *words*."""
    return lambda: log.exists() and words in log.read_text()


def kill(pid: int) -> None:
    """Kill our child and return once it is dead; its parent object still has to reap it."""
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
