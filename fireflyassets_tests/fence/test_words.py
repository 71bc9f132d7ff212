"""The vendor's own words with a send. Here: what is kept of them. Not here: their redaction."""

from collections.abc import Callable

import pytest

from fireflyassets.core.failure import Family, Fault
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Attempt
from fireflyassets.ports.paid import EndedBadly, NotAccepted, OutcomeLost
from fireflyassets_tests.floor import Floor, floor
from fireflyassets_tests.paid_services import Behaviour, Take

WORDS = "the region is drained; see notice 7"


def fault(message: str, code: str = "odd_code") -> Fault:
    return Fault(Family.FIREFLY, 418, code, "", message)


def ended_badly(said: Fault) -> Behaviour:
    return Take(ending=EndedBadly(said))


async def sent(here: Floor, behaviour: Behaviour) -> Attempt:
    """Run one job whose first send goes so; return that send."""
    (job,) = here.order(1)  # Its prompt is "a bottle 0", its headline "Spring 0".
    here.images.vendor.script.append(behaviour)
    await here.work([job])
    return here.ledger.history(job).attempts[0]


@pytest.mark.parametrize(
    "behaviour",
    [
        NotAccepted(fault(WORDS)),
        OutcomeLost(fault(WORDS)),
        Take(ending=EndedBadly(fault(WORDS))),
    ],
    ids=["refused", "lost", "ended badly"],
)
def test_whoever_decides_can_read_what_the_vendor_said(behaviour: Behaviour) -> None:
    """Refused, lost or failed: the message stands with the send, behind status and code."""

    async def scenario() -> None:
        attempt = await sent(floor(), behaviour)
        assert attempt.fault == f"firefly 418 odd_code: {WORDS}"

    run(scenario)


@pytest.mark.parametrize(
    "behaviour",
    [
        NotAccepted,
        OutcomeLost,
        ended_badly,
    ],
    ids=["refused", "lost", "ended badly"],
)
@pytest.mark.parametrize(
    ("message", "is_kept"),
    [
        ("blocked: 'a bottle 0'", False),
        ("blocked: A  BOTTLE\n0", False),
        ("for Spring 0 nothing", False),
        ("blocked: a bottle", True),
        ("blocked: a&#32;b&ouml;ttle&nbsp;0", False),
        ("", True),
    ],
)
def test_words_that_quote_the_job_are_left_out(
    behaviour: Callable[[Fault], Behaviour], message: str, *, is_kept: bool
) -> None:
    """What a refusal or a failed job says may repeat its prompt, which no record holds."""

    async def scenario() -> None:
        attempt = await sent(floor(), behaviour(fault(message)))
        words = f": {message}" if is_kept and message else ""
        assert attempt.fault == f"firefly 418 odd_code{words}"

    run(scenario)
