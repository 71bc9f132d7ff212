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
from fireflyassets.adapters.key_sets import FetchedKeys
from fireflyassets.api.app import create_app
from fireflyassets.api.desk import Ports
from fireflyassets.settings import Settings

_log = logging.getLogger(__name__)


def _end(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the process is told to stop."""
    parser = argparse.ArgumentParser(prog="python -m fireflyassets.api", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")
    chosen = parser.parse_args(arguments)
    settings = Settings()
    composition.log_to_stderr(settings)
    composition.pump()
    # The server hands a signal on once it has closed; by default that ends all at once.
    signal.signal(signal.SIGTERM, _end)
    factory = composition.build(settings)
    for bad in factory.catalogue.quarantined():
        _log.warning("Quarantined %s: %s", bad.path, bad.reason)
    ports = Ports(
        ledger=factory.ledger,
        objects=factory.objects,
        queue=factory.queue,
        catalogue=factory.catalogue,
        clock=factory.clock,
        pictures=factory.pictures,
        guardrail=factory.guardrail,
        limits=factory.catalogue.limits_for,
        keys=FetchedKeys(factory.clock, issuer=settings.oidc_issuer, url=settings.oidc_keys_url),
    )
    uvicorn.run(create_app(ports, settings), host=chosen.host, port=chosen.port)
