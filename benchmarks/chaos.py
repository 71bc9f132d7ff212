"""`make bench-chaos`: 300 jobs through the real daemon while everything goes wrong.

Belongs here: the order of things, the figures in ``out/bench/chaos.json``, their bounds. Does not:
what goes wrong (``chaos_plan.py``, ``chaos_harm.py``), judging (``chaos_judge.py``,
``chaos_alarms.py``, and ``fence_judge.py`` for what was paid).

``--mutant`` runs a smaller bench against a copy of the package with a planted fault; the exit code
is 0 only if a bound was missed for it.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bench_figures
import chaos_alarms
import chaos_judge
from bench_place import Place, running
from chaos_crowd import Crowd
from chaos_harm import Harms
from chaos_judge import Look
from chaos_mutants import BOUNDS, FIGURES, MUTANTS, find
from chaos_plan import BROKEN, POISON, STRANDED, TENANTS, Plan, drawn
from chaos_proxy import Proxy
from fence_judge import Judge
from fence_project import calls, minted

from fireflyassets.core.ids import LETTERS
from fireflyassets.limiter.port import item_key

SETTINGS = {
    "FIREFLYASSETS_LEASE": "PT20S",
    "FIREFLYASSETS_SUBMIT_TIMEOUT": "PT8S",
    "FIREFLYASSETS_WAVE_JOBS": "60",
    # Half a period of the alarms, as ever.
    "FIREFLYASSETS_METRICS_EVERY": f"PT{chaos_alarms.PERIOD.total_seconds() / 2}S",
}
TWIN = ("--speed", "12")
CALM_SECONDS, CHAOS_SECONDS, MENDED_SECONDS, LOOK_SECONDS = 300.0, 900.0, 400.0, 1.0
TELL_SECONDS = 15.0


@dataclass(frozen=True)
class Found:
    """Everything that the figures are made of."""

    figures: Mapping[str, float]
    table: tuple[str, ...]
    faults: tuple[str, ...]


def main() -> int:
    """Run the bench, or a mutant's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--out", type=Path, default=FIGURES)
    parser.add_argument("--no-kills", action="store_true", help="nor harm to AWS; for mutants")
    parser.add_argument("--mutant", choices=sorted(MUTANTS))
    said = parser.parse_args()
    if said.mutant:
        return find(said.mutant, said.seed)
    begun = time.monotonic()
    found = _bench(drawn(said.seed, said.jobs), begun, kills=not said.no_kills)
    figures = {**found.figures, "wall_s": round(time.monotonic() - begun, 1)}
    bench_figures.write(said.out, figures)
    print("\n".join(found.table))
    for name, value in figures.items():
        print(f"{name:26}{value}")
    missed = [
        f"{name} is {figures[name]}, not {bound}"
        for name, bound in BOUNDS.items()
        if figures[name] != bound
    ]
    for sentence in (*found.faults, *missed):
        print(f"Not as promised: {sentence}", file=sys.stderr)
    return 1 if missed else 0


def _bench(plan: Plan, begun: float, *, kills: bool) -> Found:
    with (
        Proxy(plan.seed) as proxy,
        running(TENANTS, SETTINGS, TWIN, rewired=proxy.stand_before) as place,
        Crowd(place) as crowd,
        Harms(place, plan, proxy, kills=kills) as harms,
    ):
        return Bench(plan, place, crowd, harms, begun).run()


@dataclass
class Bench:
    """One bench at its work."""

    plan: Plan
    place: Place
    crowd: Crowd
    harms: Harms
    begun: float
    mints: chaos_alarms.Mints = field(default_factory=chaos_alarms.Mints)

    def run(self) -> Found:
        """Calm, chaos, mending; then all books are read."""
        watched_at = self._watched()
        self._say("calm")
        calm = [job for job in self.plan.jobs if job.calm]
        storm = [job for job in self.plan.jobs if job.in_storm]
        burst = [job for job in self.plan.jobs if job.in_burst]
        self.crowd.send(calm)
        self._until(lambda: self._rested(calm), CALM_SECONDS)
        self._say("storm")
        faults_at = _now()
        self.harms.begin_storm()
        self.crowd.send(storm)
        # What it has parked goes on beside all else.
        self._until(self.harms.are_done, CALM_SECONDS)
        self._say("faults begin")
        self.harms.begin()
        mixed = [job for job in self.plan.jobs if job.in_mix]
        self.crowd.send(mixed)
        self.crowd.poison()
        self._until(lambda: self._rested(mixed) and self.harms.are_done(), CHAOS_SECONDS)
        self._say("burst")
        self.crowd.send(burst)
        self._until(lambda: self._rested(burst), CHAOS_SECONDS)
        first = self._look()
        letters = len(self.crowd.keys(LETTERS))
        self._say("faults end")
        self.harms.end()
        lifted_at = _now()
        replayed = chaos_judge.recoverable(self.plan, first)
        self._mend()
        self._until(
            lambda: chaos_judge.share(replayed, self._look()) == 1 and self._rested(self.plan.jobs),
            MENDED_SECONDS,
        )
        last = self._look()
        billed = [call for call in self._calls() if call["billed"]]
        self._say("judging")
        self._clear(last)
        told = self._alarms(watched_at, faults_at)
        return self._judged(first, last, letters, replayed, billed, lifted_at, told)

    def _mend(self) -> None:
        """Do what the runbooks say, as an operator."""
        said = ("--go", "--by", "bench", "--why", "the faults are lifted")
        for tenant in TENANTS:
            if tenant.name in BROKEN:
                item = item_key(tenant.organisation, "firefly")
                self.crowd.command("limits", "reset", item, "--by", "bench", "--why", "mended")
        print(self.crowd.command("dlq", "list"), flush=True)
        print(self.crowd.command("dlq", "replay", "--mended", *said), flush=True)
        print(self.crowd.command("dlq", "replay", "--letters", *said), flush=True)

    def _clear(self, last: Look) -> None:
        """Close what nothing recovers, so that the alarm on dead letters has to go off."""
        for job in self.plan.jobs:
            if last.of(job).status == "dlq":
                self.crowd.cancel(job)
        self.crowd.drop_letters()
        _pause(4 * chaos_alarms.PERIOD.total_seconds())

    def _watched(self) -> datetime:
        """Return a moment from which on somebody looks."""
        since = _now()
        cloudwatch = self.place.aws("cloudwatch")
        self._until(
            lambda: chaos_alarms.is_watched(cloudwatch, since=since, now=_now()), CALM_SECONDS
        )
        cloudwatch.close()
        return _now()

    def _calls(self) -> list[dict[str, object]]:
        return calls(self.place.ground.twin)

    def _alarms(self, watched_at: datetime, faults_at: datetime) -> chaos_alarms.Told:
        cloudwatch = self.place.aws("cloudwatch")
        told = chaos_alarms.judge(
            cloudwatch, self.mints, begun=watched_at, faults_at=faults_at, ended=_now()
        )
        cloudwatch.close()
        return told

    def _judged(
        self,
        first: Look,
        last: Look,
        letters: int,
        replayed: list[chaos_judge.Planned],
        billed: list[dict[str, object]],
        lifted_at: datetime,
        told: chaos_alarms.Told,
    ) -> Found:
        ground, plan = self.place.ground, self.plan
        besides = [job for job in plan.jobs if job.in_storm or job.in_burst]
        kept = self.crowd.keys("review/")
        killed = chaos_judge.inside(ground.kills)
        paid = Judge(ground.books, self._calls(), ground.kills, plan.prompt).judge()
        lost = [*chaos_judge.lost(plan, last)]
        wanted = len((*POISON, *STRANDED)) + sum(job.fault.name == "redriven" for job in plan.jobs)
        lost += [f"{wanted - letters} dead letters are not there"] * (letters != wanted)
        wrong = [*chaos_judge.wrong(plan, first, last, killed)]
        wrong += chaos_judge.without_snapshot(plan, first, kept)
        figures: dict[str, float] = {
            "jobs": len(last.rows) - sum(job.job_id in last.rows for job in besides),
            "storm_jobs": sum(job.in_storm for job in besides),
            "burst_jobs": sum(job.in_burst for job in besides),
            "jobs_lost": len(lost),
            "unexplained_billed": paid.figures["unexplained_billed"] + paid.misstated,
            "alarms_expected": len(chaos_alarms.ALWAYS),
            "alarms_missed": len(told.missed),
            "alarms_false": len(told.false),
            "replay_recovered_share": chaos_judge.share(replayed, last),
            "replay_wasted_operations": float(
                chaos_judge.wasted(replayed, billed, since=lifted_at)
            ),
            "wrong_final_states": len(wrong),
            "silent_double_payments": paid.figures["silent_double_payments"],
            "faulty_jobs": sum(job.fault.name != "none" for job in plan.jobs),
            "replayed_jobs": len(replayed),
            "held_by_kills": sum(last.of(job) == chaos_judge.BY_FENCE for job in plan.jobs)
            - sum(job.fault.end == chaos_judge.BY_FENCE for job in plan.jobs),
            **self.harms.figures(),
            "alarm_period_s": chaos_alarms.PERIOD.total_seconds(),
            "seed": plan.seed,
            "load_1min": round(os.getloadavg()[0], 1),
        }
        faults = [*lost, *wrong, *(one for one in paid.faults if " is lost: " not in one)]
        faults += [f"alarm {name} did not fire" for name in sorted(told.missed)]
        faults += [f"alarm {name} fired, or stayed on" for name in sorted(told.false)]
        alarms = [
            f"alarm {one.alarm} {'on' if one.on else 'off'} at {one.at:%H:%M:%S}"
            for one in told.changes
        ]
        return Found(figures, (*chaos_judge.table(plan, first, last), *alarms), tuple(faults))

    def _look(self) -> Look:
        return chaos_judge.look(self.place.ground.books.all("jobs"))

    def _rested(self, sent: Iterable[chaos_judge.Planned]) -> bool:
        """Say whether nothing more happens to any job, and none of those *sent* is missing."""
        rows = self._look().rows
        job_ids = {job.job_id for job in sent if job.fault.end != chaos_judge.ABSENT} | set(rows)
        later = _now() + timedelta(minutes=4)
        return all(
            job_id in rows and chaos_judge.rests(rows[job_id], later=later) for job_id in job_ids
        )

    def _until(self, reached: Callable[[], bool], seconds: float) -> None:
        until, told = time.monotonic() + seconds, time.monotonic()
        while not reached():
            if time.monotonic() - told > TELL_SECONDS:
                told = time.monotonic()
                self._say(chaos_judge.summed(self._look()))
            self.place.stack.watch()
            self.mints.note(minted(self.place.ground.twin), _now())
            self.harms.tick(chaos_judge.progress(self.plan, self._look()))
            if time.monotonic() > until:
                self._say(f"NOT reached within {seconds:.0f} s")
                return
            _pause(LOOK_SECONDS)

    def _say(self, sentence: str) -> None:
        print(f"{time.monotonic() - self.begun:6.0f} s  {sentence}", flush=True)


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the bench's own clock.


def _pause(seconds: float) -> None:
    time.sleep(seconds)  # noqa: TID251 - real processes work meanwhile.


if __name__ == "__main__":
    sys.exit(main())
