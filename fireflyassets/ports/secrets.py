"""Secrets as a port: a reference in a file, a value in memory, nothing in between.

Belongs here: turning the one into the other. Does not: tokens (``ports/tokens.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """An Adobe client id and its secrets; a secret never shows in a repr."""

    client_id: str
    client_secret: str = field(repr=False)
    older_secret: str | None = field(default=None, repr=False)
    """Still good while a rotation is under way: two may live at a time."""

    def rotated_back(self) -> "ClientSecret":
        """Return the same client with the older secret in the newer one's place.

        Raises:
            ValueError: There is no older one.
        """
        if self.older_secret is None:
            raise ValueError("There is no older secret.")
        return ClientSecret(self.client_id, self.older_secret, self.client_secret)


class SecretStore(ABC):
    """Turns a secret reference of a credential file into the secret."""

    @abstractmethod
    def read(self, reference: str) -> ClientSecret:
        """Return the secret that *reference* names.

        Raises:
            UnusableConfiguration: There is none, or it is not of the form.
            SecretUnreachable: The store does not answer now.
        """
