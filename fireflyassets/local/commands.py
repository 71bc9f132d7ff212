"""`fireflyassets up` and `fireflyassets demo`: the commands and their options.

Belongs here: what the command line offers. Does not: what the commands do (``programs.py``), which
needs the ``local`` extra and is therefore imported when one of them runs, not before.
"""

import argparse
import importlib
import sys
from pathlib import Path
from typing import Final, Protocol, cast

STATE: Final = ".local"
OUTPUT: Final = Path("out/demo")


class _Programs(Protocol):
    def up(self, arguments: argparse.Namespace) -> int: ...
    def demo(self, arguments: argparse.Namespace) -> int: ...


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add the commands; each sets ``run``, which takes the arguments and returns an exit code."""
    up = subparsers.add_parser("up", help="start the local stack and keep it until Ctrl-C")
    _add_common(up)
    up.add_argument(
        "--postgres", action="store_true", help="keep Dagster's runs and events in a Postgres"
    )
    up.set_defaults(run=run_up)
    demo = subparsers.add_parser("demo", help="run the main job on a local stack, end to end")
    _add_common(demo)
    demo.add_argument("--fresh", action="store_true", help="use a state folder of its own, once")
    demo.add_argument(
        "--output", type=Path, default=OUTPUT, help="folder of the results (default: %(default)s)"
    )
    demo.set_defaults(run=run_demo)


def run_up(arguments: argparse.Namespace) -> int:
    """Start the stack, say where it is, and keep it until it is told to stop."""
    programs = _programs()
    return programs.up(arguments) if programs else 1


def run_demo(arguments: argparse.Namespace) -> int:
    """Run the demo; 0 only if every promise was kept."""
    programs = _programs()
    return programs.demo(arguments) if programs else 1


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", type=Path, help="the project's folder (default: this one)")
    parser.add_argument(
        "--state", type=Path, help=f"folder of the stack's state (default: {STATE} of the project)"
    )
    parser.add_argument(
        "--port",
        action="append",
        default=[],
        metavar="NAME=PORT",
        help="a port to use for aws, twin, api, sign-in, code, dagster or postgres; repeatable",
    )
    parser.add_argument(
        "--reset",
        action="store_true",
        help="empty the state first: jobs, files, runs and the twin's bills",
    )


def _programs() -> _Programs | None:
    try:
        return cast("_Programs", importlib.import_module("fireflyassets.local.programs"))
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("fireflyassets"):
            raise
        print(f"The local stack needs {error.name}; install fireflyassets[local].", file=sys.stderr)
        return None
