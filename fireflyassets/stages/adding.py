"""Adding a campaign: from what somebody said, by form, API or file, to a campaign in service.

In: fields, and maybe a campaign to begin from. Out: a campaign's file, or what is wrong with it.
Spends: nothing. Its assets appear once the code location is loaded again.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fireflyassets.core.campaign import CampaignConfig
from fireflyassets.core.errors import UnknownCampaign, UnusableConfiguration
from fireflyassets.core.request import Problem
from fireflyassets.ports.campaign_store import Added, CampaignStore, NameTaken, Unusable
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock

_TAKEN_OVER: Final = ("credential", "recipe", "models", "headline_limit", "cost_tolerance")
"""What a campaign has of the one that it begins from, unless it says so itself."""
_RULE: Final = "campaign"
_MISSING: Final = "missing"
_NEW_NAME: Final = "Choose another name; a campaign is changed in its file."


def add(
    store: CampaignStore,
    catalogue: Catalogue,
    clock: Clock,
    *,
    customer: str,
    said: Mapping[str, object],
    like: str | None = None,
) -> Added | NameTaken | tuple[Problem, ...]:
    """Add a campaign of *customer*, or say what is wrong."""
    fields = {**said, "customer": customer}
    if like is not None:
        try:
            begun = catalogue.campaign(customer, like).config
        except (UnknownCampaign, UnusableConfiguration) as error:
            fix = "Name a campaign of yours that is in service."
            return (Problem("like", _RULE, str(error), fix),)
        fields = _begun_from(begun, fields)
    config = judged(fields, now=clock.now())
    if like is None and isinstance(config, tuple):
        config = tuple(_or_like(one) for one in config)
    if not isinstance(config, CampaignConfig):
        return config
    answer = store.add(config, like=like)
    if isinstance(answer, Unusable):
        return (Problem("", _RULE, answer.reason, "Mend it and send it again."),)
    return answer


def judged(fields: Mapping[str, object], *, now: datetime) -> CampaignConfig | tuple[Problem, ...]:
    """Return the campaign, or every fault of its fields."""
    try:
        config = CampaignConfig.model_validate(fields)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        return tuple(_problem(one) for one in found)
    try:
        return still_to_come(config, now)
    except UnusableConfiguration as late:
        return (Problem("deadline", _RULE, str(late), "Give one that is still to come."),)


def still_to_come(config: CampaignConfig, now: datetime) -> CampaignConfig:
    """Return a new campaign whose deadline is not over; one that is loaded stays when it is.

    Raises:
        UnusableConfiguration: It is.
    """
    if config.deadline is not None and config.deadline <= now:
        raise UnusableConfiguration(
            f"deadline: {config.deadline.isoformat()} is in the past; give one still to come."
        )
    return config


def name_taken(campaign: str) -> Problem:
    """Return the problem of a name that is another campaign's."""
    return Problem("campaign", _RULE, f"There is a campaign {campaign!r} already.", _NEW_NAME)


def _begun_from(begun: CampaignConfig, fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields with all that is taken over; files are named from the new folder."""
    whole = begun.model_dump(mode="json", exclude_defaults=True)
    beside = f"../{begun.campaign}/"
    said = fields.get("aspects")
    wanted = begun.aspects if said is None else str(said)
    kept: dict[str, object] = {name: whole[name] for name in _TAKEN_OVER if name in whole}
    kept |= {name: whole[name] for name in ("title", "locales", "aspects")}
    kept["templates"] = {
        aspect: f"{beside}{path}" for aspect, path in begun.templates.items() if aspect in wanted
    }
    kept["fonts"] = [f"{beside}{path}" for path in begun.fonts]
    return kept | dict(fields)


def _or_like(one: Problem) -> Problem:
    """Return the problem; where a field is missing, with the shorter way to have it."""
    fix = "Add it, or name with like a campaign of yours that it is taken over from."
    return replace(one, fix=fix) if one.rule == _MISSING else one


def _problem(fault: ErrorDetails) -> Problem:
    where = ".".join(str(part) for part in fault["loc"])
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "missing":
        return Problem(where, _MISSING, f"{where} is missing.", "Add it.")
    rule = "unknown" if fault["type"] == "extra_forbidden" else _RULE
    return Problem(where, rule, f"{where or 'campaign'}: {message}.", "Mend this field.")
