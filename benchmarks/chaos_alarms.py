"""The chaos bench's alarms: the product's table, judged over the numbers that processes have sent.

Belongs here: reading them back, scaled periods, which alarms must fire when. Does not: rules and
thresholds, which are the product's own (``core/alarm.py``).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from fireflyassets.core.alarm import ALARMS, MINUTE, TOKEN_CACHE, Alarm, Read, Statistic
from fireflyassets.core.metric import STALLED, TOKEN_MISSES, Metric
from fireflyassets.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import DimensionTypeDef

PERIOD = timedelta(seconds=2)
"""Stands for a minute; what a threshold says in seconds stays as it is."""
SCALE = MINUTE / PERIOD
ALWAYS = frozenset(
    {"dlq_depth", "no_progress", "breaker_open", "refused_calls", "broken_jobs"},
)
"""Fire in each bench, and no other: jobs wait in dlq, nobody looks while daemon and watch are dead,
two organisations are refused for good, some are told to come back later for a while, and all jobs
of one are refused at once."""
STORM_PERIODS, STORM_REFUSALS = 8, 3
"""How many periods with how many refusals make a storm that nobody may sleep through: more than the
alarm needs, since what processes send stands up to a second after it happened."""

Numbers = Mapping[datetime, float]


@dataclass(frozen=True)
class Change:
    """An alarm that went on, or off."""

    alarm: str
    at: datetime
    on: bool


def is_storm(refused: Sequence[datetime]) -> bool:
    """Say whether calls were refused so often, and for so long, that somebody has to be called."""
    seconds = PERIOD.total_seconds()
    told = Counter(int(at.timestamp() // seconds) for at in refused)
    bad = {period for period, refusals in told.items() if refusals >= STORM_REFUSALS}
    return any(bad.issuperset(range(first, first + STORM_PERIODS)) for first in bad)


@dataclass
class Mints:
    """When the vendor made access tokens, each between two looks at its own count.

    A token lives for a day and is not scaled: made once for each credential, and again for each
    that is refused, it is a large part of a scaled hour's few calls. So an hour counts against the
    alarm on tokens only where more are told as missing than the vendor has made.
    """

    _looked_at: datetime | None = None
    _made: list[tuple[datetime, datetime]] = field(default_factory=list[tuple[datetime, datetime]])

    def note(self, total: int, now: datetime) -> None:
        """Take in how many were made until *now*."""
        since = self._looked_at or now
        self._made += [(since, now)] * (total - len(self._made))
        self._looked_at = now

    def between(self, start: datetime, end: datetime) -> int:
        """Return how many may have been counted within a time: what is sent is up to late."""
        return sum(since < end and until > start - PERIOD for since, until in self._made)


@dataclass(frozen=True)
class Told:
    """What the alarms did."""

    missed: frozenset[str]
    false: frozenset[str]
    changes: tuple[Change, ...]


def is_watched(client: "CloudWatchClient", *, since: datetime, now: datetime) -> bool:
    """Say whether somebody looks: before that a missing number is nobody's fault."""
    numbers = Reader(client, since, now).numbers(STALLED, Statistic.MAXIMUM, PERIOD)
    return bool(numbers)


def judge(
    client: "CloudWatchClient",
    mints: Mints,
    *,
    begun: datetime,
    faults_at: datetime,
    ended: datetime,
) -> Told:
    """Return which alarms were missed and which were false, between *begun* and *ended*.

    Before the faults, and at the very end, none may be on.
    """
    reader = Reader(client, begun, ended)
    known = [one for one in ALARMS if one.has_source]
    changes = [change for one in known for change in changes_of(one, reader, mints)]
    on = {change.alarm: change.on for change in changes}
    early = {one.alarm for one in changes if one.on and one.at <= faults_at}
    fired = {one.alarm for one in changes if one.on and one.at > faults_at}
    late = {name for name, is_on in on.items() if is_on}
    false = early | (fired - ALWAYS) | late
    told = tuple(sorted(changes, key=lambda one: one.at))
    return Told(ALWAYS - fired, frozenset(false), told)


def changes_of(alarm: Alarm, reader: "Reader", mints: Mints) -> Iterator[Change]:
    """Yield each time an alarm goes on or off, at the end of the period that did it."""
    baseline = Settings().end_to_end_baseline.total_seconds()
    period = alarm.period / SCALE
    numbers: list[float | None] = []
    on = False
    for start in reader.periods(period):
        numbers.append(_number(alarm, reader.at(start, period), mints, start, period))
        if alarm.fires(numbers, baseline=baseline) != on:
            on = not on
            yield Change(alarm.name, start + period, on)


def _number(
    alarm: Alarm, read: Read, mints: Mints, start: datetime, period: timedelta
) -> float | None:
    """Return one period's number; of tokens, none where the vendor has made as many."""
    told = read(TOKEN_MISSES, Statistic.SUM) if alarm is TOKEN_CACHE else None
    if told is not None and told <= mints.between(start, start + period):
        return None
    return alarm.number(read)


class Reader:
    """Numbers of one namespace, by period; each metric is asked for once."""

    def __init__(self, client: "CloudWatchClient", begun: datetime, ended: datetime) -> None:
        self._client = client
        self._begun = begun
        self._ended = ended
        self._known: dict[tuple[str, Statistic, timedelta], Numbers] = {}

    def periods(self, period: timedelta) -> Iterator[datetime]:
        """Yield the beginning of each whole period, by the epoch as CloudWatch cuts them."""
        seconds = period.total_seconds()
        first = -(-self._begun.timestamp() // seconds) * seconds
        at = datetime.fromtimestamp(first, tz=self._begun.tzinfo)
        while at + period <= self._ended:
            yield at
            at += period

    def at(self, start: datetime, period: timedelta) -> Read:
        """Return what reads the period that begins at *start*."""

        def read(metric: Metric, statistic: Statistic) -> float | None:
            return self.numbers(metric, statistic, period).get(start)

        return read

    def numbers(self, metric: Metric, statistic: Statistic, period: timedelta) -> Numbers:
        """Return beginning of a period -> its number."""
        key = (metric.name, statistic, period)
        if key not in self._known:
            parts = [
                self._asked(metric, statistic, period, labels)
                for labels in self._series(metric, statistic)
            ]
            self._known[key] = _together(parts, statistic)
        return self._known[key]

    def _series(
        self, metric: Metric, statistic: Statistic
    ) -> "Sequence[Sequence[DimensionTypeDef]]":
        """Return the sets of labels that one sum of all consists of.

        The embedded AWS takes no labels for any labels, so that the sum without labels can't be
        asked for; one rollup adds up to it. Percentiles do not change by being counted again.
        """
        names = metric.rollups[1] if len(metric.rollups) > 1 else ()
        if statistic is Statistic.P95 or not names:
            return [[]]
        told = self._client.list_metrics(
            Namespace=Settings().metrics_namespace, MetricName=metric.name
        )
        found = [one.get("Dimensions", []) for one in told["Metrics"]]
        return [one for one in found if {label.get("Name") for label in one} == set(names)]

    def _asked(
        self,
        metric: Metric,
        statistic: Statistic,
        period: timedelta,
        labels: "Sequence[DimensionTypeDef]",
    ) -> Numbers:
        kind = "ExtendedStatistics" if statistic is Statistic.P95 else "Statistics"
        told = cast("Any", self._client).get_metric_statistics(
            Namespace=Settings().metrics_namespace,
            MetricName=metric.name,
            Dimensions=labels,
            StartTime=self._begun,
            EndTime=self._ended,
            Period=round(period.total_seconds()),
            **{kind: [statistic.value]},
        )
        return {
            point["Timestamp"]: point.get("ExtendedStatistics", point)[statistic.value]
            for point in told["Datapoints"]
        }


def _together(parts: Sequence[Numbers], statistic: Statistic) -> Numbers:
    found: dict[datetime, list[float]] = defaultdict(list)
    for part in parts:
        for at, number in part.items():
            found[at].append(number)
    add = sum if statistic is Statistic.SUM else max
    return {at: float(add(numbers)) for at, numbers in found.items()}
