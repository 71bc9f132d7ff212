"""Project folders of the benches: what is the same in all of them.

Belongs here: the sample with other limits, a bare folder, and its files as they are written. Does
not: campaigns (each bench's own).
"""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).parents[1]
_PARTS = ("campaigns", "credentials", "guardrails", "rates", "dagster.yaml", "workspace.yaml")


def sample(folder: Path, *, firefly: int, photoshop: int) -> Path:
    """Copy the sample project, with other limits (calls a minute) for its organisation."""
    folder.mkdir()
    _copy(folder, *_PARTS)
    (folder / "limits").mkdir()
    _copy(folder, "limits/default.yaml")
    limits(folder, "local", "LOCAL@AdobeOrg", firefly=firefly, photoshop=photoshop)
    return folder


def bare(folder: Path) -> Path:
    """Make a project without a campaign."""
    folder.mkdir()
    _copy(folder, "rates", "dagster.yaml", "workspace.yaml")
    return folder


def credential(folder: Path, name: str, organisation: str, customers: Iterable[str]) -> None:
    """Write a credential, whose secret is ``ADOBE_`` and its name."""
    said = {
        "organisation": organisation,
        "secret": f"env:ADOBE_{name.upper()}",
        "scopes": ["openid", "AdobeID", "read_organizations", "firefly_api", "ff_apis"],
        "customers": [*customers],
    }
    put(folder / "credentials" / f"{name}.yaml", said)


def limits(folder: Path, name: str, organisation: str, *, firefly: int, photoshop: int) -> None:
    """Write an organisation's limits, in calls a minute."""
    families = {
        family: [{"as_of": "2026-06-01", "source": "the bench", "per_minute": per_minute}]
        for family, per_minute in {"firefly": firefly, "photoshop": photoshop}.items()
    }
    said = {"organisation": organisation, "families": families}
    put(folder / "limits" / f"{name}.yaml", said)


def put(path: Path, said: object) -> None:
    """Write a file; JSON is YAML too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(said, indent=1), encoding="utf-8")


def _copy(folder: Path, *names: str) -> None:
    for name in names:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copyfile(source, folder / name)
