"""The command line: what is said when settings or AWS can't be used, instead of a traceback."""

import os
import subprocess
import sys

import pytest

from fireflyassets import composition
from fireflyassets.cli.main import main

READING = (["fence", "report"], ["fence", "list"], ["limits"], ["campaign", "list"])
ASKING_AWS = (
    ["fence", "report"],
    ["fence", "list"],
    ["fence", "resolve", "job", "art", "--drop", "--by", "ops", "--why", "gone"],
    ["limits"],
    ["limits", "override", "item", "--rate", "1", "--for", "1h", "--why", "a test", "--by", "ops"],
    ["limits", "clear", "item", "--by", "ops"],
)


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take AWS's variables away, and what a process remembers of an earlier command."""
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    composition.factory.cache_clear()


@pytest.mark.parametrize("words", ASKING_AWS, ids=" ".join)
def test_missing_region_is_said(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = main(words)

    said = capsys.readouterr().err
    assert code == 1
    assert said.startswith("AWS can't be used: You must specify a region. Set AWS_DEFAULT_REGION")
    assert said.count("\n") == 1


def test_endpoint_where_nobody_listens_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")

    assert main(["fence", "list"]) == 1
    assert "does not answer now (EndpointConnectionError)" in capsys.readouterr().err


@pytest.mark.parametrize("words", ASKING_AWS[:4], ids=" ".join)
def test_missing_credentials_are_said(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody was asked, so no store is blamed."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")

    assert main(words) == 1
    said = capsys.readouterr().err
    assert said.startswith("AWS can't be used: Unable to locate credentials")
    assert "does not answer" not in said


def test_an_endpoint_that_is_no_address_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nonsense")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")

    assert main(["fence", "list"]) == 1
    assert capsys.readouterr().err.startswith("AWS_ENDPOINT_URL can't be used: Invalid endpoint")


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_setting_that_can_not_be_used_is_named_without_its_value(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its value may be a secret."""
    monkeypatch.setenv("FIREFLYASSETS_LEASE", "SECMARK")
    monkeypatch.setenv("FIREFLYASSETS_CLOCK_CHECK", "SECMARK")

    assert main(words) == 1
    said = capsys.readouterr().err
    assert "The setting FIREFLYASSETS_LEASE can't be used: Input should be a valid" in said
    assert "The setting FIREFLYASSETS_CLOCK_CHECK can't be used: " in said
    assert "SECMARK" not in said


def test_setting_that_is_no_json_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FIREFLYASSETS_ADOBE_HOSTS", "SECMARK")

    assert main(["campaign", "list"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("A setting can't be used: ")
    assert "adobe_hosts" in said
    assert "SECMARK" not in said


@pytest.mark.parametrize("lines", [1, 20_000])
def test_reader_that_goes_away_ends_a_command_without_a_word(lines: int) -> None:
    """`fireflyassets … | head` shows what head shows, whatever command it is."""
    program = (
        "import sys\n"
        "from fireflyassets.cli import failures, main\n"
        f"failures.run = lambda _: [print('x' * 80) for _ in range({lines})] and 0\n"
        "from argparse import ArgumentParser\n"
        "add = failures.add_to\n"
        "def add_to(group):\n"
        "    group.add_parser('long').set_defaults(run=failures.run)\n"
        "failures.add_to = add_to\n"
        "sys.exit(main.main(['long']))\n"
    )
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(  # noqa: S603 - our own interpreter.
        [sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, check=False
    )

    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
