"""``fireflyassets recall``: what it refuses before it looks. Not here: what is hit."""

import pytest

from fireflyassets.cli.main import main


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "all is never meant"),
        (["--campaign", "spring-launch"], "all is never meant"),
        (["--job", "x", "--go"], "--by and --why"),
        (["--job", "x", "--go", "--by", "ann"], "--by and --why"),
    ],
)
def test_a_recall_says_of_what_by_whom_and_why(
    more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that takes files out of use does nothing by accident."""
    assert main(["recall", "--customer", "acme", *more]) == 1

    assert said in capsys.readouterr().err
