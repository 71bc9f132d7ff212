"""``fireflyassets``: the commands put together.

Belongs here: which groups there are. Does not: what a command does. A group is a module with
``add_to(subparsers)``; each of its commands sets ``run``, which takes the parsed arguments and
returns the exit code.
"""

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from typing import Final, Protocol, cast

from fireflyassets.core.errors import FactoryError

GROUPS: Final = (
    "fireflyassets.cli.campaign",
    "fireflyassets.cli.failures",
    "fireflyassets.cli.limits",
    "fireflyassets.cli.fence",
    "fireflyassets.local.commands",
)
"""Modules in the order of the help; one that is not installed is left out."""


class Group(Protocol):
    """A module of commands."""

    def add_to(self, subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]", /) -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
        """Add the group's commands."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="fireflyassets",
        description="The asset factory: campaign jobs in, finished creatives out.",
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in GROUPS:
        if importlib.util.find_spec(name) is not None:
            cast("Group", importlib.import_module(name)).add_to(subparsers)
    chosen = parser.parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
    except FactoryError as error:
        print(f"{error} {error.remedy}".strip(), file=sys.stderr)
        return 1
    return code
