"""The sensor `watch` as Dagster evaluates it: its cursor carries the minutes on."""

from datetime import timedelta

import dagster as dg

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.core.failure import Family
from fireflyassets.definitions import build_definitions
from fireflyassets.limiter.port import item_key
from fireflyassets.stages.watch import Memory
from fireflyassets_tests.defs.location import ports
from fireflyassets_tests.floor import floor

FIREFLY = item_key("ORG", Family.FIREFLY)


def test_the_cursor_carries_one_look_to_the_next() -> None:
    """Two ticks, a minute apart: the second knows the first, and since when nothing moves."""
    here = floor(clock=FakeClock())
    assert isinstance(here.clock, FakeClock)
    here.order(2)
    here.shop.limiter.register(FIREFLY, here.shop.limits("ORG", Family.FIREFLY))
    given = ports(here)
    defs = build_definitions(here.shop.catalogue.campaigns(), given)
    sensor = defs.get_repository_def().get_sensor_def("watch")
    cursor = None
    begun = here.clock.now()
    with dg.DagsterInstance.ephemeral() as instance:
        for _ in range(2):
            here.clock.jump(timedelta(minutes=1))
            context = dg.build_sensor_context(instance=instance, cursor=cursor, resources=given)
            cursor = sensor.evaluate_tick(context).cursor

    memory = Memory.read(cursor)
    assert [one.at - begun for one in memory.samples[FIREFLY]] == [
        timedelta(minutes=1),
        timedelta(minutes=2),
    ]
    assert memory.quiet_since == {"ORG": begun + timedelta(minutes=1)}
