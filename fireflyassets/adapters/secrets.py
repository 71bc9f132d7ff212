"""Secrets by the scheme of their reference, and those of a mapping of variables.

Belongs here: the choice of the store, the ``env:`` references, the form of a secret. Does not:
reading the environment itself; the composition root hands the mapping in. AWS is in
``adapters/aws/secrets.py``.
"""

import json
import re
from collections.abc import Mapping
from typing import Final, cast

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.ports.secrets import ClientSecret, SecretStore

_REFERENCE: Final = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_VALUE: Final = re.compile(r"[\x21-\x7e]{1,512}")
"""Both go into headers and forms: printable, without spaces."""


class SecretsByScheme(SecretStore):
    """Asks the store that stands for the part of a reference before its first colon."""

    def __init__(self, stores: Mapping[str, SecretStore]) -> None:
        self._stores = dict(stores)

    def read(self, reference: str) -> ClientSecret:
        """Return the secret that *reference* names.

        Raises:
            UnusableConfiguration: There is none, or no store for its scheme.
            SecretUnreachable: The store does not answer now.
        """
        store = self._stores.get(reference.partition(":")[0])
        if store is None:
            known = ", ".join(f"`{scheme}:`" for scheme in self._stores)
            raise UnusableConfiguration(f"A secret reference starts with one of {known}.")
        return store.read(reference)


class EnvironmentSecrets(SecretStore):
    """Reads ``env:NAME``: JSON in ``NAME``, or two variables ``NAME_ID`` and ``NAME_SECRET``.

    A third, ``NAME_SECRET_OLDER``, is the secret that a rotation is about to end.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def read(self, reference: str) -> ClientSecret:
        """Return the secret of *reference*; messages name variables, never their values.

        Raises:
            UnusableConfiguration: A variable is missing or not of the form.
        """
        found = _REFERENCE.fullmatch(reference)
        if found is None:
            raise UnusableConfiguration("A secret reference is `env:NAME`, and this one is not.")
        name = found.group(1)
        if self._variables.get(name, "").strip():
            return from_json(f"Variable {name}", self._variables[name])
        older = f"{name}_SECRET_OLDER"
        return ClientSecret(
            self._plain(f"{name}_ID", name),
            self._plain(f"{name}_SECRET", name),
            self._plain(older, name) if self._variables.get(older, "").strip() else None,
        )

    def _plain(self, variable: str, name: str) -> str:
        value = self._variables.get(variable, "").strip()
        if not value:
            raise UnusableConfiguration(
                f"Variable {variable} is not set; set {name} (JSON) or {name}_ID and {name}_SECRET."
            )
        return _legal(value, f"Variable {variable}")


def from_json(where: str, text: str) -> ClientSecret:
    """Return the secret of ``{"client_id", "client_secret", "older_client_secret"?}``.

    Raises:
        UnusableConfiguration: It is not of that form; the message names *where*, never the text.
    """
    try:
        payload: object = json.loads(text)
    except (ValueError, RecursionError):
        # The decoder's own message quotes the text; it must not be chained.
        payload = None
    if not isinstance(payload, dict):
        raise UnusableConfiguration(f"{where} is not a JSON object.")
    fields = cast("dict[str, object]", payload)
    keys = ("client_id", "client_secret", "older_client_secret")
    given = [key for key in keys if key in fields or key != keys[-1]]
    return ClientSecret(*(_legal(fields.get(key), f"{where}, key {key}") for key in given))


def _legal(value: object, where: str) -> str:
    if not isinstance(value, str) or not _VALUE.fullmatch(value.strip()):
        raise UnusableConfiguration(
            f"{where}: must be 1 to 512 printable characters without spaces."
        )
    return value.strip()
