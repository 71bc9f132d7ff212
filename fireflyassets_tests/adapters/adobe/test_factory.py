"""The wiring: what it refuses, and that nothing is sent by it."""

import asyncio

import pytest

from fireflyassets.adapters.adobe.workshop import AdobeWorkshop
from fireflyassets.adapters.memory.tokens import MemoryTokens
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import Family
from fireflyassets.ports.tokens import TokenCounts
from fireflyassets.ports.workshop import PaidServices
from fireflyassets.settings import Settings
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import ScriptedAdobe, answering


async def families(clients: bench.AdobeClients) -> tuple[Family, Family]:
    """Return the families of the two services."""
    return clients.images.family, clients.documents.family


def test_wiring_sends_nothing() -> None:
    """Clients are there, and no token was asked for."""
    adobe = ScriptedAdobe(answering(bench.accepted()))

    assert bench.run(families, adobe) == (Family.FIREFLY, Family.PHOTOSHOP)
    assert adobe.mints == 0


def test_default_settings_fit_together() -> None:
    """Adobe's own addresses are on the default list."""
    assert bench.run(families, configured=Settings()) == (Family.FIREFLY, Family.PHOTOSHOP)


@pytest.mark.parametrize("name", ["ims_url", "firefly_url", "photoshop_url", "image_url"])
@pytest.mark.parametrize(
    "url", ["https://evil.com", "http://firefly-api.adobe.io", "firefly-api.adobe.io", ""]
)
def test_address_off_the_list_is_refused(name: str, url: str) -> None:
    """A base address that may not see credentials stops the start, and is named."""
    configured = bench.settings().model_copy(update={name: url})

    with pytest.raises(UnusableConfiguration, match=name):
        bench.run(families, configured=configured)


def test_address_with_a_path_is_refused() -> None:
    """Paths are ours to add."""
    configured = bench.settings().model_copy(
        update={"firefly_url": "https://firefly-api.adobe.io/v3"}
    )

    with pytest.raises(UnusableConfiguration, match="firefly_url"):
        bench.run(families, configured=configured)


def test_workshop_opens_and_closes_clients() -> None:
    """The port hands out both services of a credential for as long as it is open."""
    clock = bench.FakeClock()
    # Opening asks for a token: here, a port on which nobody listens.
    nowhere = bench.settings(["127.0.0.1:9"], base="http://127.0.0.1:9")
    workshop = AdobeWorkshop(nowhere, bench.SECRETS, MemoryTokens(clock), clock)

    async def use() -> PaidServices:
        async with workshop.open(bench.CREDENTIAL) as services:
            return services

    services = asyncio.run(use())

    assert services.images.family is Family.FIREFLY
    assert services.documents.family is Family.PHOTOSHOP
    assert services.token_counts() == TokenCounts(calls=0, mints=0)
