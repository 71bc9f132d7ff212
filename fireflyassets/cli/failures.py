"""``fireflyassets failures``: the table of failures, as the factory decides by it.

Belongs here: printing it. Does not: the table (``core/failure.py``).
"""

import argparse

from fireflyassets.core.failure_page import page


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``failures``."""
    command = subparsers.add_parser("failures", help="print what each failure means, as Markdown")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the page."""
    del arguments
    print(page(), end="")
    return 0
