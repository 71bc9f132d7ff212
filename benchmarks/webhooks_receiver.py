"""Fifty receivers of webhooks in one process, some of which hang or fail.

    python benchmarks/webhooks_receiver.py PLAN LOG

PLAN is JSON: [{"endpoint", "behaves": "well" | "hangs" | "fails", "secrets": […]}]. It prints the
ports in that order as JSON, and writes a line to LOG for each webhook that came and was verified:
endpoint, webhook-id, job id, seconds since 1970. Belongs here: receiving. Does not: judging.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from fireflyassets.webhooks.verify import VerificationFailed, verify

ANSWERS = {
    "well": b"HTTP/1.1 204 No Content\r\n\r\n",
    "fails": b"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\nno",
}

NEVER = asyncio.Event()
"""Kept by the module: what waits for an event that nobody else has is collected."""


async def answer(
    plan: dict[str, Any], log: TextIO, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Take webhooks over one connection until it ends."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
            lines = head.split("\r\n")[1:-2]
            headers = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
            body = await reader.readexactly(int(headers["content-length"]))
            if plan["behaves"] == "hangs":
                await NEVER.wait()
            note(plan, log, headers, body)
            writer.write(ANSWERS[plan["behaves"]])
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def note(plan: dict[str, Any], log: TextIO, headers: dict[str, str], body: bytes) -> None:
    """Write down what came, if it is ours and the answer will be a receipt."""
    came = time.time()  # noqa: TID251 - what is measured.
    try:
        name = verify(body, headers, secrets=plan["secrets"])
    except VerificationFailed:
        name = "unverified"
    if plan["behaves"] == "well":
        print(plan["endpoint"], name, json.loads(body)["jobId"], came, file=log, flush=True)


async def main(plans: list[dict[str, Any]], log: TextIO) -> None:
    """Listen until the process is ended."""
    ports: list[int] = []
    for plan in plans:

        async def connected(
            reader: asyncio.StreamReader,
            writer: asyncio.StreamWriter,
            plan: dict[str, Any] = plan,
        ) -> None:
            await answer(plan, log, reader, writer)

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
    print(json.dumps(ports), flush=True)
    await NEVER.wait()


if __name__ == "__main__":
    with Path(sys.argv[2]).open("w", encoding="utf-8") as target:
        asyncio.run(main(json.loads(Path(sys.argv[1]).read_bytes()), target))
