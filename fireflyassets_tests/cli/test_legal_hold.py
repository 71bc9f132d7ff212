"""The `legal-hold` commands. Here: what is named, and what is refused."""

import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.cli.legal_hold import move, show
from fireflyassets.cli.main import main
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.stages.holding import Holding

JOB = "acme/spring/0a0b0c0d-1111-5111-8111-111111111111"
KEY = f"{JOB}/9x9/a.jpg"


def test_a_hold_names_its_files_and_stays_on_record() -> None:
    """So does the release; both say by whom and why."""
    objects, told = MemoryObjects(), list[str]()
    objects.put(KEY, b"picture", media_type="image/jpeg", tags={"retention": "standard"})
    holding = Holding(MemoryLedger(), objects, FakeClock())

    move(holding, "set", JOB, by="counsel", why="matter 7", tell=told.append)
    assert objects.tags(KEY) == {"retention": "held-standard", "legal-hold": "true"}
    move(holding, "release", JOB, by="counsel", why="settled", tell=told.append)
    assert objects.tags(KEY) == {"retention": "standard"}
    show(holding, JOB, tell=told.append)

    assert told[:2] == [f"{KEY}\n1 files are held.", f"{KEY}\n1 files are released."]
    assert [line.split()[1:] for line in told[2].splitlines()] == [
        ["held", "counsel", "matter", "7"],
        ["released", "counsel", "settled"],
    ]


@pytest.mark.parametrize(
    "address", ["", "acme", "acme/spring", "acme/spring/", "../x/y", f"{JOB}/x"]
)
def test_what_names_no_job_is_refused(address: str) -> None:
    holding = Holding(MemoryLedger(), MemoryObjects(), FakeClock())

    with pytest.raises(UnusableArgument):
        move(holding, "set", address, by="counsel", why="matter 7")


def test_a_hold_wants_a_name_and_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["legal-hold", "set", JOB, "--by", "counsel"])
    assert "--why" in capsys.readouterr().err
