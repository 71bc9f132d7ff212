"""The chaos bench's plan: who sends which jobs, what befalls each, and how it may end.

Belongs here: the table of faults, written before anything runs, and the seeded mix. Does not:
carrying it out (``chaos.py``), judging (``chaos_judge.py``).
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from fence_project import PICTURE, SIDE, Tenant

from fireflyassets.core import ids
from fireflyassets.core.request import RawRequest

CAMPAIGN = "bench"
MAIN, LAYOUTS, BURSTING = "alder", "birch", "yew"
STORMY = ("cedar", "hazel", "juniper", "larch")
TENANTS = (
    Tenant(MAIN, composes=False, per_minute=900),
    Tenant(LAYOUTS, composes=True, per_minute=600, on_failure="dlq"),
    *(Tenant(name, composes=False, per_minute=1200) for name in STORMY),
    Tenant(BURSTING, composes=False, per_minute=1200),
    Tenant("elm", composes=False),
    Tenant("fir", composes=False),
    Tenant("gorse", composes=False),
)
LAYOUT_SHARE, CALM_SHARE, FAULT_SHARE = 0.1, 0.3, 0.1
STORM_JOBS = 40
"""A job is refused ten times before it is parked, some in each second of its organisation: the ten
of one organisation alone are refused for longer than the alarm on refusals needs."""
BURST_JOBS = 48
"""Twice what has to end badly within five periods of the alarms: a burst may fall into two."""

Rule = Mapping[str, object]
"""A fault of the simulated Adobe: what happens, in its own language."""


@dataclass(frozen=True)
class End:
    """How a job stands at its end: its status, its class of failure, and who holds it."""

    status: str
    failure: str | None = None
    held_by: str | None = None

    def __str__(self) -> str:
        """Return it as the table shows it."""
        return "/".join(filter(None, (self.status, self.failure, self.held_by)))


DONE = End("succeeded")
BY_FENCE, BY_FACTORY = End("queued", None, "fence"), End("queued", None, "factory")
ABSENT = End("absent")


@dataclass(frozen=True)
class Fault:
    """One class of fault: what befalls a job, how it ends then, and how once all is mended."""

    name: str
    end: End
    after: End | None = None
    """Once faults are lifted and the replay has run; None: as before."""
    rule: Rule | None = None
    words: str = ""
    """What the prompt says besides, for the simulated Adobe to act on."""
    tenant: str = MAIN
    times: int | None = None
    once: bool = False
    """At most one job has it: it stops its whole organisation."""

    @property
    def mended(self) -> End:
        """Return how the job stands at the very end."""
        return self.after or self.end

    @property
    def is_recoverable(self) -> bool:
        """Say whether the replay has to bring it to its end."""
        return self.end.status == "dlq" and self.mended == DONE

    def said(self) -> str:
        """Return what tells its jobs' prompts."""
        return f"case-{self.name}."

    def scripted(self) -> dict[str, object] | None:
        """Return the fault as the simulated Adobe takes it."""
        if self.rule is None:
            return None
        when: dict[str, object] = {"endpoint": "generate", "prompt_contains": self.said()}
        if self.times is not None:
            when["times"] = self.times
        return {"when": when, "then": self.rule, "note": self.name}


def _answer(status: int, code: str, message: str = "", **more: object) -> Rule:
    body = {"error_code": code, "message": message}
    return {"kind": "answer", "status": status, "body": body, **more}


NONE = Fault("none", DONE)
FAULTS = (
    Fault("unsafe", End("review", "unsafe-content"), words="twin-unsafe"),
    Fault("unsafe-job", End("review", "unsafe-content"), words="twin-unsafe-job"),
    Fault("invalid", End("review", "invalid-request"), rule=_answer(422, "validation_error")),
    Fault("retired", End("review", "model-retired"), rule=_answer(404, "model_unknown")),
    Fault("lost-answer", BY_FENCE, rule={"kind": "drop"}),
    Fault("lost-poll", BY_FENCE, rule={"kind": "lost"}),
    Fault(
        "accepted-504",
        BY_FENCE,
        rule={"kind": "answer", "status": 504, "accept": True, "body": "<html>timeout</html>"},
    ),
    Fault("unknown", BY_FACTORY, rule=_answer(418, "teapot")),
    Fault(
        "failing",
        End("dlq", "transient"),
        DONE,
        rule={"kind": "ends_as", "status": "failed", "error_code": "internal_error"},
    ),
    Fault("stale", End("dlq", "stale-reference"), DONE, rule=_answer(422, "400312")),
    Fault("wrong-size", End("review", "template-defect"), rule={"kind": "wrong_size"}),
    Fault(
        "refused-for-good",
        End("dlq", "invalid-request"),
        rule=_answer(422, "validation_error"),
        tenant=LAYOUTS,
    ),
    Fault("outage", DONE, rule=_answer(503, "internal_error"), times=2, once=True),
    Fault("expired-url", DONE, rule={"kind": "expired_url", "answers": 1}),
    Fault("late", DONE, rule={"kind": "late", "seconds": 6}),
    Fault("cancelled", End("cancelled")),
    Fault("sent-again", DONE),
    Fault("redriven", ABSENT, DONE),
    Fault("auth", End("dlq", "auth"), DONE, rule=_answer(401, "401013"), tenant="gorse"),
    Fault(
        "quota",
        End("dlq", "quota"),
        DONE,
        rule=_answer(403, "quota_exhausted", headers={"x-access-error": "quota_exhausted"}),
        tenant="elm",
        once=True,
    ),
    Fault(
        "entitlement",
        End("dlq", "entitlement"),
        DONE,
        rule=_answer(403, "user_non_entitled"),
        tenant="fir",
        once=True,
    ),
)
BURST = Fault(
    "invalid-burst",
    End("review", "invalid-request"),
    rule=_answer(422, "validation_error"),
    tenant=BURSTING,
)
"""Befalls all jobs of one tenant at once, besides the mix, for the alarm on broken jobs."""
STORM = Fault("storm", DONE)
"""Befalls all jobs of some tenants, besides the mix, before it: they are told to come again."""
BROKEN = frozenset({"elm", "fir"})
"""Tenants whose faults open their organisations' breakers."""
POISON = (
    '{"version": 7, "customer": "alder"}',
    "not a message at all",
    '{"Type": "Notification", "TopicArn": "arn:aws:sns:::x", "Message": "{}"}',
    (
        '{"version": 1, "customer": "alder", "campaign": "none", "idempotencyKey": "p",'
        ' "prompt": "a pear", "locale": "en-GB", "headline": "Pear", "aspects": ["1024x1024"]}'
    ),
)
"""Messages of the job queue that no job answers for."""
STRANDED = ('{"version": 1, "wake": ["00000000-0000-5000-8000-000000000000"]}',)
"""The same, in the dead-letter queue: the job queue itself knows no wrong wake-up."""


@dataclass(frozen=True)
class Planned:
    """One job that is sent."""

    customer: str
    n: int
    fault: Fault
    by_queue: bool
    calm: bool
    """Sent before anything goes wrong."""

    @property
    def in_burst(self) -> bool:
        """Say whether it is sent together with others of the burst, once all else rests."""
        return self.fault is BURST

    @property
    def in_storm(self) -> bool:
        """Say whether it is sent into the storm, once the calm jobs rest."""
        return self.fault is STORM

    @property
    def in_mix(self) -> bool:
        """Say whether it is sent with all that befalls jobs one by one."""
        return not (self.calm or self.in_burst or self.in_storm)

    @property
    def job_id(self) -> str:
        """Return its id."""
        return ids.job_id(self.customer, self.key)

    @property
    def key(self) -> str:
        """Return its idempotency key."""
        return f"{self.n:05d}"

    @property
    def prompt(self) -> str:
        """Return its prompt; no two are alike."""
        tail = f", {self.fault.said()} {self.fault.words}".rstrip()
        return f"bottle {self.n} of {self.customer}{tail if self.fault is not NONE else ''}"

    @property
    def request(self) -> RawRequest:
        """Return what the customer asks for."""
        side = SIDE if self.customer == LAYOUTS else PICTURE
        return RawRequest(self.key, self.prompt, "en-GB", f"No {self.n}", (side,))


@dataclass(frozen=True)
class Plan:
    """Every job, with what befalls it."""

    seed: int
    jobs: tuple[Planned, ...]
    _by_name: Mapping[tuple[str, int], Planned] = field(
        default_factory=dict[tuple[str, int], Planned]
    )

    def prompt(self, customer: str, n: int) -> str:
        """Return the prompt of a customer's n-th job."""
        return self._by_name[customer, n].prompt


def drawn(seed: int, jobs: int) -> Plan:
    """Return a plan of *jobs* jobs, a tenth of them with faults, each class at least once.

    Storm and burst come on top of them.
    """
    dice = random.Random(seed)  # noqa: S311 - which job is hit is no secret.
    many = [fault for fault in FAULTS if not fault.once]
    befallen = list(FAULTS)
    befallen += dice.choices(many, k=max(0, round(jobs * FAULT_SHARE) - len(FAULTS)))
    plain = jobs - len(befallen)
    calm, layouts = (round(plain * share) for share in (CALM_SHARE, LAYOUT_SHARE))
    told = [(MAIN, NONE, True)] * calm + [(LAYOUTS, NONE, False)] * layouts
    told += [(one.tenant, one, False) for one in befallen]
    told += [(MAIN, NONE, False)] * (jobs - len(told))
    dice.shuffle(told)
    planned = [
        Planned(customer, n, fault, dice.random() < 0.5, is_calm)
        for n, (customer, fault, is_calm) in enumerate(told)
    ]
    besides = [(STORMY[n % len(STORMY)], STORM) for n in range(STORM_JOBS)]
    besides += [(BURSTING, BURST)] * BURST_JOBS
    planned += [
        Planned(customer, n, fault, by_queue=False, calm=False)
        for n, (customer, fault) in enumerate(besides, start=jobs)
    ]
    return Plan(seed, tuple(planned), {(one.customer, one.n): one for one in planned})
