"""``fireflyassets webhooks``: the process that delivers them, what it did, and doing it again.

Belongs here: arguments in, tables and JSON out. Does not: the rules (``core/endpoint.py``). The
wiring is loaded when a command runs.
"""

import argparse
import asyncio
import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fireflyassets.cli.dlq import a_time
from fireflyassets.cli.terminal import listing, stamp
from fireflyassets.core.endpoint import Delivery, Outcome
from fireflyassets.core.errors import UnusableArgument
from fireflyassets.ports.webhooks import Chosen
from fireflyassets.settings import Settings
from fireflyassets.stages.endpoints import Endpoints

_ENDPOINTS: Final = ("endpoint", "kind", "state", "failures", "since", "url", "error")
_DELIVERIES: Final = ("delivery", "endpoint", "type", "outcome", "tries", "last")
_PAGE: Final = 100


def add_to(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:  # pyright: ignore[reportPrivateUsage] - the type has no public name.
    """Add ``webhooks deliver``, ``endpoints``, ``list``, ``show`` and ``replay``."""
    group = subparsers.add_parser("webhooks", help="deliver events to customers; look; replay")
    commands = group.add_subparsers(required=True, metavar="COMMAND")
    deliver = commands.add_parser("deliver", help="deliver until a signal says to stop")
    deliver.set_defaults(run=run_deliver)
    endpoints = commands.add_parser(
        "endpoints", help="list a customer's endpoints and their health"
    )
    endpoints.set_defaults(run=run_endpoints)
    listing = commands.add_parser("list", help="list a customer's deliveries, the newest first")
    listing.add_argument("--most", type=int, default=_PAGE, metavar="N", help="(default: 100)")
    listing.set_defaults(run=run_list)
    show = commands.add_parser("show", help="show one delivery with every try")
    show.add_argument("delivery", metavar="DELIVERY")
    show.set_defaults(run=run_show)
    replay = commands.add_parser("replay", help="say what would be sent again; --go does it")
    replay.add_argument("--delivery", metavar="DELIVERY", help="this one alone, delivered or not")
    replay.add_argument("--go", action="store_true", help="do it; without it nothing moves")
    replay.set_defaults(run=run_replay)
    for command in (endpoints, listing, show, replay):
        command.add_argument("--customer", required=True, metavar="NAME")
        command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    for command in (listing, replay):
        command.add_argument("--endpoint", metavar="ID")
        command.add_argument("--since", type=a_time, metavar="TIME", help="happened then or later")
        command.add_argument("--until", type=a_time, metavar="TIME", help="happened then or before")
        command.add_argument(
            "--outcome", type=Outcome, choices=list(Outcome), metavar="WORD", help="as it stands"
        )


def run_deliver(arguments: argparse.Namespace) -> int:
    """Deliver until SIGTERM or SIGINT; tries that are under way are brought to their end."""
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    del arguments
    settings = Settings()
    composition.log_to_stderr(settings)
    composition.pump()

    async def deliver() -> None:
        over = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, over.set)
        await composition.telling(settings).run(over)

    asyncio.run(deliver())
    return 0


def run_endpoints(arguments: argparse.Namespace) -> int:
    """List endpoints."""
    as_json: bool = arguments.json
    customer: str = arguments.customer
    return _desk().show_endpoints(customer, as_json=as_json)


def run_list(arguments: argparse.Namespace) -> int:
    """List deliveries."""
    as_json: bool = arguments.json
    most: int = arguments.most
    return _desk().show_all(_chosen(arguments), most=most, as_json=as_json)


def run_show(arguments: argparse.Namespace) -> int:
    """Show one delivery."""
    customer: str = arguments.customer
    name: str = arguments.delivery
    return _desk().show(customer, name)


def run_replay(arguments: argparse.Namespace) -> int:
    """Say what would be sent again, or do it."""
    name: str | None = arguments.delivery
    go: bool = arguments.go
    return _desk().replay(_chosen(arguments), name, go=go)


def _chosen(arguments: argparse.Namespace) -> Chosen:
    customer: str = arguments.customer
    endpoint: str | None = arguments.endpoint
    outcome: Outcome | None = arguments.outcome
    since: datetime | None = arguments.since
    until: datetime | None = arguments.until
    return Chosen(customer, endpoint, outcome, since, until)


def _desk() -> "WebhookDesk":
    from fireflyassets import composition  # noqa: PLC0415 - loads the AWS client; not for a help.

    made = composition.factory()
    return WebhookDesk(Endpoints(made.webhooks, made.clock))


@dataclass(frozen=True)
class WebhookDesk:
    """What the commands do, over any store."""

    endpoints: Endpoints
    tell: Callable[[str], None] = print

    def show_endpoints(self, customer: str, *, as_json: bool) -> int:
        """Print a customer's endpoints; never a secret."""
        rows = [
            {
                "endpoint": one.endpoint_id,
                "kind": one.kind.value,
                "state": one.health.state.value,
                "failures": str(one.health.failures),
                "since": stamp(one.health.failing_since),
                "url": one.url,
                "error": one.health.last_error,
            }
            for one in self.endpoints.store.endpoints(customer)
        ]
        none = "There is no endpoint."
        self.tell(listing(_ENDPOINTS, rows, nothing=none, as_json=as_json))
        return 0

    def show_all(self, chosen: Chosen, *, most: int, as_json: bool) -> int:
        """Print deliveries."""
        rows = [_row(one) for one in self.endpoints.store.deliveries(chosen, most=most)]
        none = "There is no delivery."
        self.tell(listing(_DELIVERIES, rows, nothing=none, as_json=as_json))
        return 0

    def show(self, customer: str, name: str) -> int:
        """Print one delivery with its tries.

        Raises:
            UnusableArgument: There is none.
        """
        one = self._found(customer, name)
        attempts = [
            {
                "at": each.at.isoformat(),
                "status": each.status,
                "milliseconds": round(each.took.total_seconds() * 1000),
                "said": each.said,
            }
            for each in one.attempts
        ]
        self.tell(json.dumps(_row(one) | {"body": one.body, "attempts": attempts}, indent=2))
        return 0

    def replay(self, chosen: Chosen, name: str | None, *, go: bool) -> int:
        """Send one again, or all that are meant: those that failed, where no outcome is named."""
        going = [self._found(chosen.customer, name)] if name else list(self.endpoints.meant(chosen))
        if not go:
            self.tell(f"{len(going)} deliveries would be sent again. --go does it.")
            return 0
        moved = sum(map(self.endpoints.again, going))
        self.tell(f"{moved} of {len(going)} deliveries are due again.")
        return 0

    def _found(self, customer: str, name: str) -> Delivery:
        found = self.endpoints.store.delivery(customer, name)
        if found is None:
            raise UnusableArgument(f"{customer} has no delivery {name}.")
        return found


def _row(one: Delivery) -> dict[str, str]:
    last = one.attempts[-1] if one.attempts else None
    return {
        "delivery": one.delivery_id,
        "endpoint": one.endpoint_id,
        "type": one.type.value,
        "outcome": one.outcome.value,
        "tries": str(len(one.attempts)),
        "last": "" if last is None else f"{stamp(last.at)} {last.status or ''} {last.said}"[:80],
    }
