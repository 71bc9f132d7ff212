"""What a process pays before it works on anything: the location of two hundred campaigns."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.adapters.readings import Readings

REPOSITORY = Path(__file__).parents[2]
SAMPLE = REPOSITORY / "campaigns" / "acme" / "spring-launch"
LOADING = """
import json, time
import dagster
from fireflyassets import definitions
began, cpu = time.perf_counter(), time.process_time()
repository = definitions.defs().get_repository_def()
took, spent = time.perf_counter() - began, time.process_time() - cpu
high = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
keys = repository.asset_graph.get_all_asset_keys()
print(json.dumps({
    "campaigns": sum(key.path[-1] == "deliveries" for key in keys),
    "cpu_s": round(spent, 2), "wall_s": round(took, 2), "peak_mb": int(high.split()[1]) // 1000,
}))
"""


def campaigns(root: Path, count: int) -> None:
    """Write *count* campaigns of one customer, each with a folder of its own."""
    for part in ("credentials", "guardrails", "rates", "limits"):
        shutil.copytree(REPOSITORY / part, root / part)
    for number in range(count):
        folder = root / "campaigns" / "acme" / f"season-{number}"
        shutil.copytree(SAMPLE, folder)
        path = folder / "campaign.yaml"
        said = path.read_text(encoding="utf-8")
        path.write_text(said.replace("campaign: spring-launch", f"campaign: season-{number}"))


@pytest.mark.full
def test_two_hundred_campaigns_load_in_five_seconds_and_200_mb(tmp_path: Path) -> None:
    """CPU seconds, since others may use the machine; they share their documents and fonts."""
    campaigns(tmp_path, 200)
    variables = {"FIREFLYASSETS_PROJECT": str(tmp_path), "FIREFLYASSETS_METRICS_NAMESPACE": ""}

    told = subprocess.run(  # noqa: S603 - the text above.
        [sys.executable, "-W", "ignore", "-c", LOADING],
        env={**os.environ, "AWS_DEFAULT_REGION": "eu-central-1", **variables},  # noqa: TID251
        capture_output=True,
        text=True,
        check=True,
    )

    found = json.loads(told.stdout.splitlines()[-1])
    print(found)  # noqa: T201 - a figure that people look at.
    assert found["campaigns"] == 200
    assert found["cpu_s"] < 5
    assert found["peak_mb"] < 200


def test_a_document_that_campaigns_share_is_read_once(tmp_path: Path) -> None:
    """Nor is it read again when another file of the project changes; a changed one is."""
    campaigns(tmp_path, 2)

    first = FileCatalogue(tmp_path)
    later = FileCatalogue(tmp_path, earlier=first)

    assert len(first.campaigns()) == 2
    assert len(first.readings.met) == 6
    assert later.readings.met.items() == first.readings.met.items()
    assert all(later.readings.met[key] is met for key, met in first.readings.met.items())


def test_what_no_file_holds_any_more_is_not_kept() -> None:
    """A process that runs for months does not keep every document that it ever met."""
    first = Readings()
    first.of(b"old", bytes.upper)

    second = Readings(first)
    second.of(b"new", bytes.upper)

    assert list(second.met.values()) == [b"NEW"]
    assert Readings(second).of(b"new", bytes.upper) == b"NEW"
