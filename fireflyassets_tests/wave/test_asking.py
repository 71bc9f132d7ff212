"""Why a job waits, asked of a whole factory in memory: the facts come from where they stand."""

from dataclasses import replace
from datetime import timedelta

from fireflyassets.core import cause
from fireflyassets.core.cause import Cause, HeldBy
from fireflyassets.core.errors import OutcomeUnknown
from fireflyassets.core.failure import Family
from fireflyassets.core.money import Cost
from fireflyassets.core.priority import Priority
from fireflyassets.core.status import Status
from fireflyassets.core.why import Why
from fireflyassets.limiter.limits import Limits
from fireflyassets.limiter.memory import MemoryLimiter
from fireflyassets.limiter.port import ParkReason, item_key
from fireflyassets.ports.budgets import OverBudget
from fireflyassets.ports.entries import Claim, Ending, Recorded, Release, Wave, WaveState
from fireflyassets.stages.steering import Steering
from fireflyassets.stages.waiting import FRESH
from fireflyassets.wave import endings
from fireflyassets.wave.asking import Asking
from fireflyassets_tests.front_door import (
    CAMPAIGN,
    CUSTOMER,
    NOON,
    FixedCatalogue,
    FrontDoor,
    asked,
    capped,
    config,
    front_door,
    outlook,
)

ITEM = item_key("ORG", Family.FIREFLY)
MINUTE = timedelta(minutes=1)


class Counter:
    """Whom one asks, over a door."""

    def __init__(self, catalogue: FixedCatalogue | None = None) -> None:
        self.door: FrontDoor = front_door(catalogue)
        self.limiter = MemoryLimiter(now=self.door.clock.now)
        self.asking = Asking(outlook(self.door, limiter=self.limiter))

    def order(self, key: str) -> str:
        """Let a job come in and return its id."""
        (answer,) = self.door.intake.accept([asked(key=key)], customer=CUSTOMER, campaign=CAMPAIGN)
        assert isinstance(answer, Recorded)
        self.door.clock.jump(timedelta(seconds=1))
        return answer.row.job_id

    def why(self, job_id: str) -> Why:
        """Ask why a job waits."""
        row = self.door.ledger.job(job_id)
        assert row is not None
        return self.asking.why(row)

    def cause(self, job_id: str) -> Cause:
        """Return the cause alone."""
        return self.why(job_id).cause

    def wave(self, name: str, job_id: str) -> Claim:
        """Put a job into a wave of its own."""
        wave = Wave(name, CUSTOMER, CAMPAIGN, "v", "acme-main", WaveState.FORMING, (job_id,), NOON)
        self.door.ledger.form(wave)
        claim = self.door.ledger.claim(job_id, CUSTOMER, name, now=self.door.clock.now())
        assert claim is not None
        return claim


def test_a_job_in_line_says_how_many_go_first_and_when_its_turn_comes() -> None:
    """Ten before it, one picture each at 3.2 a minute: about three minutes."""
    here = Counter()
    jobs = [here.order(f"k{n}") for n in range(11)]

    first, last = here.why(jobs[0]), here.why(jobs[-1])

    assert isinstance(first.cause, cause.InLine)
    assert isinstance(last.cause, cause.InLine)
    assert (first.cause.ahead, last.cause.ahead) == (0, 10)
    assert first.cause.sentence == "It is next."
    assert first.expected_start is not None
    assert last.expected_start is not None
    minutes = (last.expected_start - first.expected_start) / MINUTE
    assert 3 <= minutes <= 4


def test_holds_and_broken_files_count_before_the_line() -> None:
    """The campaign's hold is told of a job that does not know of it yet."""
    here = Counter()
    job_id = here.order("k")
    steering = Steering(here.door.ledger, here.door.clock, lambda _: timedelta())
    steering.hold(CUSTOMER, CAMPAIGN, reason="stock is out.", by="ada")

    told = here.cause(job_id)

    assert isinstance(told, cause.CampaignOnHold)
    assert told.sentence == "The campaign is on hold (ada): stock is out."


def test_a_lost_answer_is_told_once() -> None:
    """In the fence's own words, without others of the same before them."""
    here = Counter()
    claim = here.wave("w", here.order("k"))
    lost = OutcomeUnknown("art", "send 1 was never answered")
    release = endings.delayed(lost, now=here.door.clock.now())
    here.door.ledger.release(claim, release, now=here.door.clock.now())

    told = here.cause(claim.job_id)

    assert isinstance(told, cause.OutcomeUnknown)
    words = "Step art: the outcome of a paid call is unknown (send 1 was never answered)."
    assert told.sentence == words


def test_a_parked_job_is_told_by_what_parked_it() -> None:
    """What is kept beside the reason tells limit from share, whatever the words; else incident."""
    here = Counter()
    later = NOON + timedelta(hours=1)
    words = str(ParkReason.NOT_YOUR_TURN)  # Of somebody else's sentence, they tell nothing.
    told: list[HeldBy] = []
    for held_by in (HeldBy.LIMIT, HeldBy.SHARE, None):
        claim = here.wave(f"w-{len(told)}", here.order(f"k{len(told)}"))
        release = Release(f"The ledger was away: {words}.", not_before=later, held_by=held_by)
        here.door.ledger.release(claim, release, now=here.door.clock.now())
        found = here.why(claim.job_id)
        assert found.expected_start is not None
        assert found.expected_start >= later
        told.append(found.cause.held_by)

    assert told == [HeldBy.LIMIT, HeldBy.SHARE, HeldBy.INCIDENT]


def test_a_pause_a_breaker_and_a_used_up_day_are_seen_at_the_limiter() -> None:
    """Whatever the row says: that is what stands in its way now."""
    here = Counter()
    job_id = here.order("k")
    limits = Limits(per_minute=60, source="a test", as_of=NOON.date(), per_day=1)
    here.limiter.register(ITEM, limits)
    assert isinstance(here.cause(job_id), cause.InLine)
    here.limiter.reserve(ITEM, 1)
    used_up = here.cause(job_id)
    here.limiter.register(ITEM, replace(limits, per_day=100))
    here.limiter.pause(ITEM, timedelta(minutes=5))
    paused = here.cause(job_id)
    here.limiter.pause(ITEM, timedelta(hours=1))
    opened = here.why(job_id)

    assert isinstance(used_up, cause.DayQuotaUsed)
    assert isinstance(paused, cause.ServicePaused)
    assert isinstance(opened.cause, cause.BreakerOpen)
    assert opened.expected_start is not None
    assert opened.expected_start >= NOON + timedelta(minutes=15)


def test_a_wave_that_begins_waits_warm_or_works() -> None:
    """The older wave of a lane has the turn; the younger one says so."""
    here = Counter()
    one, two = here.wave("w-1", here.order("k1")), here.wave("w-2", here.order("k2"))
    assert isinstance(here.cause(one.job_id), cause.Beginning)
    for name in ("w-1", "w-2"):
        ledger, until = here.door.ledger, here.door.clock.now() + MINUTE
        job = one.job_id if name == "w-1" else two.job_id
        ledger.formed(name, (job,))
        ledger.launched(name)
        ledger.start(name, f"run-{name}", lease_until=until)

    assert isinstance(here.cause(one.job_id), cause.InProduction)
    assert isinstance(here.cause(two.job_id), cause.WarmWave)
    here.door.ledger.draining("w-1")
    assert isinstance(here.cause(two.job_id), cause.InProduction)


def test_a_dead_job_without_room_to_run_again_is_held_by_its_budget() -> None:
    """With room it can be run again; what its replay would take is what counts."""
    here = Counter(FixedCatalogue(config(), budgets=capped("7")))
    claim = here.wave("w-1", here.order("dead"))
    ending = Ending(Status.DLQ, "Firefly was down.", (), Cost(), here.door.clock.now(), None)
    here.door.ledger.finish(claim, ending)
    can = here.cause(claim.job_id)
    for key in ("next", "last"):
        here.order(key)

    full = here.cause(claim.job_id)

    assert isinstance(can, cause.CanRunAgain)
    assert isinstance(full, cause.BudgetFull)
    assert "budget customer of 2026-11 has 0 operations left; it needs 3.5" in full.sentence
    refused = here.door.ledger.reclaim(claim.job_id, CUSTOMER, "w-2", now=here.door.clock.now())
    assert isinstance(refused, OverBudget)


def test_more_urgent_campaigns_go_first_and_patient_ones_do_not() -> None:
    """The line's place and the expected start count the tenant's other campaigns by priority."""
    urgent = config(campaign="urgent", priority=Priority.HIGH)
    patient = config(campaign="patient", priority=Priority.LOW)
    here = Counter(FixedCatalogue(config(), urgent, patient))
    job_id = here.order("k")
    alone = here.why(job_id)
    for campaign, jobs in (("urgent", 32), ("patient", 500)):
        rows = [asked(key=f"{campaign}-{n}") for n in range(jobs)]
        here.door.intake.accept(rows, customer=CUSTOMER, campaign=campaign)
    here.door.clock.jump(FRESH)

    told = here.why(job_id)

    assert isinstance(told.cause, cause.InLine)
    assert told.cause.ahead == 32
    assert told.expected_start is not None
    assert alone.expected_start is not None
    assert 9 <= (told.expected_start - alone.expected_start) / MINUTE <= 12
