"""Every setting: name, type, default, unit and why.

Belongs here: reading ``FIREFLYASSETS_*`` from the environment, once, at the composition root.
AWS itself is configured by its usual variables (``AWS_ENDPOINT_URL``, ``AWS_REGION``, …).
Does not: secrets' values.
"""

from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from fireflyassets.core.failure import FailureClass
from fireflyassets.core.priority import Order

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]


class ClockCheck(StrEnum):
    """Whether the limiter measures the time of its DynamoDB table, or goes by the machine's own."""

    REMOTE = "remote"
    """Unless the table's endpoint is on loopback: that clock is this machine's."""
    ALWAYS = "always"
    NEVER = "never"
    """Somebody else sees to it that the clocks of all hosts agree within 50 ms."""


class LogLevel(StrEnum):
    """A level of Python's logging."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class LogFormat(StrEnum):
    """How a line of a log is written."""

    JSON = "json"
    TEXT = "text"


class Settings(BaseSettings):
    """The settings of one process. The same names serve one machine and AWS."""

    model_config = SettingsConfigDict(env_prefix="FIREFLYASSETS_", frozen=True, extra="forbid")

    project: Path = Path()
    """Folder that holds ``campaigns/ credentials/ guardrails/ limits/ rates/``."""

    ims_url: str = "https://ims-na1.adobelogin.com"
    firefly_url: str = "https://firefly-api.adobe.io"
    photoshop_url: str = "https://photoshop-api.adobe.io"
    image_url: str = "https://image.adobe.io"
    """Where remove-background lives."""
    adobe_hosts: tuple[str, ...] = ("*.adobe.io", "*.adobelogin.com")
    """Hosts, with port where it is not the scheme's own, that may get our Adobe headers.
    ``*.`` matches on a label boundary. Plain HTTP is allowed on loopback only."""

    log_level: LogLevel = LogLevel.INFO
    """From which level on our own lines go to stderr; those of libraries do from WARNING."""

    log_format: LogFormat = LogFormat.JSON
    """``json``: an object a line, with run, job, customer and release. ``text``: for eyes."""
    metrics_namespace: str = "fireflyassets"
    """CloudWatch's namespace for our metrics; empty: none are sent."""
    house_tenant: str = ""
    """The tenant whose people with the right ``ops`` see numbers of all customers on the page of
    metrics; empty: nobody, but on a local stack. All others see those of their own customer."""
    metrics_every: timedelta = Field(default=timedelta(seconds=30), gt=timedelta(0))
    """How often a process sends them: half an alarm's period, so that none is without a gauge."""
    end_to_end_baseline: timedelta = Field(default=timedelta(hours=1), gt=timedelta(0))
    """Normal time of nineteen jobs of twenty, from intake to their end: twice of it alarms."""

    firefly_v4: bool = False
    """Whether version 4 of generate may be called: its documents contradict each other."""
    polls_per_second: float = Field(default=20, ge=0.1)
    """Polls, uploads and listings of one process, for each credential and API family: its static
    share. Adobe grants an organisation 100 polls a second at Photoshop (300 in 3 s): enough for
    four runs and the sweep. With more processes, or credentials of one organisation, say less."""

    region: str | None = Field(default=None, validation_alias="AWS_REGION")
    """AWS region, where ``AWS_REGION`` names it (as in containers); botocore itself reads only
    ``AWS_DEFAULT_REGION`` and its files."""
    bucket: str = "fireflyassets"
    """S3 bucket of all objects."""
    table_prefix: str = "fireflyassets"
    """DynamoDB tables are ``<prefix>-jobs`` and so on."""
    queue: str = "fireflyassets-jobs"
    """SQS queue name; its dead-letter queue is ``<queue>-dlq``."""

    pg_url: SecretStr | None = None
    """Postgres for Dagster's runs and events (``postgresql://user:password@host/database``), which
    needs ``fireflyassets[postgres]``; without it they are SQLite files in ``DAGSTER_HOME``."""

    api_url: str = "http://127.0.0.1:8000"
    """Public base of our own API: what links in metadata and answers start with."""
    lists_per_minute: int = Field(default=120, ge=1)
    """How often a tenant may ask one API process for lists and sums of campaigns, pages of them
    included; a minute's worth may come at once."""
    reads_per_minute: int = Field(default=6000, ge=1)
    """The same of single jobs, their outputs and pictures."""
    writes_per_minute: int = Field(default=6000, ge=1)
    """The same of whatever is sent or steered: jobs, briefs, pictures, forms of pages."""
    oidc_issuer: str = ""
    """Who issues the bearer tokens of the API: the very text of their claim ``iss``. Empty: nobody
    is let in."""
    oidc_keys_url: str | None = None
    """Where the issuer's key set is (``https:`` or ``file:``), unless its discovery document, under
    the issuer's own address, says so."""
    oidc_audience: str = "fireflyassets"
    """What a token must be for."""
    oidc_audience_claim: Literal["aud", "client_id"] = "aud"
    """Where it says so: access tokens of Cognito have no ``aud``."""
    oidc_tenant_claim: str = "tenant"
    """The claim that names the tenant."""
    oidc_scope_prefix: str = ""
    """What the issuer puts before our scopes, such as ``fireflyassets/``."""
    oidc_algorithms: tuple[Algorithm, ...] = Field(default=("RS256", "ES256"), min_length=1)
    """Signatures that count: never ones whose key both sides know."""

    oidc_client_id: str = ""
    """By which name the issuer knows our pages. Empty: there are no pages."""
    oidc_client_secret: SecretStr | None = None
    """The pages' own secret, where the issuer asks for one."""
    oidc_authorize_url: str | None = None
    """Where people sign in, unless the issuer's discovery document says so."""
    oidc_token_url: str | None = None
    """Where the code of a sign-in is given for its tokens, unless discovery says so."""
    oidc_login_scope: str = "openid profile jobs:read jobs:write review ops"
    """What a sign-in asks for, with the issuer's prefix before our scopes where it has one."""
    oidc_login_parameters: dict[str, str] = Field(default_factory=dict)
    """What else a sign-in sends (JSON), such as ``audience`` or ``resource``: without it some
    issuers give access tokens that are none of ours."""
    session_keys: tuple[SecretStr, ...] = ()
    """What sessions of the pages are sealed with (JSON): texts of 32 characters or more, the same
    for all processes. The first seals, all open: a new key goes behind first, then to the front."""
    session_idle: timedelta = Field(default=timedelta(hours=1), gt=timedelta(0))
    """After how long without a request a session of the pages is over."""
    session_life: timedelta = Field(default=timedelta(hours=10), gt=timedelta(0))
    """After how long it is over in any case: rights that are taken away last no longer."""

    webhook_secret: str = ""
    """Reference of the secret that all signing secrets of webhooks are made from (``env:NAME`` or
    ``secretsmanager:NAME``, 32 characters or more). Empty: no endpoint can be added, none is sent
    to. To change it, keep the old one as the older secret until every customer has rotated."""
    webhook_trusted_hosts: tuple[str, ...] = ()
    """Hosts (JSON) that webhooks may go to though they are not on the public internet, on any port
    and without TLS: for tests on one machine, such as ``["127.0.0.1"]``. Never in production."""
    webhook_topic_accounts: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Customer -> AWS accounts (JSON) whose SNS topics it may name as endpoints. Empty: none: a
    topic that lets us publish says nothing of whose it is."""
    event_bus: str = ""
    """EventBridge bus that gets every event too; empty: none."""
    contacts: dict[str, str] = Field(default_factory=dict)
    """Role -> SNS topic (JSON) of those who look after customers: ``cs`` is told of endpoints that
    are down or disabled, ``review`` of jobs that ended in review."""

    limiter_redis_url: SecretStr | None = None
    """Redis for the shared limiter, which then needs ``fireflyassets[redis]``; without it the
    limiter is a DynamoDB table. All processes of an organisation must say the same."""
    clock_check: ClockCheck = ClockCheck.REMOTE
    """Whether the store's time is measured from its answers before the first ticket."""
    clock_bound: timedelta = Field(default=timedelta(milliseconds=50), gt=timedelta(0))
    """How far off that time may be; above it no call is sent. Clocks and lateness of all hosts must
    stay within 250 ms together."""

    lease: timedelta = timedelta(seconds=60)
    """Life of a wave's lease; renewed at a quarter of it."""
    submit_timeout: timedelta = timedelta(seconds=20)
    """Longest wait for the answer to a paid submit."""
    wave_jobs: int = Field(default=500, ge=1)
    """Most jobs in one wave."""
    wave_horizon: timedelta = timedelta(minutes=10)
    """How much of the tenant's share of the rate one wave may hold."""
    wave_park_after: timedelta = timedelta(minutes=50)
    """When a wave gives back what it has not begun."""
    partitioned_checks_up_to: int = Field(default=1000, ge=0)
    """Jobs in a campaign up to which each partition gets its own check rows."""
    runs_per_tenant: int = Field(default=2, ge=1)
    """Non-terminal waves of one tenant and credential: one at work and one warm."""
    runs_per_credential: int = Field(default=12, ge=1)
    """Non-terminal waves of all tenants under one credential."""
    replays_per_job: int = Field(default=3, ge=0)
    """How often a job in ``dlq`` is run again by tool or policy; by hand it always can be."""
    replay_automatically: tuple[FailureClass, ...] = ()
    """Classes of failure (JSON) that are run again by themselves once their cause is gone; those
    that wait for a person go on waiting."""
    backfill_cron: str = ""
    """When jobs in ``dlq`` are run again by a schedule (five fields); empty: never. An hour that is
    skipped in spring counts when it is over, one that comes twice in autumn counts once."""
    backfill_timezone: str = "UTC"
    """What its hours are of, such as ``Europe/Berlin``."""
    backfill_window: timedelta = Field(default=timedelta(hours=1), ge=timedelta(0))
    """Its jobs become due evenly over so long."""
    backfill_operations: Decimal | None = Field(default=None, gt=0)
    """What one round may cost at most; unset: what the jobs' budgets allow."""
    backfill_order: Order = Order.OLDEST
    """Which jobs are paid first where not all can be."""
    queue_senders: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Who may send jobs by the queue for whom (JSON): the unique id of an IAM user or role
    (``AIDA…``, ``AROA…``) -> customers. Empty: IAM alone decides who writes, and whoever does may
    name any customer."""
    max_backlog_hours: float = Field(default=168, gt=0, le=24 * 365)
    """How many hours of work may wait, by the organisation's pace, quotas and shares: what would
    likely be done later is refused with 429, or put off by the queue."""
    queue_slice: int = Field(default=200, ge=1)
    """Most messages that one tick of the queue sensor drains."""

    @property
    def max_backlog(self) -> timedelta:
        """Return how much work may wait."""
        return timedelta(hours=self.max_backlog_hours)
