# pyright: standard
"""Resources: configuration in, a port out; an asset never learns the vendor.

Belongs here: one resource for each port, built from the settings when a run or a tick begins.
Does not: wiring (``composition.py``).
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

import dagster as dg

from fireflyassets import composition
from fireflyassets.core.ids import LETTERS
from fireflyassets.defs.loaded import LoadedCatalogue
from fireflyassets.limiter.port import Limiter
from fireflyassets.ports.backlog import Backlog
from fireflyassets.ports.catalogue import Catalogue
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.guardrail import Guardrail
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.pictures import PictureReader
from fireflyassets.ports.queue import JobQueue
from fireflyassets.ports.workshop import Workshop
from fireflyassets.settings import Settings
from fireflyassets.stages import causes
from fireflyassets.stages.intake import Intake
from fireflyassets.stages.letters import Letters
from fireflyassets.stages.outlook import Outlook
from fireflyassets.stages.pinning import Pins
from fireflyassets.stages.replay import Replays
from fireflyassets.stages.retries import Retries
from fireflyassets.stages.watch import Watch
from fireflyassets.wave.assembly import LimitsOf, Shop


class LedgerResource(dg.ConfigurableResource[JobLedger]):
    """The job ledger, kept in DynamoDB."""

    def create_resource(self, context: dg.InitResourceContext) -> JobLedger:
        """Return the process's ledger."""
        return composition.factory().ledger


class ObjectsResource(dg.ConfigurableResource[ObjectStore]):
    """Our bucket, in S3."""

    def create_resource(self, context: dg.InitResourceContext) -> ObjectStore:
        """Return the process's object store."""
        return composition.factory().objects


class BacklogResource(dg.ConfigurableResource[Backlog]):
    """What stands in the ledger, counted."""

    def create_resource(self, context: dg.InitResourceContext) -> Backlog:
        """Return the process's counts."""
        return composition.factory().backlog


class JobQueueResource(dg.ConfigurableResource[JobQueue]):
    """The job queue, in SQS, with its dead-letter queue."""

    def create_resource(self, context: dg.InitResourceContext) -> JobQueue:
        """Return the process's queue."""
        return composition.factory().queue


class CatalogueResource(dg.ConfigurableResource[Catalogue]):
    """Campaigns, credentials, limits and rate cards, read from files."""

    campaigns: list[str]
    """Slugs of those that have assets in this location."""

    def create_resource(self, context: dg.InitResourceContext) -> Catalogue:
        """Return the process's files, which it reads anew once they change."""
        return LoadedCatalogue(composition.factory().catalogue, self.campaigns)


class OutlookResource(dg.ConfigurableResource[Outlook]):
    """The look ahead; it keeps what it counted for a while."""

    def create_resource(self, context: dg.InitResourceContext) -> Outlook:
        """Return the process's look ahead."""
        return composition.factory().outlook


class GuardrailResource(dg.ConfigurableResource[Guardrail]):
    """What judges prompts, by the lists under ``guardrails/``."""

    def create_resource(self, context: dg.InitResourceContext) -> Guardrail:
        """Return the process's guardrail."""
        return composition.factory().guardrail


class LimiterResource(dg.ConfigurableResource[Limiter]):
    """The shared limiter: one paced item for each organisation and API family."""

    def create_resource(self, context: dg.InitResourceContext) -> Limiter:
        """Return the process's limiter."""
        return composition.factory().limiter


class AdobeResource(dg.ConfigurableResource[Workshop]):
    """The Adobe clients of a credential; every paid call of theirs goes through the fence."""

    def create_resource(self, context: dg.InitResourceContext) -> Workshop:
        """Return what opens clients for a credential."""
        return composition.factory().adobe


class LimitsResource(dg.ConfigurableResource[LimitsOf]):
    """What contracts and documentation allow, from the limit files."""

    def create_resource(self, context: dg.InitResourceContext) -> LimitsOf:
        """Return the lookup by organisation and family."""
        return composition.factory().catalogue.limits_for


class PicturesResource(dg.ConfigurableResource[PictureReader]):
    """What decodes pictures."""

    def create_resource(self, context: dg.InitResourceContext) -> PictureReader:
        """Return the process's reader."""
        return composition.factory().pictures


class SettingsResource(dg.ConfigurableResource[Settings]):
    """The settings, read from the environment once for each process."""

    def create_resource(self, context: dg.InitResourceContext) -> Settings:
        """Return the process's settings."""
        return composition.factory().settings


class ClockResource(dg.ConfigurableResource[Clock]):
    """The time."""

    def create_resource(self, context: dg.InitResourceContext) -> Clock:
        """Return the system's clock."""
        return composition.factory().clock


def resources(campaigns: Iterable[str]) -> dict[str, object]:
    """Return the resources of a real deployment, keyed by port, for the loaded *campaigns*."""
    return {
        "ledger": LedgerResource(),
        "objects": ObjectsResource(),
        "backlog": BacklogResource(),
        "job_queue": JobQueueResource(),
        "catalogue": CatalogueResource(campaigns=sorted(campaigns)),
        "guardrail": GuardrailResource(),
        "outlook": OutlookResource(),
        "limiter": LimiterResource(),
        "adobe": AdobeResource(),
        "limits": LimitsResource(),
        "pictures": PicturesResource(),
        "settings": SettingsResource(),
        "clock": ClockResource(),
    }


WAVE_PORTS = {
    "ledger",
    "objects",
    "catalogue",
    "limiter",
    "limits",
    "adobe",
    "pictures",
    "settings",
    "clock",
}
"""Keys of the resources that a wave needs."""


def shop(given: Any) -> Shop:  # noqa: ANN401 - Dagster makes a class for each set of resources.
    """Return the ports of a wave from a context's resources."""
    ports = {name: getattr(given, name) for name in WAVE_PORTS}
    return Shop(
        **ports,
        chance=composition.chance,
        new_wave_id=partial(composition.new_wave_id, ports["clock"]),
        lanes=composition.lanes(),
        tally=composition.tally(),
    )


def intake(given: Any) -> Intake:  # noqa: ANN401 - as above.
    """Return intake over a context's resources."""
    return Intake(
        given.ledger,
        given.objects,
        given.job_queue,
        given.catalogue,
        given.clock,
        given.guardrail,
    )


def letters(given: Any) -> Letters:  # noqa: ANN401 - as above.
    """Return the use case of dead letters over a context's resources."""
    return Letters(given.job_queue, intake(given), given.settings.queue_senders)


def replays(given: Any) -> Replays:  # noqa: ANN401 - as above.
    """Return the use case of replays over a context's resources; it looks at causes once."""
    ports = (given.ledger, given.objects, given.catalogue, given.limiter, given.clock)
    return causes.replays(*ports, limit=given.settings.replays_per_job)


def retries(given: Any) -> Retries:  # noqa: ANN401 - as above.
    """Return what tells how much jobs have spent of their budgets of tries."""
    return Retries(Pins(given.objects, given.catalogue), given.settings.replays_per_job)


def watch(given: Any) -> Watch:  # noqa: ANN401 - as above.
    """Return the watch over a context's resources."""
    return Watch(
        backlog=given.backlog,
        budgets=given.ledger,
        queue=given.job_queue,
        limiter=given.limiter,
        catalogue=given.catalogue,
        limits=given.limits,
        tally=composition.tally(),
        put_aside=lambda: len(given.objects.keys(LETTERS)),
    )


def bring_metrics_away() -> None:
    """Send the process's numbers now, where it sends any."""
    composition.bring_metrics_away()
