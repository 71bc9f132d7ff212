"""Secrets in AWS Secrets Manager: ``secretsmanager:NAME``, a name or an ARN.

Belongs here: reading a secret's current and previous version. Does not: the form of its text
(``adapters/secrets.py``), rotation itself. Read at each mint, about once a day, and never kept.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from fireflyassets.adapters.secrets import from_json
from fireflyassets.core.errors import SecretUnreachable, UnusableConfiguration
from fireflyassets.ports.secrets import ClientSecret, SecretStore

_REFERENCE: Final = re.compile(r"secretsmanager:([A-Za-z0-9/_+=.@:-]{1,500})")
_FINAL: Final = frozenset(
    {
        "AccessDeniedException",
        "DecryptionFailure",
        "InvalidParameterException",
        "UnrecognizedClientException",
        "ValidationException",
    }
)
"""What asking again does not mend; anything else but a missing version is an outage."""
_NO_VERSION: Final = frozenset({"ResourceNotFoundException", "InvalidRequestException"})


class SecretsClient(Protocol):
    """The one call we make; AWS's own names."""

    def get_secret_value(
        self,
        *,
        SecretId: str,  # noqa: N803 - AWS's name.
        VersionStage: str,  # noqa: N803
    ) -> Mapping[str, object]:
        """Return a version of a secret."""
        ...


class SecretsManager(SecretStore):
    """Reads a secret's current version, and the previous one while a rotation is under way."""

    def __init__(self, client: Callable[[], SecretsClient]) -> None:
        """Take what makes the client: most processes never need it."""
        self._make = client
        self._client: SecretsClient | None = None

    def read(self, reference: str) -> ClientSecret:
        """Return the secret; messages name it, never its value.

        The text is the JSON of ``env:``. Without ``older_client_secret`` in it, the version with
        the stage ``AWSPREVIOUS`` is the older secret, if it is of the same client.

        Raises:
            UnusableConfiguration: There is none, we may not read it, or it is not of the form.
            SecretUnreachable: The service does not answer now.
        """
        found = _REFERENCE.fullmatch(reference)
        if found is None:
            raise UnusableConfiguration("A secret reference here is `secretsmanager:NAME`.")
        name = found.group(1)
        text = self._version(name, "AWSCURRENT")
        if text is None:
            raise UnusableConfiguration(f"There is no secret {name}; store it or mend the name.")
        secret = from_json(f"Secret {name}", text)
        if secret.older_secret is not None:
            return secret
        return replace(secret, older_secret=self._older(secret, name))

    def _older(self, secret: ClientSecret, name: str) -> str | None:
        try:
            text = self._version(name, "AWSPREVIOUS")
            older = from_json(f"Secret {name}", text) if text is not None else secret
        except (UnusableConfiguration, SecretUnreachable):
            return None  # The current one is good by itself.
        usable = older.client_id == secret.client_id and older.client_secret != secret.client_secret
        return older.client_secret if usable else None

    def _version(self, name: str, stage: str) -> str | None:
        """Return a version's text; None where there is none."""
        self._client = self._client or self._make()
        try:
            answer = self._client.get_secret_value(SecretId=name, VersionStage=stage)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in _NO_VERSION:
                return None
            if code in _FINAL:
                raise UnusableConfiguration(f"Secret {name} can't be read ({code}).") from error
            raise SecretUnreachable(f"Secret {name} can't be read now ({code}).") from error
        except BotoCoreError as error:
            kind = type(error).__name__
            raise SecretUnreachable(f"Secret {name} can't be read now ({kind}).") from error
        text = answer.get("SecretString")
        return text if isinstance(text, str) else ""
