"""What became of a paid submit: accepted, certainly not accepted, or unknown.

Belongs here: that one decision, from everything a wire can answer. Does not: tries, holds and
bookings, which follow from it. There is no idempotency key: a wrong "not accepted" is paid for
twice, so every doubt is `OutcomeLost`.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from fireflyassets.adapters.adobe import accept, faults, retry_after
from fireflyassets.adapters.adobe.exchange import Answer, NoAnswer
from fireflyassets.adapters.adobe.mint import NoToken
from fireflyassets.adapters.adobe.wire import Reply, Untrusted
from fireflyassets.core.failure import Family, Fault
from fireflyassets.ports.paid import NotAccepted, OutcomeLost, Submission

_REQUEST_TIMEOUT: Final = 408
_OWN_WORD: Final = frozenset({500, 503})
"""Server errors that, with Adobe's own code, say that the call was not taken."""


def read(reply: Reply, *, family: Family, now: datetime, hide: Iterable[str] = ()) -> Submission:
    """Return the outcome of a submit; *hide* holds the texts that no message may echo."""
    if isinstance(reply, NoToken):
        return NotAccepted(reply.fault, reply.retry_after)
    if isinstance(reply, Untrusted):
        return NotAccepted(reply.fault(family))
    if isinstance(reply, NoAnswer):
        if reply.sent:
            return OutcomeLost(faults.from_silence(family, reply, code="lost_answer"))
        return NotAccepted(faults.from_silence(family, reply))
    return _answered(reply, family, now, hide)


def _answered(answer: Answer, family: Family, now: datetime, hide: Iterable[str]) -> Submission:
    payload = answer.json()
    if answer.is_success:
        message = "a success without a link to poll"
        lost = Fault(family, answer.status, "no_poll_link", message=message)
        return accept.read(payload) or OutcomeLost(lost)
    fault = faults.from_answer(family, answer, hide=hide)
    own_error = answer.status in _OWN_WORD and faults.names_own_code(payload)
    refused = 400 <= answer.status <= 499 and answer.status != _REQUEST_TIMEOUT  # noqa: PLR2004
    if not own_error and not refused:
        return OutcomeLost(fault)
    # As it was said: how long is believed, and when a breaker opens, is for the limiter's law.
    asked = retry_after.asked(answer.retry_values(), now=answer.date(now))
    return NotAccepted(fault, asked, possible_cost=own_error)
