"""Campaign files: each one read, and checked against all that it names, before a cent is spent.

Belongs here: what makes a campaign of a project folder usable. Does not: the shape of the file
(``core/campaign.py``), what a template must hold (``core/template.py``).
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from fireflyassets.adapters import font_file, lock_file, yaml_file
from fireflyassets.adapters.readings import Readings
from fireflyassets.core import preflight
from fireflyassets.core.campaign import Campaign, CampaignConfig, load
from fireflyassets.core.errors import Refused, UnusableConfiguration, UnusableTemplate
from fireflyassets.core.font import Font
from fireflyassets.core.money import RateCard
from fireflyassets.core.recipe_step import GenerateV4Step
from fireflyassets.core.template import LayerKind, Template, check_template
from fireflyassets.core.template_lock import Fonts
from fireflyassets.ports.catalogue import Credential, Quarantined

FILE_NAME: Final = "campaign.yaml"
TEMPLATE_LIMIT: Final = 256 * 1024 * 1024
"""Bytes: a template is read whole."""
ACTIONS_LIMIT: Final = 20 * 1024 * 1024


class FindCredential(Protocol):
    """Returns a credential that may carry a customer's jobs, or raises."""

    def __call__(self, name: str, /, *, customer: str) -> Credential:
        """Return the credential."""
        ...


@dataclass(frozen=True, slots=True)
class Filed:
    """A usable campaign and where its templates and files of actions lie."""

    campaign: Campaign
    templates: Mapping[str, Path]
    """By aspect, and by their path as the recipe says it."""
    files: tuple[Path, ...]
    """All that it is made of, but what lies beside its file."""


def read_campaigns(
    project: Path,
    find_credential: FindCredential,
    cards: tuple[RateCard, ...],
    readings: Readings,
) -> tuple[dict[str, Filed], list[Quarantined]]:
    """Return the usable campaigns by slug, and the files that can't be used."""
    reasons: dict[Path, str] = {}
    configs: dict[Path, CampaignConfig] = {}
    for path in _files(project / "campaigns"):
        try:
            configs[path] = _config(path)
        except UnusableConfiguration as error:
            reasons[path] = str(error)
    reasons |= _misnamed(configs) | _rivals(configs)
    found: dict[str, Filed] = {}
    for path, config in configs.items():
        if path in reasons:
            continue
        try:
            find_credential(config.credential, customer=config.customer)
            filed = _filed(path, config, cards, readings)
            found[filed.campaign.slug] = filed
        except Refused as error:
            reasons[path] = str(error)
    bad = [
        Quarantined(str(path.relative_to(project)), why, _slugs(path, configs.get(path)))
        for path, why in reasons.items()
    ]
    return found, sorted(bad, key=lambda file: file.path)


def beyond(
    slug: str, config: CampaignConfig, credential: Credential, *, v4: bool
) -> Quarantined | None:
    """Return why a recipe can't be made: more than its credential, or a setting, allows.

    *v4*: version 4 of generate may be called.
    """
    steps = config.recipe.steps
    off = [one.name for one in steps if isinstance(one, GenerateV4Step)] if not v4 else []
    if missing := {step.family for step in steps} - credential.families:
        reason = (
            f"credential: {credential.name!r} may not use {', '.join(sorted(missing))}: add it to "
            f"families in credentials/{credential.name}.yaml, or use another credential."
        )
    elif off:
        reason = (
            f"step {off[0]!r}: version 4 of generate is switched off: set "
            f"FIREFLYASSETS_FIREFLY_V4, or use a step of kind generate."
        )
    else:
        return None
    return Quarantined(f"campaigns/{slug}/{FILE_NAME}", reason, frozenset({slug}))


def _slugs(path: Path, config: CampaignConfig | None) -> frozenset[str]:
    """Return what a campaign's file stands for: its folder, and what it says, if it can be read."""
    customer = path.parent.parent.name
    names = {path.parent.name, *([config.campaign] if config else [])}
    return frozenset(f"{customer}/{name}" for name in names)


def _files(root: Path) -> Iterator[Path]:
    """Yield each campaign folder's file; where it has another name, that one, to be named."""
    for folder in sorted(path for path in root.glob("*/*") if path.is_dir()):
        if (folder / FILE_NAME).exists():
            yield folder / FILE_NAME
        else:
            yield from sorted(folder.glob("*.y*ml"))[:1]


def _config(path: Path) -> CampaignConfig:
    if path.name != FILE_NAME:
        raise UnusableConfiguration(f"is not read: rename it to {FILE_NAME}.")
    config = yaml_file.read(path, CampaignConfig)
    folder = path.parent.parent.name
    if config.customer != folder:
        raise UnusableConfiguration(
            f"customer: the file says {config.customer!r} and lies in the folder of {folder!r}; "
            f"mend the one or move the other."
        )
    return config


def _misnamed(configs: Mapping[Path, CampaignConfig]) -> dict[Path, str]:
    return {
        path: f"campaign: the file says {config.campaign!r} and its folder {path.parent.name!r}; "
        f"give both the same name."
        for path, config in configs.items()
        if config.campaign != path.parent.name
    }


def _rivals(configs: Mapping[Path, CampaignConfig]) -> dict[Path, str]:
    """Return a reason for each file whose campaign another file claims too: neither is safe."""
    claims: defaultdict[tuple[str, str], list[Path]] = defaultdict(list)
    for path, config in configs.items():
        claims[config.customer, config.campaign].append(path)
    return {
        path: f"campaign: {campaign!r} is also claimed by {_folders(paths, path)}; "
        f"give each its own name."
        for (_, campaign), paths in claims.items()
        if len(paths) > 1
        for path in paths
    }


def _folders(paths: Sequence[Path], mine: Path) -> str:
    return ", ".join(f"{path.parent.name}/{path.name}" for path in paths if path != mine)


def _filed(
    path: Path, config: CampaignConfig, cards: tuple[RateCard, ...], readings: Readings
) -> Filed:
    told = [f"{fault}." for fault in preflight.faults(config, cards)]
    parts = _read_parts(path, config, readings)
    told += parts.faults
    for aspect, template in parts.templates.items():
        faults = check_template(
            template, aspect=aspect, slots=_slots(config), document=parts.paths[aspect].name
        )
        told += [f"templates.{aspect}: {fault}" for fault in faults]
    folder = path.parent
    if not parts.faults:  # Else what can't be read would be told as missing too.
        told += [f"{drift}." for drift in lock_file.drift(folder, parts.templates, parts.fonts)]
    told += [f"{fault}." for fault in lock_file.budget_faults(folder, config)]
    if told:
        raise UnusableConfiguration(" ".join(told))
    measured = {name: font for name, (_, font) in parts.fonts.items()}
    fonts = {**measured, **lock_file.vendors_fonts(folder)}
    frames = lock_file.frames(folder, config, parts.templates, fonts)
    digests = {aspect: template.sha256 for aspect, template in parts.templates.items()}
    files = (*parts.paths.values(), *(_part_path(path, said) for said in config.fonts))
    files = (*files, *parts.actions.values())
    hashes = {said: _digest(where) for said, where in parts.actions.items()}
    return Filed(
        load(config, digests, frames, fonts, hashes), {**parts.paths, **parts.actions}, files
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """What a campaign's file names, and why any of it can't be read."""

    paths: Mapping[str, Path]
    templates: Mapping[str, Template]
    fonts: Fonts
    actions: Mapping[str, Path]
    faults: tuple[str, ...]


def _read_parts(path: Path, config: CampaignConfig, readings: Readings) -> Parts:
    """Read all that *config* names; a part that can't be read is a fault and left out."""
    from fireflyassets.adapters import psd  # noqa: PLC0415 - brings numpy: not for a help.

    paths: dict[str, Path] = {}
    templates: dict[str, Template] = {}
    fonts: dict[str, tuple[str, Font]] = {}
    faults: list[str] = []
    for aspect in config.aspects if config.recipe.composes else ():
        try:
            paths[aspect] = _part_path(path, config.templates[aspect])
            content = _content(paths[aspect], TEMPLATE_LIMIT)
            templates[aspect] = readings.of(content, psd.read_template)
        except (UnusableTemplate, psd.UnreadableTemplate) as error:
            line = yaml_file.line_of(path, "templates", aspect)
            faults.append(f"{line}templates.{aspect}: {error}")
    for index, said in enumerate(config.fonts):
        try:
            content = _content(_part_path(path, said), font_file.SIZE_LIMIT)
            font = readings.of(content, font_file.read)
            fonts[font.name] = (hashlib.sha256(content).hexdigest(), font)
        except UnusableTemplate as error:
            faults.append(f"{yaml_file.line_of(path, 'fonts', index)}fonts: {said}: {error}")
    actions: dict[str, Path] = {}
    for said in config.recipe.action_files():
        try:
            actions[said] = _part_path(path, said)
            if not _content(actions[said], ACTIONS_LIMIT):
                faults.append(f"recipe: {said} is empty; save the actions anew")
        except UnusableTemplate as error:
            faults.append(f"recipe: {said}: {error}")
    return Parts(paths, templates, fonts, actions, tuple(faults))


def _digest(path: Path) -> str:
    return hashlib.sha256(_content(path, ACTIONS_LIMIT)).hexdigest()


def read_for_lock(folder: Path) -> tuple[CampaignConfig, Parts]:
    """Return a campaign's configuration and all that it names, to lock it.

    Raises:
        UnusableConfiguration: The file, a document or a font can't be read.
    """
    path = folder / FILE_NAME
    config = _config(path)
    parts = _read_parts(path, config, Readings())
    if parts.faults:
        raise UnusableConfiguration(" ".join(parts.faults))
    return config, parts


def _slots(config: CampaignConfig) -> dict[str, LayerKind]:
    """Return the layers that the recipe fills, and what each must be."""
    return {
        **{
            layer: LayerKind.SMART_OBJECT
            for step in config.recipe.compositions()
            for layer in step.picture_layers()
        },
        **{
            layer: LayerKind.TEXT
            for step in config.recipe.compositions()
            for layer in step.text_layers()
        },
    }


def _part_path(campaign: Path, said: str) -> Path:
    """Return where a file of a campaign lies: in the customer's own folder, whatever links say."""
    home = campaign.parent.parent.resolve()
    path = (campaign.parent / said).resolve()
    if Path(said).is_absolute() or not path.is_relative_to(home):
        raise UnusableTemplate(f"{said!r} is outside of the customer's folder; copy it there.")
    return path


def _content(path: Path, limit: int) -> bytes:
    try:
        if not path.is_file():
            raise UnusableTemplate(f"There is no file {path.name}; add it or mend the path.")
        if path.stat().st_size > limit:
            raise UnusableTemplate(f"{path.name} is over {limit} bytes; shrink it.")
        return path.read_bytes()
    except OSError as error:
        raise UnusableTemplate(f"{path.name} can't be read ({error.strerror}).") from error
