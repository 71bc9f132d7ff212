"""Secrets from a mapping of variables, as the process environment is one.

Belongs here: the ``env:`` references. Does not: reading the environment itself; the composition
root hands the mapping in.
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


class EnvironmentSecrets(SecretStore):
    """Reads ``env:NAME``: JSON in ``NAME``, or two variables ``NAME_ID`` and ``NAME_SECRET``."""

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
            return _from_json(name, self._variables[name])
        return ClientSecret(self._plain(f"{name}_ID", name), self._plain(f"{name}_SECRET", name))

    def _plain(self, variable: str, name: str) -> str:
        value = self._variables.get(variable, "").strip()
        if not value:
            raise UnusableConfiguration(
                f"Variable {variable} is not set; set {name} (JSON) or {name}_ID and {name}_SECRET."
            )
        return _legal(value, variable)


def _from_json(name: str, text: str) -> ClientSecret:
    try:
        payload: object = json.loads(text)
    except (ValueError, RecursionError):
        # The decoder's own message quotes the text; it must not be chained.
        payload = None
    if not isinstance(payload, dict):
        raise UnusableConfiguration(f"Variable {name} is not a JSON object.")
    fields = cast("dict[str, object]", payload)
    parts = [
        _legal(fields.get(key), f"{name}, key {key}") for key in ("client_id", "client_secret")
    ]
    return ClientSecret(*parts)


def _legal(value: object, where: str) -> str:
    if not isinstance(value, str) or not _VALUE.fullmatch(value.strip()):
        raise UnusableConfiguration(
            f"Variable {where}: must be 1 to 512 printable characters without spaces."
        )
    return value.strip()
