"""Waves in the DynamoDB ledger, from forming to ended.

Belongs here: the wave's own item and its lease; the lease of a campaign's partition keys.
Does not: the jobs in it. Each write states the states that it may come from, so that a sweep and a
run never both have their way.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import uuid4

from fireflyassets.adapters.aws import attributes as to
from fireflyassets.adapters.aws import codec
from fireflyassets.adapters.aws.attributes import Item
from fireflyassets.adapters.aws.database import Applied, Lost, query
from fireflyassets.adapters.aws.expressions import Change, Condition, new, put, update
from fireflyassets.adapters.aws.ledger_base import LedgerBase
from fireflyassets.adapters.aws.tables import OPEN_WAVES
from fireflyassets.adapters.ledger_rules import BEFORE_RUN, STARTABLE, check_forming
from fireflyassets.core.errors import OwnershipLost
from fireflyassets.ports.entries import Wave, WaveState

_EXISTS = Condition("attribute_exists(#waveId)")
_STARTER: Final = "starter"
"""Names the call that started a wave, so that a retry of it knows its own write."""


class LedgerWaves(LedgerBase):
    """The waves' part of the ledger."""

    def lease_keys(
        self, customer: str, campaign: str, owner: str, *, until: datetime, now: datetime
    ) -> bool:
        """Take the right to move a campaign's partition keys; False while another's lasts."""
        change = Change({"owner": to.text(owner), "leaseUntil": to.instant(until)})
        free = Condition(
            "attribute_not_exists(#owner) OR #owner = :owner OR #leaseUntil <= :now",
            {":owner": to.text(owner), ":now": to.instant(now)},
        )
        request = update(self._tables.waves, codec.keys_key(customer, campaign), change, free)
        return isinstance(self._database.update(request), Applied)

    def free_keys(self, customer: str, campaign: str, owner: str) -> None:
        """Give that right back; another's stays."""
        change = Change({"owner": None, "leaseUntil": None})
        mine = Condition("#owner = :owner", {":owner": to.text(owner)})
        key = codec.keys_key(customer, campaign)
        self._database.update(update(self._tables.waves, key, change, mine))

    def form(self, wave: Wave) -> None:
        """Write a new wave, ``forming``, with its candidates; the same one again is fine."""
        check_forming(wave)
        item = codec.wave_item(wave)
        answer = self._database.put(put(self._tables.waves, item, new("waveId")))
        if isinstance(answer, Lost) and answer.item != item:
            raise OwnershipLost(f"Wave {wave.wave_id} exists already.")
        self._remember(wave.wave_id, wave.campaign)

    def formed(self, wave_id: str, jobs: Sequence[str]) -> None:
        """Write the winners' list; an empty list ends the wave."""
        state = WaveState.FORMED if jobs else WaveState.ENDED
        change = Change({"state": to.text(state), "jobs": to.texts(jobs)} | _closing(state))
        if isinstance(self._change(wave_id, change, _among(BEFORE_RUN)), Lost):
            raise _gone(wave_id)

    def launched(self, wave_id: str) -> int:
        """Count a launch and return its number."""
        change = Change({"state": to.text(WaveState.LAUNCHED)}, adds={"launches": 1})
        answer = self._change(wave_id, change, _among(STARTABLE))
        if isinstance(answer, Lost):
            raise _gone(wave_id)
        return codec.wave_of(answer.item).launches

    def wave(self, wave_id: str) -> Wave | None:
        """Return a wave, read consistently."""
        item = self._database.get(self._tables.waves, codec.wave_key(wave_id))
        return codec.wave_of(item) if item else None

    def open_waves(self) -> list[Wave]:
        """Return the waves that have not ended, the oldest first.

        The index knows which there are, maybe late; what they are is read consistently.
        """
        condition = Condition("#open = :open", {":open": to.text(codec.OPEN)})
        found = self._database.pages(query(self._tables.waves, condition, index=OPEN_WAVES.name))
        keys: list[Item] = [{"waveId": item["waveId"]} for item in found]
        waves = map(codec.wave_of, self._database.get_many(self._tables.waves, keys))
        still_open = [wave for wave in waves if wave.state is not WaveState.ENDED]
        return sorted(still_open, key=lambda wave: (wave.formed_at, wave.wave_id))

    def start(self, wave_id: str, run_id: str, *, lease_until: datetime) -> Wave | None:
        """Bind the wave to a run, once, whichever run asks again.

        The client sends a write again when its answer was lost; the start that then stands in the
        way is our own, and says so.
        """
        starter = to.text(str(uuid4()))
        change = Change(
            {
                "state": to.text(WaveState.RUNNING),
                "runId": to.text(run_id),
                "leaseUntil": to.instant(lease_until),
                _STARTER: starter,
            }
        )
        free, mine = _among(STARTABLE), _running(run_id)
        ours = f"({mine.text} AND #{_STARTER} = :starter)"
        values = {**free.values, **mine.values, ":starter": starter}
        either = Condition(f"{free.text} OR {ours}", values)
        answer = self._change(wave_id, change, either)
        if isinstance(answer, Lost):
            return None
        wave = codec.wave_of(answer.item)
        self._remember(wave_id, wave.campaign)
        return wave

    def heartbeat(self, wave_id: str, run_id: str, *, lease_until: datetime) -> bool:
        """Extend the lease; False if the wave is not this run's any more."""
        change = Change({"leaseUntil": to.instant(lease_until)})
        return isinstance(self._change(wave_id, change, _running(run_id)), Applied)

    def draining(self, wave_id: str) -> None:
        """Note that the wave needs no more first tickets; an unknown wave stays unknown."""
        self._change(wave_id, Change({"draining": to.flag(value=True)}), _EXISTS)

    def end(self, wave_id: str) -> None:
        """Close the wave; one that has ended stays so, an unknown one stays unknown."""
        ended = Change({"state": to.text(WaveState.ENDED)} | _closing(WaveState.ENDED))
        self._change(wave_id, ended, _EXISTS)

    def _change(self, wave_id: str, change: Change, condition: Condition) -> Applied | Lost:
        request = update(self._tables.waves, codec.wave_key(wave_id), change, condition)
        return self._database.update(request)


def _among(states: Iterable[WaveState]) -> Condition:
    values = {f":{state.value}": to.text(state) for state in sorted(states)}
    return Condition(f"#state IN ({', '.join(values)})", values)


def _running(run_id: str) -> Condition:
    return Condition(
        "(#state = :running AND #runId = :run)",
        {":running": to.text(WaveState.RUNNING), ":run": to.text(run_id)},
    )


def _closing(state: WaveState) -> dict[str, None]:
    return {"open": None} if state is WaveState.ENDED else {}


def _gone(wave_id: str) -> OwnershipLost:
    return OwnershipLost(f"Wave {wave_id} runs already, has ended, or was never formed.")
