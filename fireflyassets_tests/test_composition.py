"""Where our loggers' lines go: to stderr, once, and nobody else's with them; what is loaded."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

PROGRAM = """
import logging, sys
from fireflyassets import composition
from fireflyassets.ports.trace import traced
from fireflyassets.settings import LogFormat, LogLevel, Settings
settings = Settings(log_level=LogLevel(sys.argv[1]), log_format=LogFormat(sys.argv[2]))
composition.log_to_stderr(settings)
composition.log_to_stderr(settings)
logging.getLogger("fireflyassets.adobe").info("call one")
logging.getLogger("fireflyassets.wave").warning("wave one")
logging.getLogger("httpx").info("GET https://a.b/?X-Amz-Signature=SIGMARK")
with traced(run="run-1", customer="acme"), traced(job="job-1"):
    logging.getLogger("fireflyassets.wave").error("two\\nlines")
"""

DELIVERING = """
import sys
from fireflyassets import composition
from fireflyassets.cli import webhooks
from fireflyassets.settings import Settings
composition.telling(Settings())
unwanted = {"PIL", "numpy", "psd_tools", "fireflyassets.adapters.adobe.workshop"}
print(*sorted(unwanted & set(sys.modules)))
"""


def written(level: str, form: str) -> list[str]:
    """Run the program and return the lines on its stderr."""
    ended = subprocess.run(  # noqa: S603 - our own interpreter and text.
        [sys.executable, "-c", PROGRAM, level, form], capture_output=True, text=True, check=True
    )
    return ended.stderr.splitlines()


@pytest.mark.parametrize(
    ("level", "lines"),
    [
        ("INFO", ["INFO fireflyassets.adobe: call one", "WARNING fireflyassets.wave: wave one"]),
        ("WARNING", ["WARNING fireflyassets.wave: wave one"]),
    ],
)
def test_lines_are_written_once_from_the_set_level_on(level: str, lines: list[str]) -> None:
    *found, two, lines_of_it = written(level, "text")

    assert [line.partition("Z ")[2] for line in found] == lines
    assert (two.partition("Z ")[2], lines_of_it) == ("ERROR fireflyassets.wave: two", "lines")


def test_a_line_of_json_says_for_whom_and_by_which_release() -> None:
    """One object a line, whatever is said in it: time, level, run, job, customer, release."""
    call, wave, last = (json.loads(line) for line in written("INFO", "json"))

    assert (call["message"], wave["level"]) == ("call one", "WARNING")
    assert "run" not in call
    assert last.pop("at").endswith("Z")
    assert last == {
        "level": "ERROR",
        "logger": "fireflyassets.wave",
        "message": "two\nlines",
        "run": "run-1",
        "job": "job-1",
        "customer": "acme",
        "release": version("fireflyassets"),
    }


def test_who_delivers_webhooks_loads_nothing_that_makes_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its process is half as large as one that has every port."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "eu-central-1")
    ended = subprocess.run(  # noqa: S603 - our own interpreter and text.
        [sys.executable, "-c", DELIVERING], capture_output=True, text=True, check=True
    )

    assert ended.stdout.split() == []
