"""How well the limiter paces real processes, and how it compares.

Here: the runs, the bounds, the table and ``out/bench/limiter.json``. Run it with ``make
bench-limiter``; it takes about eight minutes, starts its own ministack and Redis on loopback, and
fails where a bound is missed. With ``ARGS="--simulate --rpm 4 --workers 16"`` it runs one saturated
fleet in virtual time instead, of 1 to 256 workers at 4 to 3,000 calls a minute. The
storm and the fairness come from virtual time; all else is wall time on one machine, so that shares
and counts carry over to others and rates do not.
"""

import argparse
import importlib.util
import json
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

from limiter_fleet import Outcome, Run, fly, stores
from limiter_rivals import RIVALS, SETTINGS, TABLE, dynamodb, ours

from fireflyassets.limiter.dynamodb import table_spec
from fireflyassets.limiter.sharing import Tenant, divide, share
from fireflyassets.limiter.simulation import saturate
from fireflyassets.limiter.storm import FixedMinute, SlidingMinute, TokenBucket, storm

OUT = Path("out/bench/limiter.json")
SERVICES = (SlidingMinute, FixedMinute, TokenBucket)
START_SECONDS = 6.0  # Four interpreters have to come up.
PACKAGES = {"pyrate_limiter": "pyrate_limiter", "limits": "limits"}


BOUNDS: dict[str, tuple[float, float]] = {
    "utilisation": (0.99, 1.01),
    "duplicate_tickets": (0, 0),
    "max_per_second": (0, 10),
    "max_per_minute": (0, 600),
    "max_per_minute_k4": (0, 600),
    "writes_per_grant_k1": (0, 1.05),
    "writes_per_grant_k4": (0, 0.3),
    "tickets_lost_per_kill": (0, 4),
    "storm_429_share": (0, 0.003),
    "storm_429_share_no_header": (0, 0.03),
    "storm_use": (0.95, 1.0),
    "storm_dropped": (0, 0),
    "light_tenants_ratio": (0, 1.05),
    "least_share_of_a_crowd": (0.8, 1.0),
    "greatest_share_of_a_crowd": (1.0, 1.25),
}
"""What each figure has to lie within."""


def main() -> None:
    """Run everything, print a table, write the numbers; or simulate one fleet.

    Raises:
        SystemExit: A bound is missed.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=66.0, help="of each long run")
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--simulate", action="store_true", help="one fleet in virtual time")
    parser.add_argument("--rpm", type=int, default=600, help="calls a minute, 4 to 3,000")
    parser.add_argument("--workers", type=int, default=64, help="1 to 256")
    arguments = parser.parse_args()
    if arguments.simulate:
        fleet = saturate(rate_per_minute=arguments.rpm, workers=arguments.workers)
        show(asdict(fleet))
        return
    for name, text in SETTINGS.items():
        print(f"{name}: {text}")
    numbers = storm_numbers() | crowd_numbers() | {"light_tenants_ratio": light_tenants_ratio()}
    with stores() as (endpoint, redis_port):
        client = dynamodb(endpoint)
        client.create_table(**table_spec(TABLE))
        client.close()
        run = Run(ours, endpoint, redis_port, "", 1, arguments.seconds, 0, "")
        numbers |= our_numbers(run)
        if not arguments.no_rivals:
            numbers |= rival_numbers(run)
    show(numbers)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    told = numbers | {"settings": SETTINGS}
    OUT.write_text(json.dumps(told, indent=2, sort_keys=True) + "\n")
    missed = [
        f"{name} is {numbers[name]}, not within {least} to {most}"
        for name, (least, most) in BOUNDS.items()
        if not least <= numbers[name] <= most
    ]
    if missed:
        raise SystemExit("Missed: " + "; ".join(missed))


def our_numbers(run: Run) -> dict[str, float]:
    """Measure our limiter with blocks of one and of four, and with a process that dies."""
    one = measure(replace(run, item="k1"))
    four = measure(replace(run, item="k4", weight=4))
    killed = measure(
        replace(run, item="kill", weight=4, seconds=run.seconds / 2), kill_after=run.seconds / 4
    )
    return {
        "utilisation": one.utilisation,
        "utilisation_k4": four.utilisation,
        "duplicate_tickets": sum(each.duplicate_tickets for each in (one, four, killed)),
        "max_per_second": max(one.max_per_second, four.max_per_second),
        "max_per_minute": one.max_per_minute,
        "max_per_minute_k4": four.max_per_minute,
        "writes_per_grant_k1": one.writes_per_grant,
        "writes_per_grant_k4": four.writes_per_grant,
        "reads_per_grant_k1": one.reads_per_grant,
        "reads_per_grant_k4": four.reads_per_grant,
        "tickets_lost": one.missing_tickets + four.missing_tickets,
        "tickets_lost_per_kill": killed.missing_tickets,
    }


def rival_numbers(run: Run) -> dict[str, float]:
    """Measure the rivals; a package that is not installed is left out and said so."""
    numbers: dict[str, float] = {}
    for name, make in RIVALS.items():
        package = PACKAGES.get(name)
        if package is not None and importlib.util.find_spec(package) is None:
            print(f"{name}: not installed, left out")
            continue
        outcome = measure(replace(run, make=make, item=name), at_minute=name == "fixed_window")
        kept = ["utilisation", "max_per_second", "max_per_minute"]
        if package is None:
            kept.append("writes_per_grant")
        numbers |= {f"rivals.{name}.{key}": asdict(outcome)[key] for key in kept}
    return numbers


def measure(run: Run, *, kill_after: float | None = None, at_minute: bool = False) -> Outcome:
    """Run the fleet once; *at_minute* starts it five seconds before a minute of the clock ends."""
    starts_at = time.time_ns() + int(START_SECONDS * 1e9)
    if at_minute:
        minute = 60_000_000_000
        starts_at += (-starts_at - 5_000_000_000) % minute
    with tempfile.TemporaryDirectory() as folder:
        outcome = fly(replace(run, starts_at=starts_at, folder=folder), kill_after=kill_after)
    print(run.item, asdict(outcome), flush=True)
    return outcome


def storm_numbers() -> dict[str, float]:
    """Halve the limit of three kinds of services for ten minutes; the worst of them counts."""
    told = [storm(service) for service in SERVICES]
    untold = [storm(service, header=False) for service in SERVICES]
    return {
        "storm_429_share": round(max(each.refused_share for each in told), 5),
        "storm_429_share_no_header": round(max(each.refused_share for each in untold), 5),
        "storm_use": round(min(each.use_inside for each in told), 4),
        "storm_dropped": sum(each.dropped for each in told + untold),
    }


def crowd_numbers() -> dict[str, float]:
    """Let 30 tenants of one weight, and 30 of ten, want more than a slow contract's line holds."""
    crowds = ([1] * 30, [1 + n % 10 for n in range(30)])
    told = [divide(weights, rate_per_minute=4, rounds=20) for weights in crowds]
    return {
        "least_share_of_a_crowd": round(min(min(each.shares) for each in told), 3),
        "greatest_share_of_a_crowd": round(max(max(each.shares) for each in told), 3),
    }


def light_tenants_ratio() -> float:
    """Return the worst time of a light tenant beside a heavy one, over its fair time."""
    ratios: list[float] = []
    for tenants in (2, 10, 50, 200):
        light = [Tenant(f"light-{n}", 20) for n in range(tenants - 1)]
        result = share([Tenant("heavy", 2000), *light], rate_per_minute=600)
        fair = 20 * tenants * 0.125
        ratios.append(max(result.done[tenant.name] for tenant in light) / fair)
    return round(max(ratios), 4)


def show(numbers: dict[str, float]) -> None:
    """Print the numbers as a table."""
    width = max(map(len, numbers))
    for name in sorted(numbers):
        print(f"{name:<{width}}  {numbers[name]}")


if __name__ == "__main__":
    main()
