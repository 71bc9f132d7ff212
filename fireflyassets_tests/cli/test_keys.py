"""``fireflyassets keys`` over memory. Here: what is made, ended and shown."""

from datetime import timedelta
from secrets import token_hex

import pytest

from fireflyassets.adapters.memory.api_keys import MemoryApiKeys
from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.cli.keys import KeyDesk
from fireflyassets.cli.main import main
from fireflyassets.core.api_key import ApiKey, Scope
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.stages.api_keys import ApiKeys
from fireflyassets_tests.front_door import CUSTOMER, NOON

DAY = timedelta(days=1)


class Locksmith:
    """A desk and what it says."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.clock = FakeClock(NOON)
        self.keys = ApiKeys(MemoryApiKeys(), self.clock, token_hex)
        self.desk = KeyDesk(self.keys, self.clock, self.said.append)

    def issue(self) -> str:
        """Make a key, and return the line that shows it."""
        self.desk.issue(CUSTOMER, "DAM", [Scope.READ, Scope.REVIEW], 90 * DAY, by="ann")
        return self.said[-1]


def test_a_key_is_printed_once_alone_on_its_line() -> None:
    """So that it can be piped into a store of secrets; a list shows it no more."""
    at = Locksmith()

    text = at.issue()
    at.desk.show(CUSTOMER, as_json=False)

    found = at.keys.read(text)
    assert isinstance(found, ApiKey)
    assert (found.customer, found.scopes) == (CUSTOMER, {Scope.READ, Scope.REVIEW})
    assert found.key_id in at.said[-1]
    assert text.rsplit("_", 1)[1] not in at.said[-1]


def test_rotation_and_revocation_are_in_the_audit() -> None:
    at = Locksmith()
    first = at.keys.read(at.issue())
    assert isinstance(first, ApiKey)

    at.desk.rotate(CUSTOMER, first.key_id, by="ben")
    second = at.said[-1]
    at.desk.revoke(CUSTOMER, first.key_id, by="cy")
    at.desk.audit(CUSTOMER, as_json=False)

    assert isinstance(at.keys.read(second), ApiKey)
    for did, by in (("issued", "ann"), ("rotated", "ben"), ("revoked", "cy")):
        assert any(did in line and f"operator:{by}" in line for line in at.said[-1].splitlines())


def test_a_key_that_is_not_there_is_told() -> None:
    at = Locksmith()

    with pytest.raises(UnusableArgument, match="no key"):
        at.desk.revoke(CUSTOMER, "0" * 16, by="ann")
    with pytest.raises(UnusableArgument, match="no key"):
        at.desk.rotate(CUSTOMER, "0" * 16, by="ann")


@pytest.mark.parametrize(
    "wrong",
    [
        ["--scope", "everything"],
        ["--scope", "ops", "--days", "0"],
        ["--scope", "ops", "--days", "366"],
        ["--scope", "ops", "--name", " "],
        ["--scope", "ops", "--customer", "Acme_1"],
        [],
    ],
)
def test_a_wrong_wish_is_refused_before_anything_is_asked(wrong: list[str]) -> None:
    """No scope is given that nobody named."""
    good = ["keys", "issue", "--customer", CUSTOMER, "--name", "DAM", "--by", "ann"]

    with pytest.raises(SystemExit) as ended:
        main([*good, *wrong])

    assert ended.value.code == 2
