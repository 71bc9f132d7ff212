"""A project folder to break. Here: a sound one, made of the demo campaign's templates."""

import shutil
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
DEMO = REPOSITORY / "campaigns" / "acme" / "spring-launch"
ASPECTS = ("1920x1080", "1080x1920", "1080x1080")

CAMPAIGN = """\
customer: {customer}
campaign: {campaign}
title: Spring launch
credential: main
locales: [en-GB, de-DE]
aspects: [1920x1080, 1080x1920, 1080x1080]
templates:
  1920x1080: 1920x1080.psd
  1080x1920: 1080x1920.psd
  1080x1080: 1080x1080.psd
recipe:
  steps:
    - {{name: art, kind: generate}}
    - {{name: layout, kind: compose, inputs: {{Hero: art.picture, Headline: job.headline}}}}
"""
PLAIN = """\
customer: bolt
campaign: relaunch
title: Relaunch
credential: main
locales: [en-GB]
aspects: [2048x2048]
recipe:
  steps: [{name: art, kind: generate}]
"""
CREDENTIAL = """\
organisation: ORG@AdobeOrg
secret: env:SECRET
scopes: [openid]
customers: [acme, bolt]
"""
RATES = """\
id: test
valid_from: 2026-01-01
source: a test
generate: {image3: "0.5"}
photoshop: "1"
photoshop_basis: perCall
"""
LIMITS = """\
organisation: ORG@AdobeOrg
families:
  firefly: [{as_of: 2026-01-01, source: a test, per_minute: 60}]
"""


class ProjectFolder:
    """A folder with two customers' campaigns; `write` and `replace` break it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("credentials/main.yaml", CREDENTIAL)
        self.write("rates/test.yaml", RATES)
        self.write("limits/org.yaml", LIMITS)
        self.add("acme", "spring-launch")
        self.write("campaigns/bolt/relaunch/campaign.yaml", PLAIN)

    def add(self, customer: str, campaign: str, *, folder: str | None = None) -> Path:
        """Add a campaign with its templates and return its file."""
        home = f"campaigns/{customer}/{folder or campaign}"
        path = self.write(
            f"{home}/campaign.yaml", CAMPAIGN.format(customer=customer, campaign=campaign)
        )
        for aspect in ASPECTS:
            shutil.copyfile(DEMO / f"{aspect}.psd", path.parent / f"{aspect}.psd")
        return path

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file and return its path."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def replace(self, name: str, old: str, new: str) -> None:
        """Change a file that holds *old*."""
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def files(self) -> Iterator[Path]:
        """Yield all files."""
        return (path for path in self.root.rglob("*") if path.is_file())
