"""What follows when the process that worked on a job dies: less company, a longer wait, an end.

Belongs here: the rules by number of crashes. Does not: who counts them (``stages/dispatch.py``).

A crash is a claim that ended with its process; any job of the wave, or none, may be at fault, so
it costs no attempt. A planned stop is none, nor is a person's cancelling, nor a run that never
began its wave: no job of it had been touched.
"""

from datetime import timedelta
from typing import Final

HALVED_FROM: Final = 2
ALONE_FROM: Final = 3
POISON_FROM: Final = ALONE_FROM + 3
"""From the third crash on a job has no company: the sixth is its third alone."""
FIRST_WAIT: Final = timedelta(seconds=30)
LONGEST_WAIT: Final = timedelta(minutes=10)


def company(crashes: int, *, most: int) -> int:
    """Return how many jobs a wave of jobs with so many crashes may hold, *most* without any."""
    if crashes >= ALONE_FROM:
        return 1
    return max(1, most // 2) if crashes >= HALVED_FROM else most


def level(crashes: int) -> int:
    """Return what jobs of one wave have in common: none, halved, or alone."""
    return (crashes >= HALVED_FROM) + (crashes >= ALONE_FROM)


def wait_after(crashes: int) -> timedelta:
    """Return how long a job waits after its n-th crash; the first is mostly the machine's fault."""
    if crashes < HALVED_FROM:
        return timedelta(0)
    doublings = min(crashes, POISON_FROM + 1) - HALVED_FROM
    return min(LONGEST_WAIT, FIRST_WAIT * 2**doublings)


def is_poison(crashes: int, *, alone: bool) -> bool:
    """Say whether a job that has just crashed takes its process with it, whatever is done."""
    return alone and crashes >= POISON_FROM
