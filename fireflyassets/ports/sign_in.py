"""Signing in at an identity provider as a port: OpenID Connect's code flow, in our words.

Belongs here: what is asked of the provider. Does not: whether its tokens are believed.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Asked:
    """One sign-in that is under way. All but the challenge stays with us and the browser."""

    state: str
    nonce: str
    challenge: str
    """SHA-256 of the verifier (RFC 7636)."""
    back_to: str
    """Our own address that the provider sends the browser to."""


@dataclass(frozen=True, slots=True)
class Granted:
    """What the provider gave for a code."""

    id_token: str = field(repr=False)
    access_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Denied:
    """The provider does not take the code."""

    error: str
    """Its word for why (RFC 6749, 5.2)."""


class SignIn(ABC):
    """The provider, as one client of it sees it."""

    @abstractmethod
    def address(self, asked: Asked) -> str:
        """Return where the browser goes to sign in.

        Raises:
            ServiceDown: The provider does not say where that is.
        """

    @abstractmethod
    def redeem(self, code: str, *, verifier: str, back_to: str) -> Granted | Denied:
        """Give a code for its tokens; a code is good once.

        Raises:
            ServiceDown: The provider does not answer.
        """
