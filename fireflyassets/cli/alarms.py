"""``fireflyassets alarms``: the tables of metrics and alarms, for people and for CloudWatch.

Belongs here: printing them. Does not: the tables (``core/alarm.py``); sending them anywhere.
"""

import argparse
import json
from typing import Final

from fireflyassets.core.alarm import Urgency
from fireflyassets.core.metric_page import page
from fireflyassets.settings import Settings

_HOME: Final = "us-east-1"


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``alarms list`` and ``alarms render``."""
    group = subparsers.add_parser("alarms", help="what is measured, and when somebody is called")
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    listed = commands.add_parser("list", help="print all metrics and alarms, as Markdown")
    listed.set_defaults(run=run_list)
    rendered = commands.add_parser("render", help="print what CloudWatch makes them from, as JSON")
    for urgency in Urgency:
        rendered.add_argument(
            f"--{urgency}-topic",
            required=True,
            metavar="ARN",
            help=f"SNS topic of alarms that are a {urgency}",
        )
    rendered.set_defaults(run=run_render)


def run_list(arguments: argparse.Namespace) -> int:
    """Print the page."""
    del arguments
    print(page(), end="")
    return 0


def run_render(arguments: argparse.Namespace) -> int:
    """Print alarms, one object each as ``put-metric-alarm`` takes it, and the dashboard."""
    from fireflyassets.adapters.aws.alarms import (  # noqa: PLC0415 - not for a help.
        Account,
        dashboard,
        definitions,
    )

    settings = Settings()
    account = Account(
        settings.metrics_namespace,
        settings.region or _HOME,
        {urgency: getattr(arguments, f"{urgency}_topic") for urgency in Urgency},
        settings.end_to_end_baseline,
    )
    told = {"alarms": definitions(account), "dashboard": json.loads(dashboard(account))}
    print(json.dumps(told, indent=2))
    return 0
