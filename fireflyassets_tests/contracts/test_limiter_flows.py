"""What every limiter promises to tenants whose waves come and go.

Here: the turns that are kept by a flow's name, over memory, DynamoDB and Redis. Not here: the order
of turns itself (`test_limiter`), and what each gets in the long run (`test_sharing`).
"""

from datetime import timedelta

from fireflyassets.limiter.arithmetic import ROUND
from fireflyassets.limiter.port import Flow, Granted, Parked, ParkReason
from fireflyassets_tests.limiter.worlds import World, granted, per_minute


def test_a_tenants_next_wave_begins_where_its_last_one_ended(world: World) -> None:
    """Whoever asks as a newcomer again and again goes last all the same, in any process."""
    limiter = world.limiter(per_minute(4))
    limiter.reserve(world.item, 12)
    limiter.reserve(world.item, 1)
    world.clock.advance(170)
    short = Flow("short", ROUND)
    first = limiter.reserve(world.item, 1, flow=short)
    assert isinstance(first, Granted)

    again = world.limiter().reserve(world.item, 1, flow=short)
    other = limiter.reserve(world.item, 1, flow=Flow("long", ROUND))

    assert isinstance(again, Parked)
    assert again.reason is ParkReason.NOT_YOUR_TURN
    assert isinstance(other, Granted)
    assert other.turn == first.turn
    world.clock.at = again.until + timedelta(seconds=20)
    late = world.limiter().reserve(world.item, 1, flow=short)
    assert isinstance(late, Granted)
    assert late.turn == first.turn + ROUND


def test_a_turn_of_other_rounds_holds_nobody_back(world: World) -> None:
    """A turn kept far ahead, by a clock that ran ahead, costs one ticket's stride and no more."""
    limiter = world.limiter(per_minute(4))
    limiter.reserve(world.item, 12)
    limiter.reserve(world.item, 1)
    world.clock.advance(170)
    limiter.reserve(world.item, 1, flow=Flow("acme", 10**6 * ROUND))
    now = granted(limiter, world.item).turn

    world.clock.advance(45)
    parked = limiter.reserve(world.item, 1, flow=Flow("acme", ROUND))
    assert isinstance(parked, Parked)
    world.clock.at = parked.until
    answer = limiter.reserve(world.item, 1, flow=Flow("acme", ROUND))

    assert isinstance(answer, Granted)
    assert answer.turn
    assert answer.turn <= now + ROUND
