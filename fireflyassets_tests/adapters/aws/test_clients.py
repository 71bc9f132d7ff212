"""What the clients are set to. Here: configuration. Not here: requests."""

from collections.abc import Callable

import pytest
from botocore.client import BaseClient

from fireflyassets.adapters.aws import clients
from fireflyassets_tests.aws_clients import aws_environment

ENDPOINT = "http://127.0.0.1:1"


@pytest.mark.parametrize("make", [clients.dynamodb, clients.s3, clients.sqs])
def test_client_reads_the_usual_variables(make: Callable[[], BaseClient]) -> None:
    """Where it connects is the environment's word alone; how long it waits is ours."""
    with aws_environment(ENDPOINT):
        client = make()

    assert client.meta.endpoint_url == ENDPOINT
    assert client.meta.region_name == "eu-west-1"
    assert client.meta.config.retries == {"mode": "standard", "total_max_attempts": 5}
    assert client.meta.config.max_pool_connections == 50
    assert (client.meta.config.connect_timeout, client.meta.config.read_timeout) == (5, 20)
    client.close()


def test_objects_are_signed_in_version_4_and_addressed_by_path() -> None:
    with aws_environment(ENDPOINT):
        client = clients.s3()

    assert client.meta.config.signature_version == "s3v4"
    assert client.meta.config.s3["addressing_style"] == "path"
    client.close()
