"""Secrets from variables: both forms, and errors that name the variable but never its value."""

import json

import pytest

from fireflyassets.adapters.secrets import EnvironmentSecrets, SecretsByScheme
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.ports.secrets import ClientSecret

PAIR = {"client_id": "acme", "client_secret": "SECMARK"}


@pytest.mark.parametrize(
    "variables",
    [
        {"ACME": json.dumps(PAIR)},
        {"ACME": json.dumps({**PAIR, "more": 1})},
        {"ACME": f" {json.dumps(PAIR)}\n"},
        {"ACME_ID": "acme", "ACME_SECRET": "SECMARK"},
        {"ACME": "", "ACME_ID": "acme", "ACME_SECRET": "SECMARK\n"},
    ],
)
def test_both_forms_are_read(variables: dict[str, str]) -> None:
    """One JSON variable, as a secret store injects it, or two plain ones."""
    secret = EnvironmentSecrets(variables).read("env:ACME")

    assert secret == ClientSecret("acme", "SECMARK")
    assert "SECMARK" not in repr(secret)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({}, "ACME_ID"),
        ({"ACME_ID": "acme"}, "ACME_SECRET"),
        ({"ACME_ID": "acme", "ACME_SECRET": " "}, "ACME_SECRET"),
        ({"ACME_ID": "acme", "ACME_SECRET": "SECMARK with spaces"}, "ACME_SECRET"),
        ({"ACME_ID": "acme", "ACME_SECRET": "SECMARK\u00e9"}, "ACME_SECRET"),
        ({"ACME": "SECMARK"}, "ACME "),
        ({"ACME": '["SECMARK"]'}, "ACME "),
        ({"ACME": '{"client_id": "acme"}'}, "client_secret"),
        ({"ACME": '{"client_id": "", "client_secret": "SECMARK"}'}, "client_id"),
        ({"ACME": '{"client_id": 7, "client_secret": "SECMARK"}'}, "client_id"),
        ({"ACME": '{"client_id": "a\\nb", "client_secret": "SECMARK"}'}, "client_id"),
    ],
)
def test_error_names_the_variable_not_its_value(variables: dict[str, str], named: str) -> None:
    """Whoever reads the error knows what to mend, and learns no secret."""
    with pytest.raises(UnusableConfiguration, match=named) as caught:
        EnvironmentSecrets(variables).read("env:ACME")

    assert "SECMARK" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "variables",
    [
        {"ACME": json.dumps({**PAIR, "older_client_secret": "OLDMARK"})},
        {"ACME_ID": "acme", "ACME_SECRET": "SECMARK", "ACME_SECRET_OLDER": "OLDMARK"},
    ],
)
def test_two_secrets_live_during_a_rotation(variables: dict[str, str]) -> None:
    """The older secret is read beside the newer one, and neither shows."""
    secret = EnvironmentSecrets(variables).read("env:ACME")

    assert secret == ClientSecret("acme", "SECMARK", "OLDMARK")
    assert secret.rotated_back() == ClientSecret("acme", "OLDMARK", "SECMARK")
    assert "MARK" not in repr(secret)


def test_scheme_of_a_reference_chooses_the_store() -> None:
    """A reference goes to the store of its scheme; an unknown scheme is named without the rest."""
    here = {"ACME_ID": "acme", "ACME_SECRET": "SECMARK"}
    store = SecretsByScheme({"env": EnvironmentSecrets(here)})

    assert store.read("env:ACME") == ClientSecret("acme", "SECMARK")
    with pytest.raises(UnusableConfiguration, match="`env:`") as caught:
        store.read("SECMARK:ACME")
    assert "SECMARK" not in str(caught.value)


@pytest.mark.parametrize(
    "reference", ["", "ACME", "env:", "env:A-B", "env:1A", "file:ACME", "env:A "]
)
def test_other_references_are_refused(reference: str) -> None:
    """Only `env:NAME` is a reference; a secret pasted in its place is not echoed."""
    with pytest.raises(UnusableConfiguration, match="env:NAME"):
        EnvironmentSecrets({}).read(reference)
