"""Cancels that the code server of now can't bring to a run."""

import subprocess
import sys
from pathlib import Path

import dagster as dg

from fireflyassets.defs.cancels import is_due, is_orphan

ORPHAN = """
import multiprocessing, os, time
from fireflyassets.defs.cancels import is_orphan

def child(told):
    told.send(is_orphan())
    while not is_orphan():
        time.sleep(0.05)
    print("orphan", flush=True)

if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    spawn.Process(target=child, args=(there,)).start()
    print(here.recv(), flush=True)
    os.kill(os.getpid(), 9)
"""


def test_only_an_orphan_that_is_cancelled_ends_itself() -> None:
    """A living server brings the cancel by itself, and twice would break the clean end."""
    with dg.DagsterInstance.ephemeral() as instance:
        run = instance.add_run(dg.DagsterRun("a job", status=dg.DagsterRunStatus.STARTED))
        assert not is_due(instance, run.run_id, lambda: True)

        instance.report_run_canceling(run)

        assert is_due(instance, run.run_id, lambda: True)
        assert not is_due(instance, run.run_id, lambda: False)
        assert not is_due(instance, "no-such-run", lambda: True)


def test_a_process_notices_that_its_server_was_killed(tmp_path: Path) -> None:
    """And none is an orphan before that, nor one that no server has started."""
    assert not is_orphan()
    program = tmp_path / "orphan.py"
    program.write_text(ORPHAN, encoding="utf-8")

    # Both of them hold the pipe: it ends with the child.
    told = subprocess.run(  # noqa: S603 - our own program.
        [sys.executable, program], capture_output=True, text=True, timeout=60, check=False
    )

    assert told.stdout.split() == ["False", "orphan"]
