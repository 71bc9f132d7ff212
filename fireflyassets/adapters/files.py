"""The catalogue as a project folder: what is configured, read once, one bad file at a time.

Belongs here: which folders there are, and that a file which can't be used is named with its reason
and takes nothing else down. Does not: YAML (``yaml_file.py``), what makes a campaign usable
(``campaign_files.py``), limits (``limit_files.py``).

    campaigns/<customer>/<campaign>/campaign.yaml   templates relative to it
    credentials/<name>.yaml   limits/*.yaml   rates/*.yaml   guardrails/*.yaml
    budgets/<customer>.yaml
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from fireflyassets.adapters import yaml_file
from fireflyassets.adapters.budget_files import BudgetBook, own_caps
from fireflyassets.adapters.campaign_files import Filed, beyond, read_campaigns
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.limit_files import LimitBook, LimitFile
from fireflyassets.adapters.readings import Readings
from fireflyassets.adapters.word_lists import WordList, WordLists
from fireflyassets.core.budget import BudgetFile, Cap
from fireflyassets.core.campaign import Campaign, Slug
from fireflyassets.core.errors import (
    CampaignOutOfService,
    TemplateChanged,
    UnknownCampaign,
    UnusableConfiguration,
    UnusableTemplate,
)
from fireflyassets.core.failure import Family
from fireflyassets.core.money import RateCard
from fireflyassets.limiter.limits import Limits
from fireflyassets.ports.catalogue import Catalogue, Credential, Quarantined
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.guardrail import Guardrail

Shape = TypeVar("Shape", bound=BaseModel)
_Weight = Annotated[int, Field(strict=True, ge=1, le=100)]


def _one_spelling(organisation: str) -> str:
    """Refuse another spelling of an organisation: it would be paced by itself, beside the first."""
    if not re.fullmatch(r"[0-9A-Z]{1,64}@AdobeOrg", organisation):
        raise ValueError(
            f"{organisation!r} is no organisation: copy its ID from Adobe's developer console, "
            f"capital letters and digits before @AdobeOrg"
        )
    return organisation


_GUARDRAILS: Final = "guardrails"


class _CredentialFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    organisation: Annotated[str, AfterValidator(_one_spelling)]
    secret: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9/_+=.@:-]{1,512}$")]
    """Reference for the secret store."""
    scopes: tuple[str, ...] = Field(min_length=1)
    customers: frozenset[Slug] = Field(min_length=1)
    families: frozenset[Literal[Family.FIREFLY, Family.PHOTOSHOP]] = Field(
        default=frozenset({Family.FIREFLY, Family.PHOTOSHOP}), min_length=1
    )
    """What the client may use, by its product profiles."""
    weights: dict[Slug, _Weight] = Field(default_factory=dict[Slug, int])
    """Customer -> its share of the organisation's rate; 1 where none is said."""

    @model_validator(mode="after")
    def _weighs_its_own(self) -> Self:
        if strangers := sorted(set(self.weights) - self.customers):
            raise ValueError(
                f"weights: {', '.join(strangers)} may not use this credential; "
                f"name them under customers, or leave their weight out"
            )
        return self


class FileCatalogue(Catalogue):
    """Everything configured under one project folder, as it was when this was made."""

    def __init__(
        self,
        project: Path,
        clock: Clock | None = None,
        *,
        v4: bool = False,
        earlier: "FileCatalogue | None" = None,
    ) -> None:
        """Read the folder; *v4*: version 4 of generate may be called.

        A document or font that *earlier* has read already is not read again.
        """
        self.readings = Readings(earlier.readings if earlier else None)
        self._v4 = v4
        now = (clock or SystemClock()).now
        self._project = project
        self._quarantined: list[Quarantined] = []
        self._credentials = self._read_credentials()
        rates = self._read("rates", RateCard, unique_by=lambda card: card.valid_from)
        self._budgets = self._read_budgets()
        limits = self._read("limits", LimitFile, unique_by=lambda file: file.organisation)
        self._cards = tuple(rates.values())
        self._word_lists = WordLists(self._read(_GUARDRAILS, WordList).values())
        self._limits = LimitBook(limits.values(), today=lambda: now().date())
        self._campaigns = self._read_campaigns()

    # -- campaigns ------------------------------------------------------------------------------
    def _read_campaigns(self) -> dict[str, Filed]:
        found, bad = read_campaigns(self._project, self.credential, self._cards, self.readings)
        self._quarantined += bad
        usable: dict[str, Filed] = {}
        for slug, filed in found.items():
            config = filed.campaign.config
            credential = self._credentials[config.credential]
            if unusable := beyond(slug, config, credential, v4=self._v4):
                self._quarantined.append(unusable)
            else:
                usable[slug] = filed
        return usable

    def campaigns(self) -> Mapping[str, Campaign]:
        """Return the usable campaigns by slug (``customer/campaign``)."""
        return {slug: filed.campaign for slug, filed in self._campaigns.items()}

    def campaign(self, customer: str, campaign: str) -> Campaign:
        """Return one campaign.

        Raises:
            UnknownCampaign: There is none of that name.
            CampaignOutOfService: There is, and its files can't be used now.
        """
        slug = f"{customer}/{campaign}"
        if slug in self._campaigns:
            return self._campaigns[slug].campaign
        if any(slug in bad.campaigns for bad in self._quarantined):
            raise CampaignOutOfService(slug, self.fault(slug) or "")
        raise UnknownCampaign(slug)

    def template(self, campaign: Campaign, name: str) -> bytes:
        """Return an aspect's template, or a file of actions by its path, if it is as pinned.

        Raises:
            TemplateChanged: The file has changed since it was checked.
            UnusableTemplate: There is none.
        """
        filed = self._campaigns.get(campaign.slug)
        digest = {**campaign.templates, **campaign.actions}.get(name)
        if filed is None or digest is None or name not in filed.templates:
            raise UnusableTemplate(f"Campaign {campaign.slug} has no template for {name}.")
        path = filed.templates[name]
        since: datetime | None = None
        try:
            since = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            content = path.read_bytes()
        except OSError as error:
            raise TemplateChanged(campaign.slug, name, self._named(path), since=since) from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise TemplateChanged(campaign.slug, name, self._named(path), since=since)
        return content

    def files(self) -> Iterator[Path]:
        """Yield the documents and fonts that usable campaigns are made of."""
        for filed in self._campaigns.values():
            yield from filed.files

    def _named(self, path: Path) -> str:
        """Return a path as people of the project know it."""
        root = self._project.resolve()
        return str(path.relative_to(root) if path.is_relative_to(root) else path.name)

    def quarantined(self) -> tuple[Quarantined, ...]:
        """Return the files that can't be used."""
        return tuple(self._quarantined)

    # -- budgets, credentials, rates, limits ----------------------------------------------------
    def _read_budgets(self) -> BudgetBook:
        files = self._read("budgets", BudgetFile)
        for path in list(files):
            if not (self._project / "campaigns" / path.stem).is_dir():
                why = f"there is no customer {path.stem!r} in campaigns/: name it as its folder."
                self._put_aside(path, why)
                del files[path]
        return BudgetBook(files, self._quarantined)

    def _read_credentials(self) -> dict[str, Credential]:
        return {
            path.stem: Credential(
                path.stem,
                file.organisation,
                file.secret,
                file.scopes,
                file.customers,
                file.weights,
                frozenset(file.families),
            )
            for path, file in self._read("credentials", _CredentialFile).items()
        }

    def credential(self, name: str, *, customer: str) -> Credential:
        """Return a credential that may carry *customer*'s jobs.

        Raises:
            UnusableConfiguration: There is none, or it is not allowed for this customer.
        """
        credential = self._credentials.get(name)
        if credential is None:
            raise UnusableConfiguration(
                f"There is no usable credential {name!r}: add or mend credentials/{name}.yaml."
            )
        if customer not in credential.customers:
            raise UnusableConfiguration(
                f"Credential {name!r} may not carry jobs of {customer!r}: name the customer in "
                f"credentials/{name}.yaml, or use another credential."
            )
        return credential

    def credentials(self) -> tuple[Credential, ...]:
        """Return all usable credentials, by name."""
        return tuple(self._credentials[name] for name in sorted(self._credentials))

    def caps(self, customer: str, day: date) -> tuple[Cap, ...]:
        """Return every cap that is set for a customer and in force on *day*.

        Raises:
            BudgetsUnreadable: The customer's file can't be used.
        """
        known = self._budgets.caps(customer, day)
        mine = (filed.campaign.config for filed in self._campaigns.values())
        return (*known, *own_caps(customer, mine, known))

    def rate_cards(self) -> tuple[RateCard, ...]:
        """Return all rate cards."""
        return self._cards

    def limits_for(self, organisation: str, family: Family) -> Limits:
        """Return the limits to pace an organisation's calls of *family* by.

        The documented default, with a warning, where no file speaks for them.
        """
        return self._limits.limits_for(organisation, family)

    def guardrail(self) -> Guardrail:
        """Return what judges prompts.

        Raises:
            UnusableConfiguration: A list can't be used: without it words would slip through.
        """
        for bad in self._quarantined:
            if bad.path.startswith(f"{_GUARDRAILS}/"):
                raise UnusableConfiguration(f"{bad.path}: {bad.reason}")
        return self._word_lists

    # -- reading --------------------------------------------------------------------------------
    def _read(
        self,
        folder: str,
        shape: type[Shape],
        *,
        unique_by: Callable[[Shape], Hashable] | None = None,
    ) -> dict[Path, Shape]:
        """Read a folder's files; two that claim the same thing are both put aside."""
        found: dict[Path, Shape] = {}
        for path in sorted((self._project / folder).glob("*.y*ml")):
            try:
                found[path] = yaml_file.read(path, shape)
            except UnusableConfiguration as error:
                self._put_aside(path, str(error))
        if unique_by is None:
            return found
        claims: defaultdict[Hashable, list[Path]] = defaultdict(list)
        for path, file in found.items():
            claims[unique_by(file)].append(path)
        for claim, rivals in claims.items():
            for path in rivals if len(rivals) > 1 else ():
                others = ", ".join(rival.name for rival in rivals if rival != path)
                self._put_aside(path, f"{claim} is also claimed by {others}: keep one of them.")
                del found[path]
        return found

    def _put_aside(self, path: Path, reason: str) -> None:
        self._quarantined.append(Quarantined(str(path.relative_to(self._project)), reason))
