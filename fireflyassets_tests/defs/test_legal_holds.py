"""The sensor of legal holds: slice by slice through all files, and round again."""

from collections.abc import Mapping

import dagster as dg
import pytest

from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.retention import meeting
from fireflyassets.defs import sensors
from fireflyassets_tests.front_door import FixedCatalogue, config

JOB = "acme/spring-launch/0a0b0c0d-1111-5111-8111-111111111111"


def tick(ports: Mapping[str, object], cursor: str | None = None) -> tuple[str, str | None]:
    """Let the sensor tick once; return what it says, and its cursor."""
    with dg.build_sensor_context(resources=dict(ports), cursor=cursor) as context:
        told = sensors.legal_holds_sensor.evaluate_tick(context)
    assert told.skip_message is not None
    return told.skip_message, told.cursor


def test_each_file_is_looked_at_once_in_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moved ones too; a hold that somebody tagged on the last of them is honoured."""
    monkeypatch.setattr(sensors, "_FILES", 2)
    objects = MemoryObjects()
    keys = [f"{JOB}/{name}/a.jpg" for name in ("1x1", "2x2")] + [f"rejected/{JOB}/3x3/a.jpg"]
    for key in (*keys, "globex/x/y/1x1/a.jpg"):
        tags = {"retention": "standard", "Legal-Hold": "yes" if "3x3" in key else "no"}
        objects.put(key, b"picture", media_type="image/jpeg", tags=tags)
    ports = {
        "ledger": MemoryLedger(),
        "objects": objects,
        "catalogue": FixedCatalogue(config()),
        "clock": FakeClock(),
    }

    first, cursor = tick(ports)
    second, end = tick(ports, cursor)

    assert first == "2 files looked at, 0 of them mended."
    assert second == "1 files looked at, 1 of them mended."
    assert not end, "the next tick begins anew"
    assert meeting(keys[-1], objects.tags(keys[-1]) or {}) == []
