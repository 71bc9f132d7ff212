"""One program: named when it dies, forced when it is deaf, started again only so often."""

from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from fireflyassets.core.errors import ServiceDown
from fireflyassets.local.service import Running, last_lines
from fireflyassets_tests.local.programs import DYING, SLEEPER, STUBBORN, kill, says, service


def test_program_that_dies_at_its_start_is_named_with_its_last_words(tmp_path: Path) -> None:
    running = Running(service(tmp_path, DYING, name="twin", ready=lambda: False))

    with pytest.raises(ServiceDown) as down:
        running.wait_until_ready()

    assert str(down.value).startswith("twin died (exit code 3). Its log ")
    assert "the last words" in str(down.value)


def test_program_that_does_not_answer_is_named(tmp_path: Path) -> None:
    asked = service(
        tmp_path, SLEEPER, ready=lambda: False, start_within=timedelta(milliseconds=200)
    )
    running = Running(asked)

    with pytest.raises(ServiceDown, match=r"one did not answer in 0 s\."):
        running.wait_until_ready()
    running.stop()

    assert not psutil.pid_exists(running.pid)


def test_the_end_of_a_log_shows_what_went_wrong_alone(tmp_path: Path) -> None:
    """A hundred requests that were answered would hide the line that says why."""
    log = tmp_path / "api.log"
    fine = '{"at": "2026-11-30T23:11:52.084Z", "level": "INFO", "message": "GET / 200"}\n'
    log.write_text('{"level": "ERROR", "message": "no room"}\n' + fine * 100)

    assert last_lines(log) == '    {"level": "ERROR", "message": "no room"}'
    log.write_text(fine)
    assert last_lines(log) == "    (nothing that went wrong)"


def test_program_killed_by_a_signal_says_which(tmp_path: Path) -> None:
    running = Running(service(tmp_path, SLEEPER))
    kill(running.pid)

    with pytest.raises(ServiceDown, match=r"one died \(signal SIGKILL\)"):
        running.require_alive()


def test_deaf_program_is_ended_after_its_time(tmp_path: Path) -> None:
    asked = service(
        tmp_path,
        STUBBORN,
        ready=says(tmp_path / "one.log", "deaf"),
        stop_within=timedelta(milliseconds=200),
    )
    running = Running(asked)
    running.wait_until_ready()

    running.stop()

    assert not psutil.pid_exists(running.pid)


def test_dead_program_is_started_again_as_often_as_allowed(tmp_path: Path) -> None:
    running = Running(service(tmp_path, SLEEPER, restarts=2))
    pids = [running.pid]
    outcomes: list[bool] = []
    for _ in range(3):
        kill(running.pid)
        outcomes.append(running.restart())
        pids.append(running.pid)

    running.stop()

    assert outcomes == [True, True, False]
    assert len(set(pids)) == 3


def test_log_of_the_start_before_is_kept(tmp_path: Path) -> None:
    (tmp_path / "one.log").write_text("of yesterday")

    Running(service(tmp_path, SLEEPER)).stop()

    assert (tmp_path / "one.log.1").read_text() == "of yesterday"
