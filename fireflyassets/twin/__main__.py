"""`python -m fireflyassets.twin`: start the simulator and serve until told to stop.

Belongs here: starting. Does not belong here: options (`command_line.py`).
"""

import logging
import sys

from fireflyassets.twin.app import create_app
from fireflyassets.twin.command_line import invocation
from fireflyassets.twin.server import server_for


def main() -> None:
    """Serve; SIGTERM and Ctrl-C stop it cleanly."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    # httpx logs whole URLs, signatures included, from INFO on.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    asked = invocation()
    app = create_app(asked.settings)
    server_for(app, host=asked.host, port=asked.port, announce=_say).run()


def _say(url: str) -> None:
    sys.stdout.write(f"The twin answers at {url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
