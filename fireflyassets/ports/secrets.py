"""Secrets as a port: a reference in a file, a value in memory, nothing in between.

Belongs here: turning the one into the other. Does not: tokens (``ports/tokens.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """An Adobe client id and its secret; the secret never shows in a repr."""

    client_id: str
    client_secret: str = field(repr=False)


class SecretStore(ABC):
    """Turns a secret reference of a credential file into the secret."""

    @abstractmethod
    def read(self, reference: str) -> ClientSecret:
        """Return the secret that *reference* names.

        Raises:
            UnusableConfiguration: There is none, or it is not of the form.
        """
