"""Calls to a store that must not be lost to an outage of it: repeated until they are answered.

Belongs here: the waits between tries. Does not: which calls; what follows where one is given up.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from fireflyassets.core.errors import StoreUnavailable
from fireflyassets.ports.clock import Clock, Offload, P, T

_log: Final = logging.getLogger("fireflyassets.wave")
FIRST_WAIT: Final = timedelta(seconds=0.5)
LONGEST_WAIT: Final = timedelta(seconds=15)
_DOUBLINGS: Final = 5
"""From the first wait to the longest; a power of a long outage would overflow."""


@dataclass(frozen=True, slots=True)
class Persistent:
    """An offload that calls again while the store does not answer.

    What it calls must bear being done twice: an outage may have swallowed only the answer.
    """

    offload: Offload
    clock: Clock
    jitter: Callable[[], float]
    gives_up_after: timedelta | None = None
    """None: never, whatever else ends. Only the end of the process ends it."""

    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return *call*'s result.

        Raises:
            StoreUnavailable: The store did not answer for as long as this waits.
        """
        began, tries = self.clock.now(), 0
        while True:
            try:
                return await self.offload(call, *args, **kwargs)
            except StoreUnavailable as outage:
                tries += 1
                # The id is money: should the process end before the store is back, it stands here.
                said = kwargs.get("vendor_id", "")
                _log.warning("%s %s: try %d: %s", call.__name__, said, tries, outage)
                if self.gives_up_after and self.clock.now() - began >= self.gives_up_after:
                    raise
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(tries - 1, _DOUBLINGS))
            await self.clock.sleep(wait * (0.5 + self.jitter() / 2))
