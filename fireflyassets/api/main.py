"""The API as a program: settings in, a listening server out.

Belongs here: the wiring of this one process. Does not: anything on import.
"""

import argparse
import logging
import signal
import sys
from collections.abc import Sequence
from types import FrameType

import uvicorn

from fireflyassets import composition
from fireflyassets.adapters.campaign_store import FileCampaignStore
from fireflyassets.adapters.key_sets import FetchedKeys
from fireflyassets.adapters.metrics_server import MetricsServer
from fireflyassets.adapters.provider import OidcProvider
from fireflyassets.api.app import create_app
from fireflyassets.api.desk import Ports
from fireflyassets.api.metrics import Exposition
from fireflyassets.api.problems import logged
from fireflyassets.core.tally import Tally
from fireflyassets.settings import Settings
from fireflyassets.stages.watch import Watch

_log = logging.getLogger(__name__)


def _end(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def _exposition(factory: composition.Factory) -> Exposition:
    watch = Watch(
        backlog=factory.backlog,
        budgets=factory.ledger,
        queue=factory.queue,
        limiter=factory.limiter,
        catalogue=factory.catalogue,
        limits=factory.catalogue.limits_for,
        tally=Tally(),
        brakes=False,
    )
    return Exposition(composition.tally(), watch, factory.clock)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the process is told to stop."""
    parser = argparse.ArgumentParser(prog="python -m fireflyassets.api", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")
    parser.add_argument("--metrics-host", default="127.0.0.1", help="the same (%(default)s)")
    parser.add_argument("--metrics-port", type=int, help="port of /metrics (default: not served)")
    chosen = parser.parse_args(arguments)
    settings = Settings()
    composition.log_to_stderr(settings, "uvicorn")
    composition.pump()
    # The server hands a signal on once it has closed; by default that ends all at once.
    signal.signal(signal.SIGTERM, _end)
    factory = composition.build(settings)
    for bad in factory.catalogue.quarantined():
        _log.warning("Quarantined %s: %s", bad.path, bad.reason)
    ports = Ports(
        ledger=factory.ledger,
        backlog=factory.backlog,
        objects=factory.objects,
        queue=factory.queue,
        catalogue=factory.catalogue,
        clock=factory.clock,
        pictures=factory.pictures,
        guardrail=factory.guardrail,
        limits=factory.catalogue.limits_for,
        limiter=factory.limiter,
        webhooks=factory.webhooks,
        webhook_secrets=factory.webhook_secrets,
        guard=composition.guard(settings),
        metrics=factory.metrics,
        campaigns=FileCampaignStore(settings.project, v4=settings.firefly_v4),
        api_keys=factory.api_keys,
        keys=FetchedKeys(factory.clock, issuer=settings.oidc_issuer, url=settings.oidc_keys_url),
    )
    if chosen.metrics_port is not None:
        told = _exposition(factory).text
        MetricsServer(told, host=chosen.metrics_host, port=chosen.metrics_port)
    logging.getLogger("uvicorn.access").addFilter(_without_secrets)
    app = create_app(ports, settings, OidcProvider(settings))
    uvicorn.run(app, host=chosen.host, port=chosen.port, log_config=None)


def _without_secrets(record: logging.LogRecord) -> bool:
    """Take out of an access line what lets somebody sign in or release a plan."""
    if isinstance(record.args, tuple):
        record.args = tuple(logged(part) if isinstance(part, str) else part for part in record.args)
    return True
