"""The vendor's own words with a send. Here: what is kept of them. Not here: their redaction."""

import pytest

from fireflyassets.core.failure import Family, Fault
from fireflyassets.fence.call import share_a_stretch
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Attempt
from fireflyassets.ports.paid import EndedBadly, NotAccepted, OutcomeLost
from fireflyassets_tests.floor import Floor, floor
from fireflyassets_tests.paid_services import Behaviour, Take

WORDS = "the region is drained; see notice 7"


def fault(message: str, code: str = "odd_code") -> Fault:
    return Fault(Family.FIREFLY, 418, code, "", message)


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
    ("message", "is_kept"),
    [
        ("blocked: 'a bottle 0'", False),
        ("blocked: A  BOTTLE\n0", False),
        ("for Spring 0 nothing", False),
        ("blocked: a bottle", True),
        ("", True),
    ],
)
def test_words_that_quote_the_job_are_left_out(message: str, *, is_kept: bool) -> None:
    """What a failed job says may repeat its prompt, which no record holds."""

    async def scenario() -> None:
        attempt = await sent(floor(), Take(ending=EndedBadly(fault(message))))
        words = f": {message}" if is_kept and message else ""
        assert attempt.fault == f"firefly 418 odd_code{words}"

    run(scenario)


@pytest.mark.parametrize(
    ("message", "is_kept"),
    [("…verbena on a market…", False), ("a market", True), ("VERBENA  ON A\tMARKET", False)],
)
def test_a_stretch_of_a_long_text_is_enough(message: str, *, is_kept: bool) -> None:
    """A prompt that is quoted may be cut at both ends."""
    text = "Lemon verbena on a market stall, morning light"

    assert share_a_stretch(message, text) is not is_kept
