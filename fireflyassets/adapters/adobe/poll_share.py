"""The static share of a poll limit that one process takes, without asking anybody.

Belongs here: the space between polls, and between uploads and listings, which cost nothing either.
Does not: when a job is likely done (``core/polling.py``), paid calls, which have tickets.
"""

import asyncio


class PollShare:
    """Lets calls out at a steady pace, in the order they come. Used by one event loop.

    A wave that takes over hundreds of accepted jobs asks for all of them at once.
    """

    def __init__(self, per_second: float) -> None:
        self._interval = 1 / per_second
        self._next = 0.0

    async def turn(self) -> None:
        """Wait for the next call's time."""
        now = asyncio.get_running_loop().time()
        at = max(now, self._next)
        self._next = at + self._interval
        if at > now:
            await asyncio.sleep(at - now)
