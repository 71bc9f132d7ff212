# pyright: standard
"""The assets of a campaign: three of them, made by one function that works on a wave.

Belongs here: specs, and the run as Dagster sees it, from its tags and keys to its last sentence.
Does not: the wave (``wave/``), metadata (``events.py``), checks (``checks.py``).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import dagster as dg

from fireflyassets.core import errors, ids
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.job import JobRow
from fireflyassets.core.stage import BASE_IMAGES, DELIVERIES, RENDITIONS
from fireflyassets.defs import cancels, checks, events, names, resources
from fireflyassets.defs.verdict import Verdict, interrupted
from fireflyassets.ports.catalogue import Quarantined
from fireflyassets.ports.entries import Wave
from fireflyassets.stages.forming import Batch
from fireflyassets.wave import beginning
from fireflyassets.wave.assembly import Shop
from fireflyassets.wave.reports import Checked, Ended, Handed, Made, Report, Skipped, Turn
from fireflyassets.wave.reuse import reuse
from fireflyassets.wave.thread import WaveThread

JOB_REQUESTS: Final = "job_requests"
TEMPLATE: Final = "template"
CHECK_CHUNK: Final = 25
"""Jobs whose check evaluations are written together."""

_NOT_WON: Final = "another wave took it, it came into another line, or its campaign is on hold"

Event = dg.AssetMaterialization | dg.AssetCheckEvaluation | dg.AssetObservation


def upstreams(campaign: Campaign) -> list[dg.AssetSpec]:
    """Return what comes from outside: the requests and the template."""
    config = campaign.config
    customer, name = config.customer, config.campaign
    group = names.group(customer, name)
    aspects = ", ".join(config.aspects)
    return [
        dg.AssetSpec(
            names.asset_key(customer, name, JOB_REQUESTS),
            description="Job requests, from the HTTP API, a CSV, or the job queue.",
            group_name=group,
            kinds={"sqs"},
        ),
        dg.AssetSpec(
            names.asset_key(customer, name, TEMPLATE),
            description=f"The layered documents of the campaign, one for each of {aspects}.",
            metadata={f"sha256_{aspect}": digest for aspect, digest in campaign.templates.items()},
            group_name=group,
            kinds={"photoshop"},
        ),
    ]


def out_of_service(
    quarantined: Sequence[Quarantined], without: Iterable[str]
) -> list[dg.AssetSpec]:
    """Return a template for each campaign whose files can't be used, that says why."""
    reasons = {slug: bad for bad in quarantined for slug in bad.campaigns if slug not in without}
    specs: list[dg.AssetSpec] = []
    for slug, bad in sorted(reasons.items()):
        customer, name = slug.split("/")
        if not (ids.SLUG.fullmatch(customer) and ids.SLUG.fullmatch(name)):
            continue
        specs.append(
            dg.AssetSpec(
                names.asset_key(customer, name, TEMPLATE),
                description=f"**Out of service.** {bad.path}: {bad.reason}",
                metadata={"out_of_service": bad.reason, "file": bad.path},
                group_name=names.group(customer, name),
                kinds={"photoshop"},
            )
        )
    return specs


def _specs(campaign: Campaign) -> list[dg.AssetSpec]:
    customer, name = campaign.config.customer, campaign.config.campaign

    def spec(asset: str, deps: Sequence[str], description: str, kind: str) -> dg.AssetSpec:
        return dg.AssetSpec(
            names.asset_key(customer, name, asset),
            deps=[names.asset_key(customer, name, dep) for dep in deps],
            description=description,
            group_name=names.group(customer, name),
            skippable=True,
            kinds={kind},
        )

    return [
        spec(
            BASE_IMAGES,
            [JOB_REQUESTS],
            "One picture for each job, made by Firefly from its prompt; the untouched original.",
            "firefly",
        ),
        spec(
            RENDITIONS,
            [BASE_IMAGES, TEMPLATE],
            "The template with the picture and the copy in it, one file for each aspect.",
            "photoshop",
        ),
        spec(
            DELIVERIES,
            [RENDITIONS],
            "The renditions under their final keys, tagged; what the customer gets.",
            "s3",
        ),
    ]


def wave_asset(campaign: Campaign) -> dg.AssetsDefinition:
    """Return the three assets of *campaign*, made together; each partition is a job."""
    customer, name = campaign.config.customer, campaign.config.campaign

    @dg.multi_asset(
        name=names.op_name(customer, name),
        specs=_specs(campaign),
        check_specs=checks.specs(customer, name),
        partitions_def=names.partitions(customer, name),
        can_subset=True,
        required_resource_keys=resources.WAVE_PORTS,
        backfill_policy=dg.BackfillPolicy.multi_run(max_partitions_per_run=500),
    )
    def campaign_wave(context: dg.AssetExecutionContext):  # noqa: ANN202 - Dagster takes a return
        # annotation for an output.
        shop = resources.shop(context.resources)
        try:
            with cancels.heard(context.instance, context.run.run_id):
                yield from WaveRun(context, shop, customer, name).events()
        finally:
            resources.bring_metrics_away()

    return campaign_wave


@dataclass(slots=True)
class WaveRun:
    """One Dagster run on a campaign's jobs, from its keys to its verdict."""

    context: dg.AssetExecutionContext
    shop: Shop
    customer: str
    campaign: str
    ended: list[Ended] = field(default_factory=list[Ended])
    left: list[Skipped] = field(default_factory=list[Skipped])
    """Jobs that this run was to work on and did not."""
    shown: set[dg.AssetKey] = field(default_factory=set[dg.AssetKey])
    """The assets that are told of."""

    def events(self) -> Iterator[Event]:
        """Yield every event of the run; raise its failure last, so that nothing is lost by it."""
        begun = self._begin()
        if begun is None:
            self.context.log.info("Another run works on this wave, or it has ended: nothing to do.")
            return
        self._tag(begun)
        book = self._book(begun)
        try:
            for report in self._reports(begun):
                yield from self._told(report, book)
        except Exception as crash:
            # Whatever it is, the page of the run must say in a sentence what became of the jobs.
            raise interrupted(crash) from crash
        yield from book.evaluate(self.context.instance, now=self.shop.clock.now().timestamp())
        yield from book.summaries(self._keys(book.not_passed()), asked=len(self.ended))
        late = sorted(one.job_id for one in self.ended if one.turn is not Turn.SUCCEEDED)
        rows = self.shop.ledger.jobs(self.customer, late).values() if late else ()
        yield from events.waiting(rows, self.shop.clock.now())
        self._verdict()

    def _begin(self) -> Wave | beginning.Asked | None:
        context, ledger = self.context, self.shop.ledger
        wave_id, again = context.run.tags.get(names.WAVE_TAG), context.run.parent_run_id is not None
        if wave_id is not None and not again:
            settings, now = self.shop.settings, self.shop.clock.now()
            return beginning.begin(ledger, wave_id, context.run.run_id, settings=settings, now=now)
        if again:
            # Others may stand between its partitions by now; its wave still names its own.
            wave = ledger.wave(wave_id) if wave_id is not None else None
            jobs = wave.jobs if wave else self._chosen()
            return beginning.tell_again(ledger, self.customer, jobs, why=beginning.NOT_AGAIN)
        deliveries = names.asset_key(self.customer, self.campaign, DELIVERIES)
        # A job is made whole. Whoever chose an earlier stage alone must not pay for a later.
        if deliveries in context.selected_asset_keys:
            return beginning.asked_for(ledger, self.customer, self._chosen())
        return beginning.tell_again(ledger, self.customer, self._chosen(), why=beginning.NOT_WHOLE)

    def _chosen(self) -> Sequence[str]:
        if not self.context.has_partition_key and not self.context.has_partition_key_range:
            raise dg.Failure(
                "This run names no jobs. Choose partitions: each is one job.", allow_retries=False
            )
        return self.context.partition_keys

    def _tag(self, begun: Wave | beginning.Asked) -> None:
        """Title the run: runs have no names, and their tags are what people read."""
        jobs = len(begun.jobs) if isinstance(begun, Wave) else begun.count
        tags = {
            names.CUSTOMER_TAG: self.customer,
            names.CAMPAIGN_TAG: self.campaign,
            names.JOBS_TAG: str(jobs),
        }
        known = self.context.run.tags
        missing = {name: text for name, text in tags.items() if name not in known}
        self.context.instance.add_run_tags(self.context.run.run_id, missing)

    def _book(self, begun: Wave | beginning.Asked) -> checks.CheckBook:
        """Choose what is told: the selection, or everything where something is made."""
        selected = self.context.selected_asset_check_keys
        wanted = frozenset(key.name for key in selected)
        self.shown = set(self.context.selected_asset_keys)
        if isinstance(begun, beginning.Asked) and begun.batches:
            self.shown = set(names.wave_assets(self.customer, self.campaign))
            wanted = checks.every_name()
        return checks.CheckBook(
            self.customer,
            self.campaign,
            self.context.run.run_id,
            wanted=wanted,
            partitioned=checks.by_partition(
                self.context.instance, self.customer, self.campaign, self.shop.settings
            ),
        )

    def _reports(self, begun: Wave | beginning.Asked) -> Iterator[Report]:
        if isinstance(begun, Wave):
            yield from WaveThread(self.shop, begun, self.context.run.run_id).reports()
            return
        yield from begun.skipped
        for batch in begun.batches:
            yield from self._by_hand(batch)
        # Last, since it costs nothing to wait: no lease runs out meanwhile.
        for row in begun.done:
            yield from self._again(row)

    def _by_hand(self, batch: Batch) -> Iterator[Report]:
        """Claim a batch now that its turn has come, and work on what was won."""
        shop, run_id = self.shop, self.context.run.run_id
        wave = beginning.begin_by_hand(
            shop.ledger,
            batch,
            run_id,
            settings=shop.settings,
            now=shop.clock.now(),
            wave_id=shop.new_wave_id(),
        )
        won = wave.jobs if wave else ()
        for row in batch.rows:
            if row.job_id not in won:
                yield Skipped(row.job_id, _NOT_WON)
        if wave:
            self.context.instance.add_run_tags(run_id, {names.WAVE_TAG: wave.wave_id})
            yield from WaveThread(shop, wave, run_id).reports()

    def _again(self, row: JobRow) -> Iterator[Report]:
        shop = self.shop
        try:
            yield from reuse(shop.ledger, shop.objects, shop.pins.campaign(row), row)
        except errors.FactoryError as trouble:
            yield Skipped(row.job_id, f"it is done and can't be told again: {trouble}")

    def _told(self, report: Report, book: checks.CheckBook) -> Iterator[Event]:
        match report:
            case Made() | Handed():
                if events.key_of(report) in self.shown:
                    api_url = self.shop.settings.api_url
                    yield events.of(report, self.context.instance, api_url=api_url)
            case Checked():
                book.note(report)
            case Skipped(job_id, reason):
                self.context.log.info("Job %s is left alone: %s.", job_id, reason)
                self.left.append(report)
            case Ended():
                self.ended.append(report)
                if len(self.ended) % CHECK_CHUNK == 0:
                    now = self.shop.clock.now().timestamp()
                    yield from book.evaluate(self.context.instance, now=now)

    def _verdict(self) -> None:
        """End the run red if any job failed, was left alone or taken away, and say why."""
        for one in self.ended:
            if one.turn in {Turn.PARKED, Turn.HELD, Turn.LOST}:
                self.context.log.info("Job %s is %s: %s", one.job_id, one.turn, one.reason)
        verdict = Verdict(self.ended, self.left)
        if verdict.is_red:
            raise verdict.failure(self._keys(verdict.to_name()))

    def _keys(self, jobs: set[str]) -> dict[str, str]:
        """Return job id -> the key that the customer gave it."""
        rows = self.shop.ledger.jobs(self.customer, sorted(jobs))
        return {job_id: row.idempotency_key for job_id, row in rows.items()}
