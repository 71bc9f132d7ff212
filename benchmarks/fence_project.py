"""The fence's bench: its project folder, its faults, its processes' environment.

Belongs here: customers, limits and what the simulated Adobe does to them. Does not: killing.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bench_project
import httpx
from bench_project import PROJECT

SIDE = "1080x1080"
PICTURE = "1024x1024"
ART, LAYOUT = "art", f"layout.{SIDE}"
PER_MINUTE = 200
WAVE_JOBS = 8
TOKENS = ("--token-ttl", "9")
"""A token is used until five seconds before its end: these serve for four."""
LEASE, SUBMIT_TIMEOUT = "PT10S", "PT3S"


@dataclass(frozen=True)
class Tenant:
    """A customer with an organisation of its own."""

    name: str
    composes: bool
    per_minute: int = PER_MINUTE
    on_failure: str | None = None
    """Of the picture's step."""

    @property
    def organisation(self) -> str:
        """Return the name of its organisation."""
        return f"{self.name.upper()}@AdobeOrg"

    @property
    def steps(self) -> tuple[str, ...]:
        """Return its paid steps, in order."""
        return (ART, LAYOUT) if self.composes else (ART,)


TENANTS = (
    Tenant("ash", composes=False),
    Tenant("birch", composes=False),
    Tenant("cedar", composes=True),
    Tenant("elm", composes=False),
    Tenant("fir", composes=True),
)


def write(folder: Path, tenants: Sequence[Tenant]) -> None:
    """Write a project with one campaign for each tenant."""
    bench_project.bare(folder)
    for tenant in tenants:
        campaign = folder / "campaigns" / tenant.name / "bench"
        campaign.mkdir(parents=True)
        if tenant.composes:
            template = PROJECT / "campaigns" / "acme" / "spring-launch" / f"{SIDE}.psd"
            shutil.copyfile(template, campaign / f"{SIDE}.psd")
        name, organisation, limit = tenant.name, tenant.organisation, tenant.per_minute
        bench_project.put(campaign / "campaign.yaml", _campaign(tenant))
        bench_project.credential(folder, name, organisation, [name])
        bench_project.limits(folder, name, organisation, firefly=limit, photoshop=limit)


def _campaign(tenant: Tenant) -> dict[str, object]:
    art = {"name": ART, "kind": "generate", "size": PICTURE}
    if tenant.on_failure:
        art["on_failure"] = tenant.on_failure
    inputs = {"Hero": "art.picture", "Headline": "job.headline"}
    layout = {"name": "layout", "kind": "compose", "inputs": inputs}
    return {
        "customer": tenant.name,
        "campaign": "bench",
        "title": f"Bench of {tenant.name}",
        "credential": tenant.name,
        "locales": ["en-GB"],
        "aspects": [SIDE if tenant.composes else PICTURE],
        "templates": {SIDE: f"{SIDE}.psd"} if tenant.composes else {},
        "recipe": {"steps": [art, layout] if tenant.composes else [art]},
    }


def settings() -> dict[str, str]:
    """Return the settings under which everything runs."""
    return {
        "FIREFLYASSETS_LEASE": LEASE,
        "FIREFLYASSETS_SUBMIT_TIMEOUT": SUBMIT_TIMEOUT,
        "FIREFLYASSETS_WAVE_JOBS": str(WAVE_JOBS),
    }


FAULTS: tuple[dict[str, object], ...] = (
    # Accept, bill, and say nothing: one submit in twenty.
    {"when": {"probability": 0.05}, "then": {"kind": "drop"}},
    {
        "when": {"probability": 0.02},
        "then": {"kind": "answer", "status": 504, "accept": True, "body": "<html>timeout</html>"},
    },
    # What widens the windows, from the vendor's side alone.
    {"when": {"probability": 0.35}, "then": {"kind": "delay", "before_seconds": 1.4}},
    {"when": {"probability": 0.35}, "then": {"kind": "delay", "after_seconds": 0.9}},
    # A token that ends while a send waits for its turn is fetched anew between row and submit.
    {"when": {"endpoint": "token"}, "then": {"kind": "delay", "before_seconds": 1.0}},
)


def set_faults(twin: str) -> None:
    """Put the bench's faults in force."""
    httpx.post(f"{twin}/_twin/faults", json=FAULTS, trust_env=False).raise_for_status()


def end_tokens(twin: str) -> None:
    """End all tokens, so that the next submits fetch one."""
    httpx.delete(f"{twin}/_twin/tokens", trust_env=False).raise_for_status()


def calls(twin: str, *, after: str = "") -> list[dict[str, object]]:
    """Return the twin's list of calls on paid endpoints, behind the call *after*."""
    params = {"after": after} if after else {}
    answer = httpx.get(f"{twin}/_twin/calls", params=params, trust_env=False, timeout=30.0)
    return answer.raise_for_status().json()["calls"]


def minted(twin: str) -> int:
    """Return how many access tokens the twin has made so far."""
    answer = httpx.get(f"{twin}/_twin/summary", trust_env=False, timeout=30.0)
    return sum(answer.raise_for_status().json()["mints"].values())
