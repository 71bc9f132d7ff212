"""The bench of plans: its project folder and its briefs.

Belongs here: one customer, one campaign of pictures in one template, rows. Does not: running.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import bench_project
from bench_project import PROJECT
from bench_stack import HEADER

SIDE = "1080x1080"
CUSTOMER, CAMPAIGN, PICTURED = "ash", "bench", "pictured"
ORGANISATION = "ASH@AdobeOrg"
PER_MINUTE = 120


def write(folder: Path) -> None:
    """Write a project: a picture by Firefly and a composite by Photoshop for each job."""
    bench_project.bare(folder)
    sample = PROJECT / "campaigns" / "acme" / "spring-launch"
    for name in (CAMPAIGN, PICTURED):
        campaign = folder / "campaigns" / CUSTOMER / name
        campaign.mkdir(parents=True)
        shutil.copyfile(sample / f"{SIDE}.psd", campaign / f"{SIDE}.psd")
        shutil.copytree(sample / "fonts", campaign / "fonts")
        bench_project.put(campaign / "campaign.yaml", _campaign(name))
    bench_project.credential(folder, CUSTOMER, ORGANISATION, [CUSTOMER])
    bench_project.limits(folder, CUSTOMER, ORGANISATION, firefly=PER_MINUTE, photoshop=PER_MINUTE)


def _campaign(name: str) -> dict[str, object]:
    """Return a campaign: a picture by Firefly in a composite, perhaps like one that came."""
    art: dict[str, object] = {"name": "art", "kind": "generate", "size": "1024x1024"}
    if name == PICTURED:
        art = {
            "name": "art",
            "kind": "similar",
            "picture": "reference.picture",
            "size": "1024x1024",
        }
    inputs = {"Hero": "art.picture", "Headline": "job.headline"}
    return {
        "customer": CUSTOMER,
        "campaign": name,
        "title": "Bench of plans",
        "credential": CUSTOMER,
        "locales": ["en-GB"],
        "aspects": [SIDE],
        "templates": {SIDE: f"{SIDE}.psd"},
        "fonts": [
            "fonts/Fraunces-SemiBold.ttf",
            "fonts/NotoSans-SemiBold.ttf",
            "fonts/NotoSansArabic-SemiBold.ttf",
        ],
        "recipe": {"steps": [art, {"name": "layout", "kind": "compose", "inputs": inputs}]},
    }


def brief(jobs: int, prefix: str, references: Sequence[str] = ()) -> str:
    """Return a CSV in which every row differs; with *references* each brings one, in turn."""
    rows = (
        f"{prefix}-{n},A glass on a meadow in the light of day {n},en-GB,Spring no {n},{SIDE}"
        + (f",{references[n % len(references)]}" if references else "")
        for n in range(jobs)
    )
    return "\n".join([f"{HEADER},reference" if references else HEADER, *rows, ""])
