"""Where our loggers' lines go: to stderr, once, and nobody else's with them."""

import subprocess
import sys

import pytest

PROGRAM = """
import logging, sys
from fireflyassets import composition
from fireflyassets.settings import LogLevel, Settings
settings = Settings(log_level=LogLevel(sys.argv[1]))
composition.log_to_stderr(settings)
composition.log_to_stderr(settings)
logging.getLogger("fireflyassets.adobe").info("call one")
logging.getLogger("fireflyassets.wave").warning("wave one")
logging.getLogger("httpx").info("GET https://a.b/?X-Amz-Signature=SIGMARK")
"""


@pytest.mark.parametrize(
    ("level", "lines"),
    [
        ("INFO", ["INFO fireflyassets.adobe: call one", "WARNING fireflyassets.wave: wave one"]),
        ("WARNING", ["WARNING fireflyassets.wave: wave one"]),
    ],
)
def test_lines_are_written_once_from_the_set_level_on(level: str, lines: list[str]) -> None:
    ended = subprocess.run(  # noqa: S603 - our own interpreter and text.
        [sys.executable, "-c", PROGRAM, level], capture_output=True, text=True, check=True
    )

    assert [line.partition("Z ")[2] for line in ended.stderr.splitlines()] == lines
