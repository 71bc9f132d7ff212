"""What every ledger promises about waves, whatever keeps it.

Here: each write of a wave and the states it may come from. Not here: the jobs in it
(`test_ledger`), what only shows under threads (`test_ledger_races`).
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.core.errors import OwnershipLost
from fireflyassets.ports.entries import Wave, WaveState
from fireflyassets_tests.contracts.ledgers import (
    ACME,
    MINUTE,
    NOON,
    RUN,
    SPRING,
    WAVE,
    World,
    wave,
)

LEASE = NOON + MINUTE


def test_formed_wave_reads_back(ledger_world: World) -> None:
    """A wave keeps its candidates until the winners are known."""
    ledger_world.ledger.form(wave())

    assert ledger_world.ledger.wave(WAVE) == wave()
    assert ledger_world.ledger.wave("unknown") is None


def test_forming_twice_is_once(ledger_world: World) -> None:
    """The same wave again is fine; another under its id is refused and changes nothing."""
    ledger_world.ledger.form(wave())
    ledger_world.ledger.form(wave())

    with pytest.raises(OwnershipLost):
        ledger_world.ledger.form(wave(jobs=("c",)))

    assert ledger_world.ledger.wave(WAVE) == wave()


def test_waves_begin_forming(ledger_world: World) -> None:
    with pytest.raises(ValueError, match="begins forming"):
        ledger_world.ledger.form(wave(state=WaveState.RUNNING))

    assert ledger_world.ledger.wave(WAVE) is None


def test_way_of_a_wave(ledger_world: World) -> None:
    """A wave is formed, launched, launched again, started, drained and ended."""
    ledger = ledger_world.ledger
    ledger.form(wave())
    ledger.formed(WAVE, ["a"])
    assert [ledger.launched(WAVE), ledger.launched(WAVE)] == [1, 2]
    assert ledger.wave(WAVE) == wave(state=WaveState.LAUNCHED, jobs=("a",), launches=2)

    started = ledger.start(WAVE, RUN, lease_until=LEASE)

    assert started == wave(
        state=WaveState.RUNNING, jobs=("a",), launches=2, run_id=RUN, lease_until=LEASE
    )
    assert ledger.heartbeat(WAVE, RUN, lease_until=LEASE + MINUTE)
    ledger.draining(WAVE)
    running = replace(started, lease_until=LEASE + MINUTE, draining=True)
    assert ledger.wave(WAVE) == running
    ledger.end(WAVE)
    assert ledger.wave(WAVE) == replace(running, state=WaveState.ENDED)


@pytest.mark.parametrize("state", [WaveState.FORMING, WaveState.FORMED, WaveState.LAUNCHED])
def test_winners_may_shrink_until_the_run_starts(ledger_world: World, state: WaveState) -> None:
    """The list of a wave is what the last word before its start says."""
    _brought_to(ledger_world, state)

    ledger_world.ledger.formed(WAVE, ["b"])

    assert _standing(ledger_world).jobs == ("b",)
    assert _standing(ledger_world).state is WaveState.FORMED


@pytest.mark.parametrize("state", [WaveState.FORMING, WaveState.FORMED, WaveState.LAUNCHED])
def test_wave_without_winners_has_ended(ledger_world: World, state: WaveState) -> None:
    """A wave that won nothing is no longer open."""
    _brought_to(ledger_world, state)

    ledger_world.ledger.formed(WAVE, [])

    assert _standing(ledger_world).state is WaveState.ENDED
    assert ledger_world.ledger.open_waves() == []


@pytest.mark.parametrize("state", [WaveState.RUNNING, WaveState.ENDED])
def test_late_dispatcher_changes_nothing(ledger_world: World, state: WaveState) -> None:
    """Once a run has the wave, or it has ended, its list and launches stand."""
    _brought_to(ledger_world, state)
    before = _standing(ledger_world)

    with pytest.raises(OwnershipLost):
        ledger_world.ledger.formed(WAVE, ["b"])
    with pytest.raises(OwnershipLost):
        ledger_world.ledger.launched(WAVE)

    assert _standing(ledger_world) == before


def test_wave_is_launched_only_when_formed(ledger_world: World) -> None:
    ledger_world.ledger.form(wave())

    with pytest.raises(OwnershipLost):
        ledger_world.ledger.launched(WAVE)

    assert _standing(ledger_world).launches == 0


@pytest.mark.parametrize("state", [WaveState.FORMED, WaveState.LAUNCHED])
def test_run_starts_a_wave_that_is_ready(ledger_world: World, state: WaveState) -> None:
    """A run that formed its own wave starts it without a launch."""
    _brought_to(ledger_world, state)

    started = ledger_world.ledger.start(WAVE, RUN, lease_until=LEASE)

    assert started == _standing(ledger_world)
    assert started is not None
    assert started.run_id == RUN


@pytest.mark.parametrize("state", [WaveState.FORMING, WaveState.ENDED])
def test_run_starts_no_other_wave(ledger_world: World, state: WaveState) -> None:
    _brought_to(ledger_world, state)

    assert ledger_world.ledger.start(WAVE, RUN, lease_until=LEASE) is None
    assert _standing(ledger_world).state is state


@pytest.mark.parametrize("run_id", ["run-2", RUN])
def test_a_wave_is_started_once(ledger_world: World, run_id: str) -> None:
    """Another run gets nothing, nor does a second process of the same run: each would send."""
    _brought_to(ledger_world, WaveState.RUNNING)

    assert ledger_world.ledger.start(WAVE, run_id, lease_until=LEASE + MINUTE) is None

    standing = _standing(ledger_world)
    assert (standing.run_id, standing.lease_until) == (RUN, LEASE)


def test_heartbeat_is_the_owners_alone(ledger_world: World) -> None:
    """Another run, and the owner of an ended wave, extend nothing."""
    _brought_to(ledger_world, WaveState.RUNNING)

    assert not ledger_world.ledger.heartbeat(WAVE, "run-2", lease_until=LEASE + MINUTE)
    ledger_world.ledger.end(WAVE)
    assert not ledger_world.ledger.heartbeat(WAVE, RUN, lease_until=LEASE + MINUTE)

    assert _standing(ledger_world).lease_until == LEASE


def test_ended_wave_stays_so(ledger_world: World) -> None:
    _brought_to(ledger_world, WaveState.ENDED)
    before = _standing(ledger_world)

    ledger_world.ledger.end(WAVE)

    assert _standing(ledger_world) == before


def test_late_updates_create_no_wave(ledger_world: World) -> None:
    """A wave exists only if it was formed."""
    ledger = ledger_world.ledger

    ledger.draining(WAVE)
    ledger.end(WAVE)
    assert not ledger.heartbeat(WAVE, RUN, lease_until=LEASE)
    assert ledger.start(WAVE, RUN, lease_until=LEASE) is None
    with pytest.raises(OwnershipLost):
        ledger.formed(WAVE, ["a"])

    assert ledger.wave(WAVE) is None


def test_open_waves_are_all_that_have_not_ended(ledger_world: World) -> None:
    """Open waves come whole and the oldest first; there may be more than one page of them."""
    new = [
        wave(f"w-{n:03d}", formed_at=NOON - timedelta(seconds=n), jobs=tuple("abc"))
        for n in range(120)
    ]
    for each in new:
        ledger_world.ledger.form(each)
    ledger_world.ledger.end("w-007")

    found = ledger_world.ledger.open_waves()

    assert found == [each for each in reversed(new) if each.wave_id != "w-007"]


def test_partition_keys_have_one_mover(ledger_world: World) -> None:
    """A second dispatcher waits until the first lets go, or until its lease is over."""
    ledger, until = ledger_world.ledger, NOON + MINUTE

    assert ledger.lease_keys(ACME, SPRING, "a", until=until, now=NOON)
    assert ledger.lease_keys(ACME, SPRING, "a", until=until, now=NOON)
    assert not ledger.lease_keys(ACME, SPRING, "b", until=until, now=NOON)
    assert ledger.lease_keys(ACME, "autumn", "b", until=until, now=NOON)
    ledger.free_keys(ACME, SPRING, "b")
    assert not ledger.lease_keys(ACME, SPRING, "b", until=until, now=NOON)
    ledger.free_keys(ACME, SPRING, "a")
    assert ledger.lease_keys(ACME, SPRING, "b", until=until, now=NOON)
    assert ledger.lease_keys(ACME, SPRING, "a", until=until + MINUTE, now=until)
    assert ledger.open_waves() == []


def _brought_to(world: World, state: WaveState) -> None:
    ledger = world.ledger
    ledger.form(wave())
    if state is WaveState.FORMING:
        return
    ledger.formed(WAVE, ["a", "b"])
    if state is WaveState.LAUNCHED:
        ledger.launched(WAVE)
    if state is WaveState.RUNNING:
        assert ledger.start(WAVE, RUN, lease_until=LEASE) is not None
    if state is WaveState.ENDED:
        ledger.end(WAVE)


def _standing(world: World) -> Wave:
    standing = world.ledger.wave(WAVE)
    assert standing is not None
    return standing
