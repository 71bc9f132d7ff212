"""Which hosts are this machine by their very name."""

import pytest

from fireflyassets.core.hosts import is_loopback


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"])
def test_this_machine_is_known_by_its_names(host: str) -> None:
    """Whatever is bound there, nobody else hears it."""
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [None, "", "localhost.example", "127.0.0.1.example", "10.0.0.1", "0.0.0.0", "::", "0127.0.0.1"],  # noqa: S104 - compared, not bound.
)
def test_any_other_host_is_foreign(host: str | None) -> None:
    """A name that only looks alike may point anywhere."""
    assert not is_loopback(host)
