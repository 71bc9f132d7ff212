"""The limit of an organisation, however many of its credentials are at work.

Here: what leaves in a minute, from above and from below, counted at the vendor's door. Not here:
the limiter's arithmetic, shares between customers (``test_limits.py``).
"""

import asyncio
from bisect import bisect_left
from datetime import datetime, timedelta

import pytest

from fireflyassets.limiter.virtual_time import run
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import ASPECTS, Floor, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue, config

PER_MINUTE = 48
"""80 % of the floor's 60 calls of Firefly a minute."""
CUSTOMERS = ("acme", "bolt", "coda")


def catalogue(customers: tuple[str, ...]) -> FixedCatalogue:
    """Return a campaign for each customer, each with a credential of the same organisation."""
    templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
    return FixedCatalogue(
        *(
            config(
                customer=customer,
                credential=f"{customer}-main",
                aspects=ASPECTS,
                templates=templates,
                recipe=recipe(),
            )
            for customer in customers
        )
    )


async def sends(here: Floor, customers: tuple[str, ...], each: int) -> list[datetime]:
    """Run the customers' waves side by side; return when each call of Firefly came in."""
    times: list[datetime] = []
    here.images.vendor.watch = lambda: times.append(here.clock.now())
    waves = []
    for customer in customers:
        jobs = here.order(each, prefix=customer, customer=customer)
        waves += here.begin(jobs, customer=customer).waves
    assert {wave.credential for wave in waves} == {f"{one}-main" for one in customers}
    await asyncio.gather(*(here.engine(wave).run() for wave in waves))
    return sorted(times)


@pytest.mark.parametrize("customers", [CUSTOMERS[:1], CUSTOMERS[:2], CUSTOMERS], ids=len)
def test_credentials_share_the_limit_of_their_organisation(customers: tuple[str, ...]) -> None:
    """In no minute more than the pace, in the whole hardly less: with one credential or three."""

    async def scenario() -> None:
        here = floor(catalogue=catalogue(customers))
        times = await sends(here, customers, 120 // len(customers))

        assert len(times) == 120
        minute = timedelta(minutes=1)
        most = max(at + 1 - bisect_left(times, t - minute) for at, t in enumerate(times))
        assert most <= PER_MINUTE + 1, "Both ends of a minute may hold a call."
        took = (times[-1] - times[0]) / minute
        assert 0.9 * PER_MINUTE <= len(times) / took <= 1.05 * PER_MINUTE
        books_agree(here)

    run(scenario)
