"""A code server that comes to know campaigns which were added while the stack runs.

Belongs here: when the code server is replaced. Does not: how (``stack.py``), reading files.

Dagster's server for code can't load it again by itself. It is ended at once, and another takes its
port; webserver and daemon find that by themselves. Runs are processes of their own and go on, and
hear of a cancel all the same (``defs/cancels.py``). A tick that dies with it is none lost; see
ADR 0023.
"""

from pathlib import Path
from typing import Final

from fireflyassets.adapters.watched_files import WatchedCatalogue
from fireflyassets.local.stack import Say, Stack
from fireflyassets.ports.clock import Clock
from fireflyassets.settings import Settings

SERVICE: Final = "code"


class Reloading:
    """Knows which campaigns the code server has loaded."""

    def __init__(self, stack: Stack, project: Path, clock: Clock, say: Say) -> None:
        self._stack = stack
        self._say = say
        self._catalogue = WatchedCatalogue(project, clock, v4=Settings().firefly_v4)
        self._loaded = frozenset(self._catalogue.campaigns())

    def look(self) -> None:
        """Replace the code server if a campaign is usable that it has not loaded.

        One that left, or can't be used for now, needs none: its jobs wait, and say why.
        """
        usable = frozenset(self._catalogue.campaigns())
        if new := usable - self._loaded:
            self._say(f"Loading {', '.join(sorted(new))}: its assets appear within seconds.")
            self._loaded = usable
            self._stack.renew(SERVICE)
