"""``fireflyassets campaign``: look at what is configured, before anything is paid.

Belongs here: checking, listing and adding the files of a project folder, locking documents.
Does not: changing a campaign that is there.
"""

import argparse
import json
from pathlib import Path

from fireflyassets.adapters import lock_file, yaml_file
from fireflyassets.adapters.campaign_files import FILE_NAME, read_for_lock
from fireflyassets.adapters.campaign_store import FileCampaignStore
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.core.campaign import Campaign, CampaignConfig
from fireflyassets.core.errors import UnknownCampaign, UnusableConfiguration
from fireflyassets.core.schemas import SCHEMAS, document
from fireflyassets.ports.campaign_store import Added, NameTaken, Unusable
from fireflyassets.settings import Settings
from fireflyassets.stages import adding


class UnusableFile(UnusableConfiguration):
    """A file that can't be added; the sentence names it and says what to mend."""

    remedy = ""


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``campaign check``, ``add``, ``lock``, ``list`` and ``schema``."""
    group = subparsers.add_parser("campaign", help="check and list the campaigns of a project")
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    check = commands.add_parser(
        "check", help="check all files, templates included; exit 1 if one can't be used"
    )
    check.add_argument("campaign", nargs="?", help="customer/campaign; all files without it")
    check.set_defaults(run=run_check)
    locking = commands.add_parser(
        "lock", help="release a campaign's documents as they are; later changes are refused"
    )
    locking.add_argument("campaign", help="customer/campaign")
    locking.set_defaults(run=run_lock)
    listing = commands.add_parser("list", help="list the usable campaigns")
    listing.set_defaults(run=run_list)
    schema = commands.add_parser("schema", help="print a JSON Schema, for editors and clients")
    schema.add_argument("name", nargs="?", choices=sorted(SCHEMAS), default="campaign")
    schema.set_defaults(run=run_schema)
    adding = commands.add_parser("add", help="put a campaign's file, with what it names, in place")
    adding.add_argument("file", type=Path, help="its campaign.yaml; the files lie beside it")
    adding.set_defaults(run=run_add)
    for command in (check, locking, adding, listing):
        command.add_argument(
            "--project", type=Path, help="the project's folder (default: the setting, or this one)"
        )


def run_check(arguments: argparse.Namespace) -> int:
    """Say of each campaign and each bad file how it stands; 1 if anything can't be used."""
    catalogue = _catalogue(arguments)
    bad = catalogue.quarantined()
    found = catalogue.campaigns()
    asked: str | None = arguments.campaign
    if asked is not None:
        bad = tuple(file for file in bad if file.path.startswith(f"campaigns/{asked}/"))
        if asked not in found and not bad:
            raise UnknownCampaign(asked)
        found = {slug: campaign for slug, campaign in found.items() if slug == asked}
    for campaign in found.values():
        print(f"usable       {_line(campaign)}")
    for file in bad:
        print(f"quarantined  {file.path}: {file.reason}")
    priced = bool(catalogue.rate_cards())
    if not priced:
        print("missing      rates/: without a rate card no job is accepted; add one.")
    return 1 if bad or not priced else 0


def run_lock(arguments: argparse.Namespace) -> int:
    """Write the lock of a campaign's documents, and say what changed since the last one."""
    asked: str = arguments.campaign
    project: Path = arguments.project or Settings().project
    folder = project / "campaigns" / asked
    if not (folder / FILE_NAME).is_file():
        raise UnknownCampaign(asked)
    config, parts = read_for_lock(folder)
    for fact in lock_file.drift(folder, parts.templates, parts.fonts):
        print(f"released  {fact.partition('; ')[0]}")
    print(f"locked    {lock_file.write(folder, config, parts.templates, parts.fonts)}")
    return 0


def run_add(arguments: argparse.Namespace) -> int:
    """Add a campaign from a file; a running stack takes it by itself."""
    settings = Settings()
    file: Path = arguments.file
    try:
        config = adding.still_to_come(yaml_file.read(file, CampaignConfig), SystemClock().now())
    except UnusableConfiguration as fault:
        raise UnusableFile(f"{file}: {fault}") from fault
    store = FileCampaignStore(arguments.project or settings.project, v4=settings.firefly_v4)
    match store.add_with(config, file.parent):
        case Added(campaign):
            print(f"added        {_line(campaign)}")
            return 0
        case NameTaken():
            problem = adding.name_taken(config.campaign)
            raise UnusableFile(f"{file}: {problem.message} {problem.fix}")
        case Unusable(reason):
            raise UnusableFile(f"{file}: {reason}")


def run_list(arguments: argparse.Namespace) -> int:
    """List the usable campaigns."""
    for campaign in _catalogue(arguments).campaigns().values():
        print(_line(campaign))
    return 0


def run_schema(arguments: argparse.Namespace) -> int:
    """Print a JSON Schema."""
    print(json.dumps(document(arguments.name), indent=2))
    return 0


def _catalogue(arguments: argparse.Namespace) -> FileCatalogue:
    settings = Settings()
    project: Path = arguments.project or settings.project
    if not (project / "campaigns").is_dir():
        raise UnusableConfiguration(f"{project.resolve()} has no folder campaigns/.")
    return FileCatalogue(project, v4=settings.firefly_v4)


def _line(campaign: Campaign) -> str:
    config = campaign.config
    return (
        f"{campaign.slug}  {config.title}  (version {campaign.version}; "
        f"{', '.join(config.locales)}; {', '.join(config.aspects)})"
    )
