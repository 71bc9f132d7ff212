"""A campaign that is added while a wave works: it gets its assets, and the wave goes on."""

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from fireflyassets.adapters.aws.ledger import DynamoLedger
from fireflyassets.adapters.campaign_store import FileCampaignStore
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.job import JobRow
from fireflyassets.core.status import Status
from fireflyassets.local.launching import launched
from fireflyassets.local.reloading import Reloading
from fireflyassets.local.service import pause
from fireflyassets.local.stack import Stack
from fireflyassets.ports.campaign_store import Added
from fireflyassets.settings import Settings
from fireflyassets_tests.scenarios.test_kill_worker import client, options

pytestmark = [pytest.mark.stack, pytest.mark.whole]

PROJECT = Path(__file__).parents[2]
SIZE = "1024x1024"
PATIENCE_SECONDS = 120.0


def campaign(name: str) -> dict[str, object]:
    """Return a campaign of one picture."""
    return {
        "customer": "acme",
        "campaign": name,
        "title": name,
        "credential": "main",
        "locales": ["en-GB"],
        "aspects": [SIZE],
        "recipe": {"steps": [{"name": "art", "kind": "generate", "size": SIZE}]},
    }


def write_project(folder: Path) -> None:
    """Write a project with one campaign, paced to 24 calls a minute."""
    folder.mkdir()
    for name in ("dagster.yaml", "workspace.yaml"):
        shutil.copyfile(PROJECT / name, folder / name)
    shutil.copytree(PROJECT / "rates", folder / "rates")
    limit = {"as_of": "2026-11-30", "source": "a test", "per_minute": 30}
    files: dict[str, object] = {
        "campaigns/acme/spring/campaign.yaml": campaign("spring"),
        "credentials/main.yaml": {
            "organisation": "ORG@AdobeOrg",
            "secret": "env:ADOBE_MAIN",
            "scopes": ["openid", "AdobeID", "firefly_api", "ff_apis"],
            "customers": ["acme"],
        },
        "limits/org.yaml": {
            "organisation": "ORG@AdobeOrg",
            "families": {"firefly": [limit], "photoshop": [limit]},
        },
    }
    for path, said in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(said), encoding="utf-8")


class Place:
    """A running stack, and what a test asks of it."""

    def __init__(self, stack: Stack, project: Path) -> None:
        self.stack = stack
        self.said: list[str] = []
        self.reloading = Reloading(stack, project, SystemClock(), self.said.append)
        prefix = Settings().table_prefix
        self.ledger = DynamoLedger(client("dynamodb", stack), prefix=prefix)

    def post(self, name: str, prompts: Mapping[str, str]) -> httpx.Response:
        """Send a brief of jobs, by key and prompt."""
        rows = "".join(f"{key},{said},en-GB,Spring,{SIZE}\n" for key, said in prompts.items())
        return httpx.post(
            f"{self.stack.access.url('api')}/v1/jobs:batch",
            params={"campaign": name},
            content=f"key,prompt,locale,headline,aspects\n{rows}".encode(),
            headers={
                "Content-Type": "text/csv",
                "Authorization": f"Bearer {self.stack.access.tokens['acme']}",
            },
            timeout=30,
        )

    def send(self, name: str, count: int) -> bool:
        """Send a brief; False: the API does not know the campaign yet."""
        return self.post(name, {f"{name}-{n}": "A glass" for n in range(count)}).is_success

    def rows(self, name: str) -> list[JobRow]:
        """Return a campaign's rows, read consistently."""
        known = self.ledger.campaign_jobs("acme", name)
        return list(self.ledger.jobs("acme", [row.job_id for row in known]).values())

    def done(self, name: str) -> int:
        """Return how many of a campaign's jobs are done."""
        return sum(row.status is Status.SUCCEEDED for row in self.rows(name))

    def until(self, name: str, count: int) -> None:
        """Keep the stack as `up` does until so many jobs of a campaign are done."""
        began = time.monotonic()
        while self.done(name) < count:
            self.stack.watch()
            self.reloading.look()
            if time.monotonic() - began > PATIENCE_SECONDS:
                told = {row.reason for row in self.rows(name)}
                pytest.fail(f"{self.done(name)} of {count} jobs of {name} are done: {told}")
            pause(0.5)


def test_a_new_campaign_is_loaded_while_a_wave_works(tmp_path: Path) -> None:
    """Its first job is made soon, by a run of its own; no other job notices."""
    project = tmp_path / "project"
    write_project(project)
    said: list[str] = []
    with launched(options(project, tmp_path / "state"), said.append) as stack:
        place = Place(stack, project)
        assert place.send("spring", 30)
        place.until("spring", 2)
        config = CampaignConfig.model_validate(campaign("autumn"))
        assert isinstance(FileCampaignStore(project).add(config), Added)
        added = time.monotonic()
        while not place.send("autumn", 2):
            assert time.monotonic() - added < PATIENCE_SECONDS
            place.reloading.look()
            pause(0.5)
        place.until("autumn", 2)
        place.until("spring", 30)
        rows = place.rows("spring")

    assert place.said == ["Loading acme/autumn: its assets appear within seconds."]
    assert {(row.crashes, row.attempts) for row in rows} == {(0, 0)}
    assert len({row.run_id for row in rows}) <= 2
