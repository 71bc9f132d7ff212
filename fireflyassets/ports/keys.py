"""The keys of who issues our bearer tokens, as a port. Not here: what a token may say."""

from abc import ABC, abstractmethod
from collections.abc import Mapping


class SigningKeys(ABC):
    """The public keys that an issuer signs with; it may change them any time."""

    @abstractmethod
    def key_set(self, *, having: str | None) -> Mapping[str, object]:
        """Return the issuer's JSON Web Key Set (RFC 7517); it may be some time old.

        One that lacks the key id *having* is asked for anew, but not as often as strangers like.

        Raises:
            ServiceDown: The issuer does not answer and none is remembered.
        """
