"""The pace of polls. Here: what a process may ask in a second. Not here: what it is told."""

import asyncio
from itertools import pairwise

import httpx
import pytest

from fireflyassets.adapters.adobe.poll_share import PollShare
from fireflyassets.limiter.virtual_time import run
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import ScriptedAdobe, answering

STATUS = "https://firefly-api.adobe.io/v3/status/1"


@pytest.mark.parametrize("per_second", [10, 25, 0.5])
def test_polls_that_come_at_once_go_out_at_a_steady_pace(per_second: float) -> None:
    """Of twenty polls the first goes at once, and each further one an interval later."""

    async def scenario() -> None:
        share, loop = PollShare(per_second), asyncio.get_running_loop()
        times: list[float] = []

        async def one() -> None:
            await share.turn()
            times.append(loop.time())

        await asyncio.gather(*(one() for _ in range(20)))
        gaps = [later - sooner for sooner, later in pairwise(times)]
        assert gaps == pytest.approx([1 / per_second] * 19)

    run(scenario)


def test_time_that_nobody_used_is_not_made_up_for() -> None:
    """After a quiet hour two polls still keep their distance."""

    async def scenario() -> None:
        share, loop = PollShare(10), asyncio.get_running_loop()
        await share.turn()
        await asyncio.sleep(3600)
        await share.turn()
        first = loop.time()
        await share.turn()
        assert loop.time() - first == pytest.approx(0.1)

    run(scenario)


def test_the_services_of_a_family_share_its_pace() -> None:
    """A poll of the cutter waits for one of the documents: both are Photoshop's."""
    adobe = ScriptedAdobe(answering(httpx.Response(200, json={"status": "running"})))
    slow = bench.settings().model_copy(update={"polls_per_second": 10})

    async def ask(clients: bench.AdobeClients) -> float:
        loop = asyncio.get_running_loop()
        first = loop.time()
        await clients.documents.poll(STATUS)
        await clients.cutter.poll(STATUS)
        await clients.documents.poll(STATUS)
        return loop.time() - first

    assert bench.run(ask, adobe, configured=slow) >= 0.19


def test_uploads_and_listings_share_the_pace_of_polls() -> None:
    """What costs nothing may count to a limit all the same: a crowd of it goes out in a line."""
    listed = httpx.Response(200, json={"custom_models": []})
    adobe = ScriptedAdobe(answering(listed))
    slow = bench.settings().model_copy(update={"polls_per_second": 10})

    async def ask(clients: bench.AdobeClients) -> float:
        loop = asyncio.get_running_loop()
        first = loop.time()
        await clients.images.poll(STATUS)
        await clients.models.models()
        await clients.references.upload(b"\x89PNG\r\n\x1a\n")
        return loop.time() - first

    # A poll, the models in each of seven states, an upload: eight intervals.
    assert bench.run(ask, adobe, configured=slow) >= 0.79
