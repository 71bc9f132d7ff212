"""The `limits` commands. Here: what people read, what an operator may set, and exit codes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.provision import provision_tables
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.cli import limits, limits_table
from fireflyassets.cli.main import main
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets_tests.adapters.project_folder import CREDENTIAL, ProjectFolder
from fireflyassets_tests.aws_clients import aws_environment
from fireflyassets_tests.contracts import ledgers
from fireflyassets_tests.contracts.stores import unique
from fireflyassets_tests.limiter.worlds import StandingClock, granted, per_minute

FIREFLY, PHOTOSHOP = "ORG@AdobeOrg#firefly", "ORG@AdobeOrg#photoshop"


@dataclass
class Office:
    """A project, a limiter and a ledger to look into."""

    folder: ProjectFolder
    clock: StandingClock = field(default_factory=StandingClock)
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    limiter: MemoryLimiter = field(init=False)

    def __post_init__(self) -> None:
        self.limiter = MemoryLimiter(now=self.clock.now)
        self.limiter.register(FIREFLY, per_minute(60, per_day=9000))

    def table(self) -> list[str]:
        """Return the lines that people see."""
        catalogue = FileCatalogue(self.folder.root)
        text = "\n".join(limits.lines(limits.Desk(catalogue, self.ledger, self.limiter)))
        return text.splitlines()

    def line(self, begins: str) -> str:
        """Return the one line that begins so."""
        (found,) = [line for line in self.table() if line.startswith(begins)]
        return " ".join(found.split())


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Return an office over a sound project."""
    return Office(ProjectFolder(tmp_path))


def test_an_item_at_rest(office: Office) -> None:
    """Rate and contract, use of the day, the next call, what is free, since when and why."""
    granted(office.limiter, FIREFLY, 4)
    office.clock.advance(1)

    assert office.table()[0].split() == [
        *("ITEM", "RATE", "USED", "TODAY", "429s", "NEXT", "FREE", "SINCE", "WHY")
    ]
    assert office.line(FIREFLY) == (
        f"{FIREFLY} 48 of 48 4 of 9,000 0 in 4 s 45 12:00:00 "
        "the contract's limits, less the headroom"
    )


def test_an_item_that_nobody_has_used(office: Office) -> None:
    """What the contract will allow, and nothing is written by looking."""
    assert office.line(PHOTOSHOP) == f"{PHOTOSHOP} - of 240 - - - - - not used yet"
    assert office.line(PHOTOSHOP).endswith("not used yet")


def test_a_storm_is_visible(office: Office) -> None:
    """How slow, since when, why, for how long paused, and how many refusals."""
    granted(office.limiter, FIREFLY)
    office.clock.advance(5)
    for _ in range(3):
        office.limiter.pause(FIREFLY, timedelta(seconds=90))

    told = office.line(f"{FIREFLY} ")

    assert told == (
        f"{FIREFLY} 40.8 of 48 1 of 9,000 3 in 1 min 0 12:00:05 "
        "lowered after the service refused calls"
    )
    assert office.line(f"{FIREFLY}:") == f"{FIREFLY}: paused by the service until 12:01:35."


def test_the_day_bounds_what_is_free(office: Office) -> None:
    """A used up day leaves nothing, whatever the minute allows."""
    office.limiter.register("ORG@AdobeOrg#photoshop", per_minute(60, per_day=3))
    granted(office.limiter, PHOTOSHOP, 3)
    office.clock.advance(100)

    told = office.line(f"{PHOTOSHOP} ")
    assert told.endswith(" 3 of 3 0 tomorrow 0 12:00:00 the day's quota is used up")


def test_waiting_jobs_are_counted_for_each_customer(office: Office) -> None:
    """Due and parked apart, by customer and credential; whoever has none is left out."""
    rows = [ledgers.job(f"job-{n}", credential="main") for n in range(3)]
    later = office.clock.at + timedelta(minutes=3)
    rows.append(ledgers.job("later", credential="main", not_before=later))
    office.ledger.record(rows)

    table = [" ".join(line.split()) for line in office.table()]

    start = table.index("WAITING CREDENTIAL DUE PARKED IN WAVES")
    assert table[start + 1 : start + 3] == ["acme main 3 1 0", ""]


def test_a_long_queue_is_not_counted_to_its_end(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queue beyond what is worth reading shows as more than that."""
    monkeypatch.setattr(limits_table, "MOST_WAITING", 4)
    office.ledger.record([ledgers.job(f"job-{n}", credential="main") for n in range(9)])

    assert "acme main 5+ 0 0" in [" ".join(line.split()) for line in office.table()]


def test_a_second_credential_adds_no_rate_and_the_table_says_so(office: Office) -> None:
    """One row for each item, however many credentials; a sentence names them."""
    alone = office.table()
    office.folder.write("credentials/second.yaml", CREDENTIAL)

    both = office.table()

    sentence = (
        "ORG@AdobeOrg: main, second share its rate. Limits are the organisation's; a further "
        "credential adds none."
    )
    assert sentence in both
    assert not [line for line in alone if "share its rate" in line]
    assert [line for line in both if line.startswith("ORG@AdobeOrg#")] == [
        line for line in alone if line.startswith("ORG@AdobeOrg#")
    ]


def test_a_limits_file_that_is_put_aside_is_named(office: Office) -> None:
    """Who wonders about the pace is told that the file meant for it does not count."""
    office.folder.write("limits/org.yaml", "organisation: ORG@AdobeOrg\nfamilies: none\n")

    (told,) = [line for line in office.table() if line.startswith("limits/org.yaml")]

    assert "is put aside and sets no pace: " in told


def test_an_open_breaker_is_visible(office: Office) -> None:
    """Since when, and what comes next."""
    office.limiter.pause(FIREFLY, timedelta(hours=2))

    told = [line for line in office.table() if "breaker" in line]

    (line,) = told
    assert line.startswith(f"{FIREFLY}: the breaker is open since 12:00:00, as the service asked")


# -- overrides --------------------------------------------------------------------------------
@pytest.fixture
def run(office: Office, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return the command line over the office."""
    catalogue = FileCatalogue(office.folder.root)
    desk = limits.Desk(catalogue, office.ledger, office.limiter)
    monkeypatch.setattr(limits, "_desk", lambda: desk)
    return lambda *words: main(["limits", *words])


def test_an_override_from_the_command_line(
    office: Office, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Rate, time, name and reason go in; the table shows them; clearing says what was ended."""
    words = ("override", FIREFLY, "--rate", "12", "--for", "30m", "--by", "ada", "--why", "launch")

    codes = [run(*words), run(), run("clear", FIREFLY, "--by", "grace")]
    codes.append(run("clear", FIREFLY, "--by", "grace"))

    said = "12 calls a minute until 12:30:00, set by ada at 12:00:00: launch"
    out = capsys.readouterr().out
    assert codes == [0, 0, 0, 0]
    assert out.count(f"{FIREFLY}: {said}.") == 2
    assert "12 of 48" in out
    assert "12:00:00  set by ada: launch\n" in out
    assert f"{FIREFLY}: ended, {said}." in out
    assert out.endswith(f"{FIREFLY}: there is no override.\n")
    assert office.limiter.state(FIREFLY).rate_per_minute == 48


def test_a_colleagues_override_is_replaced_by_name_only(
    office: Office, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --replace the refusal says whose is in force; with it the answer says whose was."""
    words = ("override", FIREFLY, "--for", "30m", "--why", "launch", "--rate")
    assert run(*words, "12", "--by", "ada") == 0
    office.clock.advance(60)
    capsys.readouterr()

    assert run(*words, "24", "--by", "grace") == 1
    refused = capsys.readouterr().err
    assert "set by ada: launch. Ask them, or replace it" in refused
    assert office.limiter.state(FIREFLY).rate_per_minute == 12

    assert run(*words, "24", "--by", "grace", "--replace") == 0
    assert (
        f"{FIREFLY}: replaced, 12 calls a minute until 12:30:00, set by ada at 12:00:00: launch."
    ) in capsys.readouterr().out


def test_an_item_begins_anew_from_the_command_line(
    office: Office, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """A clock ran ahead and back: the operator's word makes the item usable again."""
    office.clock.advance(86_400)
    granted(office.limiter, FIREFLY)
    office.clock.advance(-86_400)

    assert run("reset", FIREFLY, "--by", "ada", "--why", "a clock ran ahead") == 0

    assert "begun anew" in capsys.readouterr().out
    # One interval away: a call may have gone out just now.
    assert granted(office.limiter, FIREFLY).due_at == (office.clock.at + timedelta(seconds=1.25),)


def test_an_item_is_known_before_its_first_use(
    office: Office, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """An operator may set a rate before the first call was made."""
    words = ("override", PHOTOSHOP, "--rate", "6", "--for", "1d", "--by", "ada", "--why", "launch")

    assert run(*words) == 0
    assert "until 2026-03-10 12:00" in capsys.readouterr().out
    assert office.limiter.state(PHOTOSHOP).rate_per_minute == 6


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--rate", "60", "--for", "1h"), 1, "above the contract's"),
        (("--rate", "0", "--for", "1h"), 1, "is no rate"),
        (("--rate", "12", "--for", "8d"), 1, "no time for an override"),
    ],
)
def test_what_can_not_be_set_is_refused_with_the_cure(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
    told: str,
) -> None:
    """Exit code 1, and one line that says what may be asked for."""
    assert run("override", FIREFLY, *words, "--by", "ada", "--why", "x") == code

    error = capsys.readouterr().err
    assert told in error
    assert "up to the contract's" in error


@pytest.mark.parametrize("time", ["", "1", "h", "1w", "-1h", "1.5h", "1h30m", "9999999s"])
def test_a_time_is_one_number_and_one_unit(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], time: str
) -> None:
    """Anything else is a mistake of the command line: exit code 2."""
    with pytest.raises(SystemExit) as ended:
        run("override", FIREFLY, "--rate", "1", f"--for={time}", "--by", "ada", "--why", "x")

    assert ended.value.code == 2
    assert "is no time" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("override", "--rate", "1", "--for", "1h", "--why", "x"),
        ("clear",),
        ("reset", "--why", "x"),
    ],
)
def test_a_mistyped_item_is_named(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """A typing mistake makes no new item; the known ones are listed."""
    command, *options = words

    assert run(command, "ORG#firefly", *options, "--by", "ada") == 1
    told = capsys.readouterr().err
    assert f"no item 'ORG#firefly'; there are {FIREFLY}, {PHOTOSHOP}. Give another one;" in told
    assert "Mend the file" not in told


def test_watching_ends_with_ctrl_c(
    run: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table comes again and again, without leaving a traceback behind."""
    shown: list[int] = []

    def lines(_desk: limits.Desk) -> list[str]:
        shown.append(1)
        if len(shown) == 3:
            raise KeyboardInterrupt
        return ["the table"]

    monkeypatch.setattr(limits, "lines", lines)

    assert run("--watch", "0.001") == 0
    assert capsys.readouterr().out.count("the table") == 2


# -- the real thing -----------------------------------------------------------------------------
@pytest.mark.stack
def test_over_a_real_table(
    tmp_path: Path,
    ministack: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As an operator runs it: from the environment's settings, against DynamoDB."""
    ProjectFolder(tmp_path)
    prefix = unique("limits")
    monkeypatch.setenv("FIREFLYASSETS_PROJECT", str(tmp_path))
    monkeypatch.setenv("FIREFLYASSETS_TABLE_PREFIX", prefix)
    with aws_environment(ministack):
        client = clients.dynamodb()
        provision_tables(client, Tables(prefix))
        words = ["override", FIREFLY, "--rate", "12", "--for", "1h", "--by", "ada", "--why", "x"]

        codes = [main(["limits"]), main(["limits", *words]), main(["limits"])]

        client.close()
    out = capsys.readouterr().out
    assert codes == [0, 0, 0]
    assert out.count("not used yet") == 3
    assert "12 of 48" in out


@pytest.mark.stack
def test_a_table_that_is_not_there_is_an_exit_code(
    tmp_path: Path,
    ministack: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No traceback: what is wrong, and what to look at."""
    ProjectFolder(tmp_path)
    monkeypatch.setenv("FIREFLYASSETS_PROJECT", str(tmp_path))
    monkeypatch.setenv("FIREFLYASSETS_TABLE_PREFIX", unique("nothing"))
    with aws_environment(ministack):
        assert main(["limits"]) == 1
    assert "Create the table" in capsys.readouterr().err
