"""Firefly's cancel: one table from its answers to ours.

Belongs here: the call and the table. Does not: polling to the end, which a cancel never replaces.
Photoshop v2 documents no cancel.
"""

from datetime import timedelta
from typing import Final

from fireflyassets.adapters.adobe import faults, retry_after
from fireflyassets.adapters.adobe.exchange import Answer, NoAnswer
from fireflyassets.adapters.adobe.mint import NoToken
from fireflyassets.adapters.adobe.wire import AdobeWire, Ask, Untrusted
from fireflyassets.core.failure import Family
from fireflyassets.ports.images import CancelAnswer
from fireflyassets.ports.paid import PollFailed

_CANCEL: Final = timedelta(seconds=15)
_BY_CODE: Final[dict[tuple[int, str], CancelAnswer]] = {
    (404, "unknown_job_id"): CancelAnswer.GONE,
    (409, "job_completed"): CancelAnswer.COMPLETED,
    (409, "job_already_canceled"): CancelAnswer.CANCELLED,
    # The other spelling is not documented for this code, and both are used elsewhere.
    (409, "job_already_cancelled"): CancelAnswer.CANCELLED,
    (409, "job_cancel_failed"): CancelAnswer.NOT_CANCELLED,
    (410, "job_timeout"): CancelAnswer.TIMED_OUT,
}


async def cancel(wire: AdobeWire, url: str, *, family: Family) -> CancelAnswer | PollFailed:
    """Send one cancel to *url*, byte for byte."""
    reply = await wire.ask(Ask("PUT", url, within=_CANCEL))
    if isinstance(reply, NoToken):
        return PollFailed(reply.fault, reply.retry_after)
    if isinstance(reply, Untrusted):
        return PollFailed(reply.fault(family))
    if isinstance(reply, NoAnswer):
        return PollFailed(faults.from_silence(family, reply))
    return _read(wire, reply, family)


def _read(wire: AdobeWire, answer: Answer, family: Family) -> CancelAnswer | PollFailed:
    if answer.is_success:
        return CancelAnswer.REQUESTED
    fault = faults.from_answer(family, answer)
    known = _BY_CODE.get((answer.status, fault.code))
    if known is not None:
        return known
    now = answer.date(wire.clock.now())
    return PollFailed(fault, retry_after.wait(answer.retry_values(), now=now))
