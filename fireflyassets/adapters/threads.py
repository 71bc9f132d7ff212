"""Threads of their own for each kind of blocking call.

Belongs here: pools and their sizes. Does not: which call goes where. The loop's own pool is left
to the clients' token store: it has few threads, and nothing of a wave may fill them.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Final

from fireflyassets.ports.clock import Lanes, Offload, P, T

LEASES: Final = 2
"""One for a wave's heartbeat, one for the last of the wave before it that still hangs."""
LEDGER: Final = 32
"""Calls of milliseconds: this many keep up even where each takes a tenth of a second. With all
others below the connections of a client, so that none waits there."""
TRANSFERS: Final = 8
"""Each holds a whole picture, encoded or decoded: this bounds memory. More would only share the
same network and cores."""


class Threads(Offload):
    """A pool of at most *most* threads, made as they are needed."""

    def __init__(self, name: str, most: int) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)

    async def __call__(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return *call*'s result from a thread of this pool; waits for one where all are busy."""
        bound = partial(copy_context().run, call, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, bound)


def lanes() -> Lanes:
    """Return new pools; one set serves a whole process."""
    return Lanes(
        leases=Threads("lease", LEASES),
        ledger=Threads("ledger", LEDGER),
        transfers=Threads("transfer", TRANSFERS),
    )
