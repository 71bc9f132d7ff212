"""``template.lock.json`` beside a campaign's documents.

Belongs here: reading, writing and comparing the file. Does not: what is in it
(``core/template_lock.py``). A campaign without the file is not locked, which is allowed: a lock
is a designer's release, not a duty.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from fireflyassets.core import template_lock
from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.font import Font
from fireflyassets.core.template import Template
from fireflyassets.core.template_lock import DocumentLock, Fonts, TemplateLock
from fireflyassets.core.text_rule import TextFrame, TextRule

FILE_NAME: Final = "template.lock.json"
_REMEDY: Final = "undo it, or release it with `fireflyassets campaign lock`"


def read(folder: Path) -> TemplateLock | None:
    """Return the lock in *folder*; None where there is none.

    Raises:
        UnusableConfiguration: It is not of the form.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        return TemplateLock.model_validate_json(path.read_bytes())
    except (ValidationError, OSError) as error:
        problems = error.error_count() if isinstance(error, ValidationError) else 1
        raise UnusableConfiguration(
            f"{FILE_NAME}: {problems} faults; mend it, or delete it and lock anew."
        ) from error


def write(
    folder: Path, config: CampaignConfig, templates: Mapping[str, Template], fonts: Fonts
) -> Path:
    """Lock *templates*, keeping the text rules that are in the file, and return where it lies."""
    made = template_lock.lock(templates, first_rules(config), read(folder), fonts)
    path = folder / FILE_NAME
    path.write_text(made.model_dump_json(indent=2, exclude_none=True) + "\n", encoding="utf-8")
    return path


def drift(folder: Path, templates: Mapping[str, Template], fonts: Fonts) -> Iterator[str]:
    """Yield what is not as it was locked, each with what to do.

    Raises:
        UnusableConfiguration: The lock is not of the form.
    """
    locked = read(folder)
    if locked is None:
        return
    for fact in template_lock.drift(locked, templates, fonts):
        yield f"{FILE_NAME}: {fact}; {_REMEDY}"


def budget_faults(folder: Path, config: CampaignConfig) -> Iterator[str]:
    """Yield the texts for which the campaign allows more than the locked documents take.

    Raises:
        UnusableConfiguration: The lock is not of the form.
    """
    locked = read(folder)
    filled = set(first_rules(config))
    for aspect, document in sorted(locked.documents.items()) if locked else ():
        for layer in document.layers:
            if layer.name not in filled:
                continue
            for locale in config.locales:
                rule = layer.texts.get(locale)
                if rule is None:
                    yield f"{FILE_NAME}: {aspect}: layer {layer.name!r} has no rule for {locale}"
                elif rule.most < config.headline_limit:
                    yield (
                        f"{FILE_NAME}: {aspect}: layer {layer.name!r} takes {rule.most} letters "
                        f"in {locale}, and headline_limit allows {config.headline_limit}; lower it"
                    )


def frames(
    folder: Path, config: CampaignConfig, templates: Mapping[str, Template], fonts: Iterable[str]
) -> dict[str, dict[str, TextFrame]]:
    """Return aspect -> text layer -> its frame, with the rules of the lock, else the first ones.

    Raises:
        UnusableConfiguration: The lock is not of the form.
    """
    locked = read(folder) or template_lock.lock(templates, first_rules(config))
    return {
        aspect: dict(_frames(template, locked.documents[aspect], tuple(fonts)))
        for aspect, template in templates.items()
    }


def vendors_fonts(folder: Path) -> dict[str, Font]:
    """Return the fonts that the lock knows without a file: what they draw, and no measures.

    Raises:
        UnusableConfiguration: The lock is not of the form.
    """
    locked = read(folder)
    known = locked.fonts if locked else {}
    return {name: Font(name, one.glyphs) for name, one in known.items() if one.sha256 is None}


def _frames(
    template: Template, locked: DocumentLock, fonts: tuple[str, ...]
) -> Iterator[tuple[str, TextFrame]]:
    texts = {layer.name: layer.texts for layer in locked.layers}
    for layer in template.layers:
        if layer.style is None:
            continue
        chain = tuple(dict.fromkeys((layer.style.font, *fonts)))
        rules = {
            locale: rule if rule.fonts else rule.model_copy(update={"fonts": chain})
            for locale, rule in texts.get(layer.name, {}).items()
        }
        yield layer.name, TextFrame(layer.style, layer.text_size, rules)


def first_rules(config: CampaignConfig) -> dict[str, dict[str, TextRule]]:
    """Return the rules to begin with: what the campaign says of headlines, and fail beyond."""
    layers = {layer for step in config.recipe.compositions() for layer in step.text_layers()}
    rule = TextRule(budget=config.headline_limit)
    return {layer: dict.fromkeys(config.locales, rule) for layer in sorted(layers)}
