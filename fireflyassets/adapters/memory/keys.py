"""An issuer's keys in memory. Here: a key set that a test can rotate. Not here: fetching."""

from collections.abc import Mapping

from fireflyassets.ports.keys import SigningKeys


class MemoryKeys(SigningKeys):
    """A key set that is known."""

    def __init__(self, key_set: Mapping[str, object]) -> None:
        self.known = key_set

    def key_set(self, *, having: str | None) -> Mapping[str, object]:
        """Return the key set."""
        return self.known
