"""A front door in memory: one customer's campaign, a clock that jumps, and ports to look into.

Belongs here: what the tests of intake, queue and API share. Does not: scripts of one test.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal

from fireflyassets.adapters.limit_files import DOCUMENTED
from fireflyassets.adapters.memory.backlog import MemoryBacklog
from fireflyassets.adapters.memory.clock import FakeClock
from fireflyassets.adapters.memory.ledger import MemoryLedger
from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.memory.queue import MemoryQueue
from fireflyassets.adapters.word_lists import WordLists
from fireflyassets.core import manifest
from fireflyassets.core.brief import Row
from fireflyassets.core.budget import BudgetFile, Cap
from fireflyassets.core.campaign import Campaign, CampaignConfig, load
from fireflyassets.core.errors import UnknownCampaign, UnusableConfiguration
from fireflyassets.core.job import JobRow
from fireflyassets.core.money import RateCard
from fireflyassets.core.photoshop_step import ComposeStep
from fireflyassets.core.recipe import Recipe
from fireflyassets.core.recipe_step import GenerateStep, Model
from fireflyassets.core.request import RawRequest
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import Limiter
from fireflyassets.ports.backlog import Backlog, Line, LineName
from fireflyassets.ports.catalogue import Catalogue, Credential, Quarantined
from fireflyassets.ports.guardrail import Guardrail
from fireflyassets.stages.intake import Intake
from fireflyassets.stages.outlook import Outlook

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
CUSTOMER = "acme"
CAMPAIGN = "spring-launch"
ASPECTS = ("1920x1080", "1080x1920", "1080x1080")


def config(**changes: object) -> CampaignConfig:
    """Return a campaign's configuration, generate and compose, as its file would say it."""
    said: dict[str, object] = {
        "customer": CUSTOMER,
        "campaign": CAMPAIGN,
        "title": "Spring launch",
        "credential": "acme-main",
        "locales": ("en-GB", "de-DE", "ar-AE"),
        "aspects": ASPECTS,
        "templates": {aspect: f"{aspect}.psd" for aspect in ASPECTS},
        "recipe": Recipe(
            steps=(
                GenerateStep(name="art", kind="generate"),
                ComposeStep(
                    name="layout",
                    kind="compose",
                    inputs={"Hero": "art.picture", "Headline": "job.headline"},
                ),
            )
        ),
    }
    return CampaignConfig.model_validate(said | changes)


def card(**changes: object) -> RateCard:
    """Return a rate card valid since long."""
    said: dict[str, object] = {
        "id": "test",
        "valid_from": date(2026, 1, 1),
        "source": "a test",
        "generate": {Model.IMAGE3: Decimal("0.5")},
        "photoshop": Decimal(1),
        "photoshop_basis": "perCall",
    }
    return RateCard.model_validate(said | changes)


class FixedCatalogue(Catalogue):
    """A catalogue of given campaigns, without files."""

    def __init__(
        self,
        *configs: CampaignConfig,
        cards: tuple[RateCard, ...] = (),
        budgets: Mapping[str, BudgetFile] | None = None,
    ) -> None:
        loaded = [
            load(
                each,
                dict.fromkeys(each.templates, "0" * 64),
                actions=dict.fromkeys(each.recipe.action_files(), "1" * 64),
            )
            for each in configs
        ]
        self._campaigns = {campaign.slug: campaign for campaign in loaded}
        self._cards = cards or (card(),)
        self.budgets = dict(budgets or {})
        """Customer -> its budgets; a test may change them."""

    def replace_campaign(self, campaign: Campaign) -> None:
        """Let a campaign be another version from now on."""
        self._campaigns[campaign.slug] = campaign

    def campaigns(self) -> Mapping[str, Campaign]:
        return self._campaigns

    def campaign(self, customer: str, campaign: str) -> Campaign:
        slug = f"{customer}/{campaign}"
        if slug not in self._campaigns:
            raise UnknownCampaign(slug)
        return self._campaigns[slug]

    def quarantined(self) -> tuple[Quarantined, ...]:
        return ()

    def template(self, campaign: Campaign, name: str) -> bytes:
        return f"{campaign.slug} {name}".encode()

    def credential(self, name: str, *, customer: str) -> Credential:
        if customer not in {campaign.config.customer for campaign in self._campaigns.values()}:
            raise UnusableConfiguration(f"No credential for {customer}.")
        return Credential(name, "ORG", name, ("openid",), frozenset({customer}))

    def caps(self, customer: str, day: date) -> tuple[Cap, ...]:
        file = self.budgets.get(customer)
        return file.caps(day) if file else ()

    def rate_cards(self) -> tuple[RateCard, ...]:
        return self._cards


def capped(operations: str) -> dict[str, BudgetFile]:
    """Return the budgets where the customer may take so many operations a month."""
    cap = {"valid_from": date(2026, 1, 1), "source": "x", "operations": operations}
    return {CUSTOMER: BudgetFile.model_validate({"customer": [cap]})}


@dataclass(frozen=True)
class FrontDoor:
    """The ports behind the door, to look into, and the use case in front of them."""

    clock: FakeClock
    ledger: MemoryLedger
    objects: MemoryObjects
    queue: MemoryQueue
    intake: Intake


def front_door(
    catalogue: Catalogue | None = None, *, guardrail: Guardrail | None = None
) -> FrontDoor:
    """Return a door with everything empty behind it."""
    clock = FakeClock(NOON)
    ledger, objects, queue = MemoryLedger(), MemoryObjects(), MemoryQueue(clock)
    known = catalogue or FixedCatalogue(config(), config(customer="bolt"))
    judge = guardrail or WordLists()
    intake = Intake(ledger, objects, queue, known, clock, judge)
    return FrontDoor(clock, ledger, objects, queue, intake)


class CountedBacklog(MemoryBacklog):
    """A backlog that says how often it was read."""

    looks = 0

    def lines(self) -> Mapping[LineName, Line]:
        self.looks += 1
        return super().lines()


def outlook(
    door: FrontDoor, *, backlog: Backlog | None = None, limiter: Limiter | None = None
) -> Outlook:
    """Return a look over the ports behind a door, at the documented limits."""
    return Outlook(
        door.ledger,
        backlog or MemoryBacklog(door.ledger),
        door.intake.catalogue,
        limiter or MemoryLimiter(now=door.clock.now),
        lambda _, family: DOCUMENTED[family],
        door.clock,
    )


GOOD = RawRequest(
    key="job-1",
    prompt="A glass of elderflower water on a meadow",
    locale="en-GB",
    headline="Spring, poured fresh",
    aspects=ASPECTS,
)


def asked(number: int | None = None, **changes: object) -> Row:
    """Return a row that asks for `GOOD` with *changes*."""
    return Row(number, replace(GOOD, **changes))


def stored_manifest(door: FrontDoor, row: JobRow) -> bytes | None:
    """Return the manifest that a row points to."""
    place = manifest.place(row.input_manifest)
    return door.objects.get(place.key, part=place.part)
