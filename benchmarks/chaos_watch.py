"""The chaos bench's watch: what the sensor ``watch`` does, once for each scaled half minute.

Belongs here: looking again and again. Does not: what is looked at (``stages/watch.py``). The brake
stays off: its windows are minutes of the clock, and not scaled.
"""

import sys
import time

from fireflyassets import composition
from fireflyassets.core.ids import LETTERS
from fireflyassets.stages.watch import Memory, Watch


def main() -> int:
    """Look until somebody ends the process."""
    made = composition.factory()
    composition.pump()
    memory, every = Memory(), made.settings.metrics_every.total_seconds()
    watch = Watch(
        backlog=made.backlog,
        budgets=made.ledger,
        queue=made.queue,
        limiter=made.limiter,
        catalogue=made.catalogue,
        limits=made.catalogue.limits_for,
        tally=composition.tally(),
        put_aside=lambda: len(made.objects.keys(LETTERS)),
        brakes=False,
    )
    while True:
        memory = watch.look(memory, now=made.clock.now())
        time.sleep(every / 2)  # noqa: TID251 - a real process waits.


if __name__ == "__main__":
    sys.exit(main())
