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
    server_for(create_app(asked.settings), host=asked.host, port=asked.port).run()


if __name__ == "__main__":
    main()
