"""A proxy between the factory and the embedded AWS, which can slow, refuse and lose answers.

Belongs here: one thread that hands bytes on and does harm where it is told to. Does not: when and
how much (``chaos.py``). It knows of HTTP only where a request begins: a client sends its next one
after the answer to the last.
"""

import asyncio
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from fireflyassets.local.access import Access

_HEAD = re.compile(rb"\A(GET|PUT|POST|HEAD|DELETE) (\S+) HTTP/1\.1\r\n")
_TARGET = re.compile(rb"(?i)\r\nx-amz-target: *DynamoDB_\d+\.(\w+)")
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_WRITES = {"PutItem", "UpdateItem", "TransactWriteItems", "DeleteItem"}
_JSON = "com.amazonaws.dynamodb.v20120810#"


@dataclass(frozen=True)
class Harm:
    """How likely each harm is for a request that it can befall."""

    throttled: float = 0.0
    """DynamoDB: too much at once."""
    conflict: float = 0.0
    """DynamoDB: a transaction that lost to another one."""
    unheard: float = 0.0
    """DynamoDB: a write that happens, and whose answer is lost."""
    slow: float = 0.0
    """S3: an answer after *slow_seconds*."""
    busy: float = 0.0
    """S3: 503 SlowDown."""
    slow_seconds: float = 2.0


PEACE = Harm()


class Proxy:
    """Listens on a free loopback port while it is entered."""

    def __init__(self, seed: int) -> None:
        self._upstream = 0
        self._dice = random.Random(seed)  # noqa: S311 - chances of harm are no secret.
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)
        self.harm = PEACE
        self.done: Counter[str] = Counter()
        """How often each harm was done."""
        self.port = 0

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """End at once."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def stand_before(self, doors: Access) -> Mapping[str, str]:
        """Hand on to the embedded AWS; return what leads its clients here."""
        self._upstream = doors.ports["aws"]
        url = f"http://127.0.0.1:{self.port}"
        return {"AWS_ENDPOINT_URL_DYNAMODB": url, "AWS_ENDPOINT_URL_S3": url}

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        made = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = made.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._upstream)
        except OSError:
            writer.close()
            return
        heard = asyncio.Event()
        heard.set()
        answers = asyncio.ensure_future(self._answers(there, writer, heard))
        try:
            while chunk := await reader.read(65_536):
                head = _HEAD.match(chunk)
                if head and not await self._passes(chunk, reader, writer, heard):
                    continue
                back.write(chunk)
                await back.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            answers.cancel()
            back.close()
            writer.close()

    async def _answers(
        self, there: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: asyncio.Event
    ) -> None:
        try:
            while chunk := await there.read(65_536):
                if heard.is_set():
                    writer.write(chunk)
                    await writer.drain()
                else:
                    break  # Done, and nobody hears of it.
        except ConnectionError:
            pass
        writer.close()

    async def _passes(
        self,
        chunk: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        heard: asyncio.Event,
    ) -> bool:
        """Do harm to a request that begins with *chunk*; False: it is answered here."""
        target = _TARGET.search(chunk)
        harm = self._chosen(target[1].decode() if target else "")
        if harm is None:
            return True
        self.done[harm] += 1
        if harm == "slow":
            await asyncio.sleep(self.harm.slow_seconds)
            return True
        if harm == "unheard":
            heard.clear()
            return True
        body = await _rest(chunk, reader)
        writer.write(_answer(harm, body))
        await writer.drain()
        return False

    def _chosen(self, target: str) -> str | None:
        harm = self.harm
        chances: Mapping[str, float] = (
            {"slow": harm.slow, "busy": harm.busy}
            if not target
            else {
                "throttled": harm.throttled,
                "conflict": harm.conflict * (target == "TransactWriteItems"),
                "unheard": harm.unheard * (target in _WRITES),
            }
        )
        drawn = self._dice.random()
        for name, chance in chances.items():
            if drawn < chance:
                return name
            drawn -= chance
        return None


async def _rest(chunk: bytes, reader: asyncio.StreamReader) -> bytes:
    """Return the whole body of the request that begins with *chunk*."""
    head, _, body = chunk.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    missing = (int(length[1]) if length else 0) - len(body)
    if missing > 0 and b"100-continue" not in head.lower():
        body += await reader.readexactly(missing)
    return body


def _answer(harm: str, body: bytes) -> bytes:
    if harm == "busy":
        text = "<Error><Code>SlowDown</Code><Message>Reduce your rate.</Message></Error>"
        return _http(503, "application/xml", text)
    if harm == "throttled":
        said: dict[str, Any] = {
            "__type": f"{_JSON}ProvisionedThroughputExceededException",
            "message": "Too much at once.",
        }
        return _http(400, "application/x-amz-json-1.0", json.dumps(said))
    items = len(json.loads(body)["TransactItems"])
    reasons = [{"Code": "TransactionConflict", "Message": "In conflict."}]
    reasons += [{"Code": "None"}] * (items - 1)
    said = {
        "__type": f"{_JSON}TransactionCanceledException",
        "Message": "Transaction cancelled, see the reasons.",
        "CancellationReasons": reasons,
    }
    return _http(400, "application/x-amz-json-1.0", json.dumps(said))


def _http(status: int, kind: str, text: str) -> bytes:
    reason = {400: "Bad Request", 503: "Slow Down"}[status]
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}"
    return f"{head}\r\nx-amzn-RequestId: chaos\r\n\r\n{text}".encode()
