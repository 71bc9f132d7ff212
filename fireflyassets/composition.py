"""The composition root: the one place where ports meet their adapters.

Belongs here: reading the settings, making clients, once for each process and at first use; where
the lines of our loggers go.
Does not: anything that happens on import; decisions. An adapter that brings large libraries is
imported where it is made: not every process makes each of them.
"""

import logging
import os
import random
import secrets
import time
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from fireflyassets.adapters import limiters, threads
from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.announcer import AwsAnnouncer
from fireflyassets.adapters.aws.api_keys import DynamoApiKeys
from fireflyassets.adapters.aws.backlog import DynamoBacklog
from fireflyassets.adapters.aws.counted_ledger import CountedLedger
from fireflyassets.adapters.aws.metric_history import CloudWatchHistory
from fireflyassets.adapters.aws.metrics import CloudWatchSink
from fireflyassets.adapters.aws.objects import S3ObjectStore
from fireflyassets.adapters.aws.queue import SqsQueue
from fireflyassets.adapters.aws.secrets import SecretsManager
from fireflyassets.adapters.aws.tables import Tables
from fireflyassets.adapters.aws.tokens import DynamoTokenStore
from fireflyassets.adapters.aws.webhooks import DynamoWebhooks
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.json_log import JsonLines
from fireflyassets.adapters.metric_pump import Pump
from fireflyassets.adapters.secrets import EnvironmentSecrets, SecretsByScheme
from fireflyassets.adapters.stored_uploads import StoredUploads
from fireflyassets.adapters.watched_files import WatchedCatalogue
from fireflyassets.adapters.webhook_secrets import WebhookSecrets
from fireflyassets.core import ids
from fireflyassets.core.endpoint import Kind
from fireflyassets.core.tally import Tally
from fireflyassets.limiter.port import Limiter
from fireflyassets.ports.api_keys import ApiKeyStore
from fireflyassets.ports.backlog import Backlog
from fireflyassets.ports.clock import Clock, Lanes
from fireflyassets.ports.guardrail import Guardrail
from fireflyassets.ports.ledger import JobLedger
from fireflyassets.ports.metrics import MetricHistory
from fireflyassets.ports.objects import ObjectStore
from fireflyassets.ports.pictures import PictureReader
from fireflyassets.ports.queue import JobQueue
from fireflyassets.ports.webhooks import WebhookStore
from fireflyassets.ports.workshop import Workshop
from fireflyassets.settings import LogFormat, Settings
from fireflyassets.stages import causes
from fireflyassets.stages.admission import Admission
from fireflyassets.stages.holding import Holding
from fireflyassets.stages.intake import Intake
from fireflyassets.stages.letters import Letters
from fireflyassets.stages.outlook import Outlook
from fireflyassets.stages.pinning import Pins
from fireflyassets.stages.planning import Planning
from fireflyassets.stages.recall import Recalls
from fireflyassets.stages.relay import Relay
from fireflyassets.stages.replay import Replays
from fireflyassets.stages.retries import Retries
from fireflyassets.stages.review import Reviews
from fireflyassets.stages.telling import Telling
from fireflyassets.wave.asking import Asking
from fireflyassets.wave.endings import keeping

if TYPE_CHECKING:
    from fireflyassets.adapters.guarded_http import Guard


@dataclass(frozen=True, slots=True)
class Factory:
    """Every port of a process, wired."""

    settings: Settings
    clock: Clock
    ledger: JobLedger
    backlog: Backlog
    objects: ObjectStore
    queue: JobQueue
    catalogue: WatchedCatalogue
    guardrail: Guardrail
    limiter: Limiter
    pictures: PictureReader
    adobe: Workshop
    webhooks: WebhookStore
    api_keys: ApiKeyStore
    webhook_secrets: WebhookSecrets
    metrics: MetricHistory
    outlook: Outlook


def build(settings: Settings) -> Factory:
    """Wire the ports for AWS, or for whatever ``AWS_ENDPOINT_URL`` points to."""
    from fireflyassets.adapters.adobe.workshop import AdobeWorkshop  # noqa: PLC0415 - see the top.
    from fireflyassets.adapters.pillow import PillowPictures  # noqa: PLC0415 - see the top.

    clock = SystemClock()
    dynamodb = clients.dynamodb(settings.region)
    tables = Tables(settings.table_prefix)
    secret_store = secrets_of(settings)
    tokens = DynamoTokenStore(dynamodb, prefix=settings.table_prefix, clock=clock)
    s3, credentials = clients.s3_and_credentials(settings.region)
    objects = S3ObjectStore(s3, settings.bucket, credentials)
    catalogue = WatchedCatalogue(settings.project, clock, v4=settings.firefly_v4)
    ledger = CountedLedger(dynamodb, prefix=settings.table_prefix, tally=tally())
    backlog = DynamoBacklog(dynamodb, prefix=settings.table_prefix)
    limiter = limiters.limiter(settings, table=tables.tickets)
    outlook = Outlook(ledger, backlog, catalogue, limiter, catalogue.limits_for, clock)
    return Factory(
        settings=settings,
        clock=clock,
        ledger=ledger,
        backlog=backlog,
        objects=objects,
        queue=SqsQueue(clients.sqs(settings.region), queue=settings.queue),
        catalogue=catalogue,
        guardrail=catalogue,
        limiter=limiter,
        pictures=PillowPictures(),
        adobe=AdobeWorkshop(
            settings, secret_store, tokens, clock, StoredUploads(objects, clock), tally()
        ),
        api_keys=DynamoApiKeys(dynamodb, prefix=settings.table_prefix),
        webhooks=DynamoWebhooks(dynamodb, prefix=settings.table_prefix),
        webhook_secrets=WebhookSecrets(secret_store, settings.webhook_secret, clock),
        metrics=CloudWatchHistory(
            lambda: clients.cloudwatch(settings.region), settings.metrics_namespace
        ),
        outlook=outlook,
    )


def secrets_of(settings: Settings) -> SecretsByScheme:
    """Return the stores that settings may name a secret of."""
    return SecretsByScheme(
        {
            "env": EnvironmentSecrets(os.environ),  # noqa: TID251 - the composition root.
            "secretsmanager": SecretsManager(lambda: clients.secretsmanager(settings.region)),
        }
    )


@lru_cache(maxsize=1)
def factory() -> Factory:
    """Return the process's ports; made once, from the environment."""
    return build(Settings())


def replays(made: Factory) -> Replays:
    """Return the use case of replays; it looks at causes once."""
    ports = (made.ledger, made.objects, made.catalogue, made.limiter, made.clock)
    return causes.replays(*ports, limit=made.settings.replays_per_job)


def asking(made: Factory) -> Asking:
    """Return the use case of "why does it wait?"."""
    return Asking(made.outlook)


def intake(made: Factory) -> Intake:
    """Return intake over a process's ports, which takes everything."""
    ports = (made.ledger, made.objects, made.queue, made.catalogue, made.clock, made.guardrail)
    return Intake(*ports)


def planning(made: Factory) -> Planning:
    """Return the use case of plans."""
    admission = Admission(made.outlook, made.settings.max_backlog)
    return Planning(replace(intake(made), admission=admission), made.outlook)


def holding(made: Factory) -> Holding:
    """Return the use case of legal holds."""
    return Holding(made.ledger, made.objects, made.clock)


def retries(made: Factory) -> Retries:
    """Return what tells how much jobs have spent of their budgets of tries."""
    return Retries(Pins(made.objects, made.catalogue), made.settings.replays_per_job)


def recalls(made: Factory) -> Recalls:
    """Return the use case of recalls."""
    pins = Pins(made.objects, made.catalogue)
    reviews = Reviews(made.ledger, made.clock, keeping(pins), lambda: secrets.token_hex(16))
    return Recalls(made.ledger, made.webhooks, made.catalogue, pins, reviews)


def letters(made: Factory) -> Letters:
    """Return the use case of dead letters."""
    return Letters(made.queue, intake(made), made.settings.queue_senders)


def guard(settings: Settings) -> "Guard":
    """Return what judges the addresses that customers name."""
    from fireflyassets.adapters.guarded_http import Guard  # noqa: PLC0415 - see the top.

    return Guard(trusted=settings.webhook_trusted_hosts)


def telling(settings: Settings) -> Telling:
    """Return the use case of telling customers, over what it needs alone; for one event loop."""
    from fireflyassets.adapters.couriers import (  # noqa: PLC0415 - see the top.
        HttpCourier,
        SnsCourier,
    )
    from fireflyassets.adapters.guarded_http import GuardedHttp  # noqa: PLC0415 - see the top.

    clock, calls, region = SystemClock(), lanes().ledger, settings.region
    dynamodb = clients.dynamodb(region)
    store = DynamoWebhooks(dynamodb, prefix=settings.table_prefix)
    ledger = CountedLedger(dynamodb, prefix=settings.table_prefix, tally=tally())
    signing = WebhookSecrets(secrets_of(settings), settings.webhook_secret, clock)
    bus, contacts = settings.event_bus, settings.contacts
    events, sns = partial(clients.events, region), partial(clients.sns, region)
    announcer = AwsAnnouncer(bus, contacts, events=events, sns=sns) if bus or contacts else None
    relay = Relay(store, ledger, clock, api_url=settings.api_url, announcer=announcer)
    couriers = {
        Kind.WEBHOOK: HttpCourier(GuardedHttp(guard(settings)), signing, clock),
        Kind.SNS: SnsCourier(sns, clock, calls),
    }
    return Telling(store, relay, couriers, clock, calls, tally=tally(), chance=chance)


@lru_cache(maxsize=1)
def lanes() -> Lanes:
    """Return the process's threads."""
    return threads.lanes()


@lru_cache(maxsize=1)
def tally() -> Tally:
    """Return what the process counts with."""
    return Tally()


@lru_cache(maxsize=1)
def pump() -> Pump | None:
    """Return what brings the process's numbers away, running; None where they stay."""
    settings = Settings()
    if not settings.metrics_namespace:
        return None
    sink = CloudWatchSink(lambda: clients.cloudwatch(settings.region), settings.metrics_namespace)
    made = Pump(tally(), sink, SystemClock(), every=settings.metrics_every)
    made.start()
    return made


def bring_metrics_away() -> None:
    """Send the process's numbers now, where it sends any: it may not end in good order."""
    if pump.cache_info().currsize and (running := pump()):
        running.flush()


def log_to_stderr(settings: Settings, *servers: str) -> None:
    """Write our own lines to stderr from the set level on; a second call changes nothing.

    A process does this at its start, the command line never. Libraries keep their levels: at INFO
    the HTTP client of others would write whole URLs. Loggers of *servers* that the process runs
    are written as ours.
    """
    handler = logging.StreamHandler()
    handler.set_name("fireflyassets")
    handler.setFormatter(_form(settings.log_format))
    for logger in map(logging.getLogger, ("fireflyassets", *servers)):
        logger.setLevel(settings.log_level)
        if all(one.get_name() != handler.get_name() for one in logger.handlers):
            logger.addHandler(handler)


def _form(chosen: LogFormat) -> logging.Formatter:
    if chosen is LogFormat.JSON:
        return JsonLines(version("fireflyassets"))
    line = logging.Formatter(
        "%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S"
    )
    line.converter = time.gmtime
    return line


def chance() -> float:
    """Return a number in [0, 1) for jitter."""
    return random.random()  # noqa: S311 - jitter, not a secret.


def new_wave_id(clock: Clock) -> str:
    """Return a wave id that sorts by time and is not given twice."""
    return ids.wave_id(clock.now(), secrets.token_hex(3))
