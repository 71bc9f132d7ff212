"""What Firefly and Photoshop have in common: a paid submit, the poll, the fetch.

Belongs here: the calls, and the poll's way round a host that can't be reached. Does not: bodies
and paths of one service.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from fireflyassets.adapters.adobe import faults, retry_after, status, submission
from fireflyassets.adapters.adobe.bodies import sentences
from fireflyassets.adapters.adobe.call_log import LOGGER
from fireflyassets.adapters.adobe.exchange import Answer, NoAnswer
from fireflyassets.adapters.adobe.hosts import parse_address
from fireflyassets.adapters.adobe.mint import NoToken
from fireflyassets.adapters.adobe.poll_share import PollShare
from fireflyassets.adapters.adobe.results import ResultStore
from fireflyassets.adapters.adobe.wire import AdobeWire, Ask, Reply, Untrusted
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.request import Problem
from fireflyassets.ports.paid import (
    Fetched,
    FetchFailed,
    Gone,
    NotAccepted,
    PaidService,
    Poll,
    PollFailed,
    Submission,
)

_POLL: Final = timedelta(seconds=15)
_NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """What all services of one credential share."""

    wire: AdobeWire
    results: ResultStore
    submit_timeout: timedelta
    """For a submit altogether, its token included."""
    polls: Mapping[Family, PollShare]
    """Family -> the pace of its polls."""


class AdobeService(PaidService):
    """One of Adobe's services, called as one credential."""

    def __init__(self, parts: ServiceParts, *, base_url: str) -> None:
        """Take the shared parts and the service's own address.

        Raises:
            UnusableConfiguration: *base_url* is not a URL.
        """
        base = parse_address(base_url.rstrip("/"))
        if base is None or base.target != "/":
            raise UnusableConfiguration(f"{self.family}_url is not `https://host` or with a port.")
        self._wire = parts.wire
        self._results = parts.results
        self._base = base
        self._base_url = base_url.rstrip("/")
        self._submit_timeout = parts.submit_timeout
        self._polls = parts.polls[self.family]
        self._unknown: set[str] = set()

    async def ready(self) -> NotAccepted | None:
        """Have an access token in hand, fetched now if need be; None, or why there is none."""
        missing = await self._wire.missing_token(self._submit_timeout)
        return None if missing is None else NotAccepted(missing.fault, missing.retry_after)

    async def poll(self, status_url: str) -> Poll:
        """Ask how a job stands, at its own URL; at the base host if that can't be reached."""
        await self._polls.turn()
        reply = await self._ask_status(status_url)
        if isinstance(reply, NoAnswer) and reply.code == "connect_error":
            reply = await self._ask_base_host(status_url) or reply
        return self._read_status(reply)

    async def fetch(self, url: str) -> Fetched | FetchFailed:
        """Download a result without any of our credentials, the URL byte for byte."""
        return await self._results.fetch(url)

    async def _submit(
        self, path: str, content: bytes, *, headers: dict[str, str], hide: Iterable[str]
    ) -> Submission:
        reply = await self._wire.ask(
            Ask(
                "POST",
                f"{self._base_url}{path}",
                within=self._submit_timeout,
                headers={"Content-Type": "application/json", **headers},
                content=content,
                paid=True,
            )
        )
        return submission.read(reply, family=self.family, now=self._wire.clock.now(), hide=hide)

    def _refuse(self, problems: tuple[Problem, ...]) -> NotAccepted:
        """Return the refusal of a request that the vendor would refuse, without sending it."""
        field = problems[0].field if problems else ""
        return NotAccepted(Fault(self.family, None, "refused_locally", field, sentences(problems)))

    async def _ask_status(self, url: str) -> Reply:
        return await self._wire.ask(Ask("GET", url, within=_POLL))

    async def _ask_base_host(self, status_url: str) -> Answer | None:
        """Ask the base host for the same path; None unless it knows the job.

        Regions do not know each other's jobs, so a 404 from here is no proof that it is gone.
        """
        address = parse_address(status_url)
        if address is None or address.on_host_of(self._base) == address:
            return None
        reply = await self._ask_status(f"{self._base_url}{address.target}")
        known = isinstance(reply, Answer) and reply.is_success
        return reply if isinstance(reply, Answer) and known else None

    def _read_status(self, reply: Reply) -> Poll:
        if isinstance(reply, NoToken):
            return PollFailed(reply.fault, reply.retry_after)
        if isinstance(reply, Untrusted):
            return PollFailed(reply.fault(self.family))
        if isinstance(reply, NoAnswer):
            return PollFailed(faults.from_silence(self.family, reply))
        if reply.status == _NOT_FOUND:
            return Gone()
        return self._read_answer(reply)

    def _read_answer(self, answer: Answer) -> Poll:
        payload = answer.json()
        if not answer.is_success:
            now = answer.date(self._wire.clock.now())
            wait = retry_after.wait(answer.retry_values(), now=now)
            return PollFailed(faults.from_answer(self.family, answer), wait)
        if payload is None:
            return PollFailed(Fault(self.family, answer.status, "not_json"))
        word = status.unknown_word(payload)
        if word is not None and word not in self._unknown:
            self._unknown.add(word)
            LOGGER.warning("%s: job status %r is not known; it is polled on", self.family, word)
        return status.read(payload, family=self.family)
