"""The metrics, as one table: what is measured, in which unit, by which labels, and who measures it.

Belongs here: names and meaning. Does not: counting (``core/tally.py``), when a number is bad
(``core/alarm.py``), where numbers are kept.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal


class Kind(StrEnum):
    """What an instrument does."""

    COUNTER = "counter"
    """Adds up; the sum over a time is what counts."""
    HISTOGRAM = "histogram"
    """Keeps how often each value came, to two digits, so that percentiles can be told."""
    GAUGE = "gauge"
    """How something stands; the last value holds."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. Labels are few and bounded: no job id, key or prompt is one."""

    name: str
    kind: Kind
    unit: Literal["Count", "Seconds", "Percent", "None"]
    """In words of CloudWatch."""
    says: str
    source: str
    """Who measures it, and when."""
    labels: tuple[str, ...] = ()
    rollups: tuple[tuple[str, ...], ...] = ((),)
    """The sets of labels that are summed up and kept: each costs a series, all at once too many."""


_CALL: Final = ("endpoint", "credential", "customer", "status")
_BY_CALL: Final = ((), ("endpoint",), ("credential",), ("customer",))
_CUSTOMER: Final = ("customer",)
_BY_CUSTOMER: Final = ((), _CUSTOMER)
_OUTCOME: Final = ("outcome",)
_WIRE: Final = "each process that calls Adobe, at each HTTP call"
_TURN: Final = "each run, as a job's turn ends"
_TELLING: Final = "each process that delivers webhooks, at each try"
_LEDGER: Final = "each process, once the ledger has it"
_WATCH: Final = "the sensor `watch`, twice a minute, from the ledger, the queue and the limiter"


def _counter(
    name: str,
    says: str,
    source: str,
    labels: tuple[str, ...] = (),
    rollups: tuple[tuple[str, ...], ...] = ((),),
) -> Metric:
    return Metric(name, Kind.COUNTER, "Count", says, source, labels, rollups)


CALLS: Final = _counter(
    "adobe_calls",
    "HTTP calls to Adobe: submits, polls, uploads, tokens, results.",
    _WIRE,
    _CALL,
    (*_BY_CALL, ("status",)),
)
REFUSED: Final = _counter(
    "adobe_calls_refused",
    "Those of them that were answered 429.",
    _WIRE,
    _CALL[:-1],
    _BY_CALL,
)
LATENCY: Final = Metric(
    "adobe_latency",
    Kind.HISTOGRAM,
    "Seconds",
    "From sending a call to its whole answer.",
    _WIRE,
    ("endpoint",),
    ((), ("endpoint",)),
)
TOKEN_USES: Final = _counter(
    "token_uses",
    "Calls that took an access token.",
    _WIRE,
    ("credential",),
    ((), ("credential",)),
)
TOKEN_MISSES: Final = _counter(
    "token_misses",
    "Those of them that had to have a new one made.",
    _WIRE,
    ("credential",),
    ((), ("credential",)),
)
ACCEPTED: Final = _counter(
    "jobs_accepted",
    "New jobs, durable in the ledger.",
    _LEDGER,
    _CUSTOMER,
    _BY_CUSTOMER,
)
ENDED: Final = _counter(
    "jobs_ended",
    "Jobs that a wave brought to a terminal status; cancelled ones have none of it.",
    _TURN,
    ("customer", "status"),
    ((), ("status",), ("customer", "status")),
)
BROKEN: Final = _counter(
    "jobs_broken",
    "Those of them that ended in `failed`, `dlq` or `review`.",
    _TURN,
    _CUSTOMER,
    _BY_CUSTOMER,
)
RELEASED: Final = _counter(
    "jobs_given_back",
    "Turns that ended without an end of the job: parked, held or lost.",
    _TURN,
    ("customer", "turn"),
    ((), ("turn",)),
)
END_TO_END: Final = Metric(
    "end_to_end",
    Kind.HISTOGRAM,
    "Seconds",
    "From intake to the terminal status.",
    _TURN,
    _CUSTOMER,
    _BY_CUSTOMER,
)
WEBHOOK_END_TO_END: Final = Metric(
    "webhook_end_to_end",
    Kind.HISTOGRAM,
    "Seconds",
    "From intake to the webhook that tells the end and is answered 2xx.",
    _TELLING,
    _CUSTOMER,
    _BY_CUSTOMER,
)
WEBHOOK_TRIES: Final = _counter(
    "webhook_tries",
    "Tries to tell, by outcome.",
    _TELLING,
    _OUTCOME,
    (_OUTCOME,),
)
STEPS: Final = _counter(
    "steps",
    "Steps of jobs by how they ended: `done`, `failed`, or `delayed`; by custom model, too.",
    _TURN,
    ("step", "outcome", "model"),
    (("step", "outcome"), ("model", "outcome")),
)
OPERATIONS: Final = _counter(
    "operations",
    "Operations booked: certain and possible ones, with the id or with a refusal in doubt.",
    _LEDGER,
    ("customer", "campaign"),
    ((), ("customer",), ("customer", "campaign")),
)
FORECAST: Final = _counter(
    "operations_forecast",
    "Estimates of jobs as their first turn begins. There are no forecasts of campaigns yet.",
    _TURN,
    ("customer", "campaign"),
    ((), ("customer",), ("customer", "campaign")),
)
QUEUE_DEPTH: Final = Metric(
    "queue_depth",
    Kind.GAUGE,
    "Count",
    "Visible messages of the job queue, and queued rows of the ledger that nobody holds.",
    _WATCH,
)
QUEUE_MINUTES: Final = Metric(
    "queue_depth_per_rpm",
    Kind.GAUGE,
    "None",
    "That depth over the Firefly calls a minute of all organisations with loaded campaigns.",
    _WATCH,
)
QUEUED: Final = Metric(
    "jobs_queued",
    Kind.GAUGE,
    "Count",
    "Queued rows of the ledger that nobody holds.",
    _WATCH,
    ("customer", "credential"),
    (("customer", "credential"),),
)
DEAD: Final = Metric(
    "dlq_depth",
    Kind.GAUGE,
    "Count",
    "Messages of the dead-letter queue, and jobs in `dlq`.",
    _WATCH,
)
OLDEST_DUE: Final = Metric(
    "oldest_due",
    Kind.GAUGE,
    "Seconds",
    "How long the job waits that has been due for longest; 0 where none is due.",
    _WATCH,
)
STALLED: Final = Metric(
    "stalled",
    Kind.GAUGE,
    "Seconds",
    "How long an organisation with due jobs and free tickets has taken none; the worst one.",
    _WATCH,
)
BREAKERS: Final = Metric(
    "breakers_open",
    Kind.GAUGE,
    "Count",
    "Breakers that are open: all calls of so many organisations' API families wait.",
    _WATCH,
)
RATE: Final = Metric(
    "limiter_rate",
    Kind.GAUGE,
    "Count",
    "Calls a minute that an item is paced to now.",
    _WATCH,
    ("item",),
    (("item",),),
)
HEADROOM: Final = Metric(
    "limiter_headroom",
    Kind.GAUGE,
    "Percent",
    "How much of that rate the last minute left unused.",
    _WATCH,
    ("item",),
    (("item",),),
)
LAG: Final = Metric(
    "projection_lag",
    Kind.GAUGE,
    "Seconds",
    "How late Dagster is told what an interrupted run came to; 0 where nothing is behind.",
    "the sensor `projections`, each half minute",
)
DROPPED: Final = _counter(
    "metrics_dropped",
    "Numbers that found no room in the process, or that CloudWatch did not take.",
    "each process",
)
BUDGET: Final = Metric(
    "budget_used",
    Kind.GAUGE,
    "Percent",
    "The part of its month that is reserved or spent, of whichever budget is nearest its end.",
    _WATCH,
)
EXPORT_LAG: Final = Metric(
    "export_lag",
    Kind.GAUGE,
    "Seconds",
    "How far the export of ended jobs is behind.",
    "",
)

METRICS: Final = (
    CALLS,
    REFUSED,
    LATENCY,
    TOKEN_USES,
    TOKEN_MISSES,
    ACCEPTED,
    ENDED,
    BROKEN,
    RELEASED,
    END_TO_END,
    WEBHOOK_END_TO_END,
    WEBHOOK_TRIES,
    STEPS,
    OPERATIONS,
    FORECAST,
    QUEUE_DEPTH,
    QUEUE_MINUTES,
    QUEUED,
    DEAD,
    OLDEST_DUE,
    STALLED,
    BREAKERS,
    RATE,
    HEADROOM,
    LAG,
    DROPPED,
    BUDGET,
    EXPORT_LAG,
)
"""In the order of the page. One without a source has no producer yet."""
