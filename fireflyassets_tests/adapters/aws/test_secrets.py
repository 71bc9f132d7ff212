"""Secrets in Secrets Manager: versions, rotation, and errors that tell an outage from a mistake."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.secrets import SecretsManager
from fireflyassets.core.errors import SecretUnreachable, UnusableConfiguration
from fireflyassets.ports.secrets import ClientSecret
from fireflyassets_tests.aws_clients import aws_environment
from fireflyassets_tests.contracts.stores import unique


@pytest.fixture
def client(ministack: str) -> Iterator[Any]:
    """Yield a client with every call of the service, as botocore makes it."""
    with aws_environment(ministack):
        made = cast("Any", clients.secretsmanager())
    yield made
    made.close()


def text(secret: str, **more: str) -> str:
    return json.dumps({"client_id": "acme", "client_secret": secret, **more})


@pytest.mark.stack
def test_secret_is_read_by_name_and_by_arn(client: Any) -> None:  # noqa: ANN401 - botocore's own.
    """Both ways of naming a secret work."""
    name = f"adobe/{unique('secret')}"
    arn = client.create_secret(Name=name, SecretString=text("SECMARK"))["ARN"]
    store = SecretsManager(lambda: client)

    for reference in (name, arn):
        assert store.read(f"secretsmanager:{reference}") == ClientSecret("acme", "SECMARK")


@pytest.mark.stack
def test_rotated_secret_brings_its_predecessor(client: Any) -> None:  # noqa: ANN401
    """After a rotation the previous version is the older secret, without any change of ours."""
    name = unique("rotated")
    client.create_secret(Name=name, SecretString=text("OLDMARK"))
    client.put_secret_value(SecretId=name, SecretString=text("NEWMARK"))

    secret = SecretsManager(lambda: client).read(f"secretsmanager:{name}")

    assert secret == ClientSecret("acme", "NEWMARK", "OLDMARK")


@pytest.mark.stack
def test_missing_secret_is_a_mistake_of_ours(client: Any) -> None:  # noqa: ANN401
    with pytest.raises(UnusableConfiguration, match="no secret adobe/none"):
        SecretsManager(lambda: client).read("secretsmanager:adobe/none")


class Scripted:
    """A service that answers each stage as it is told."""

    def __init__(self, **stages: str | Exception) -> None:
        self.stages = stages

    def get_secret_value(
        self,
        *,
        SecretId: str,  # noqa: N803 - AWS's name.
        VersionStage: str,  # noqa: N803
    ) -> Mapping[str, object]:
        said = self.stages.get(VersionStage, refusal("ResourceNotFoundException"))
        if isinstance(said, Exception):
            raise said
        return {"SecretString": said}


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "quotes SECMARK"}}, "GetSecretValue")


def read(**stages: str | Exception) -> ClientSecret:
    return SecretsManager(lambda: Scripted(**stages)).read("secretsmanager:acme")


def test_nothing_is_made_before_it_is_needed() -> None:
    """A process without such a reference makes no client."""

    def never() -> Scripted:
        raise AssertionError("A client was made.")

    with pytest.raises(UnusableConfiguration, match="secretsmanager:NAME"):
        SecretsManager(never).read("env:ACME")


@pytest.mark.parametrize(
    ("previous", "older"),
    [
        (text("OLDMARK"), "OLDMARK"),
        (text("SECMARK"), None),
        (json.dumps({"client_id": "other", "client_secret": "OLDMARK"}), None),
        ("not json", None),
        (refusal("InternalServiceError"), None),
        (refusal("ResourceNotFoundException"), None),
    ],
)
def test_previous_version_counts_only_for_the_same_client(
    previous: str | Exception, older: str | None
) -> None:
    """A previous version of another client, or a broken one, leaves the current one as it is."""
    secret = read(AWSCURRENT=text("SECMARK"), AWSPREVIOUS=previous)

    assert secret == ClientSecret("acme", "SECMARK", older)


def test_older_secret_in_the_text_comes_first() -> None:
    """Who writes both secrets into one version has the last word."""
    current = text("SECMARK", older_client_secret="WRITTEN")

    assert read(AWSCURRENT=current, AWSPREVIOUS=text("OLDMARK")).older_secret == "WRITTEN"


@pytest.mark.parametrize(
    "failure",
    [
        refusal("InternalServiceError"),
        refusal("ThrottlingException"),
        EndpointConnectionError(endpoint_url="https://secretsmanager"),
    ],
)
def test_outage_is_told_from_a_wrong_secret(failure: Exception) -> None:
    """While the store is down nobody is sent to rotate a secret."""
    with pytest.raises(SecretUnreachable, match="Secret acme") as caught:
        read(AWSCURRENT=failure)
    assert "SECMARK" not in str(caught.value)


@pytest.mark.parametrize("current", [refusal("AccessDeniedException"), "", "SECMARK", "[]"])
def test_unusable_secret_is_named_without_its_value(current: str | Exception) -> None:
    with pytest.raises(UnusableConfiguration, match="Secret acme") as caught:
        read(AWSCURRENT=current)
    assert "SECMARK" not in str(caught.value)
