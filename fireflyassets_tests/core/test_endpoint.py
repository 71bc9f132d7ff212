"""What a try does to a delivery and to its endpoint. Here: tables of rules."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.core.endpoint import (
    ATTEMPTS_KEPT,
    BROKEN_AFTER,
    LONGEST_ASKED,
    LONGEST_PAUSE,
    OVERLAP,
    WAITS,
    Attempt,
    Health,
    Outcome,
    State,
    after,
    disabled,
    tried,
)
from fireflyassets.core.event import Event, EventType
from fireflyassets_tests.contracts.webhooks import delivery, endpoint
from fireflyassets_tests.front_door import CUSTOMER, NOON

SECOND = timedelta(seconds=1)
EVENT = Event("e", EventType.JOB_SUCCEEDED, CUSTOMER, NOON)
ONE = delivery(EVENT, endpoint(customer=CUSTOMER))


def answer(status: int | None, *, minutes: float = 0, wait: timedelta | None = None) -> Attempt:
    return Attempt(NOON + timedelta(minutes=minutes), status, SECOND, "said", wait)


def failing(times: int, *, minutes: float = 0) -> Health:
    health = Health()
    for _ in range(times):
        health = after(health, answer(500, minutes=minutes), jitter=0.5)
    return health


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_any_2xx_is_a_receipt(status: int) -> None:
    done = tried(ONE, answer(status), Health(), jitter=0)

    assert (done.outcome, done.due_at, len(done.attempts)) == (Outcome.DELIVERED, None, 1)


@pytest.mark.parametrize("status", [None, 100, 301, 302, 307, 400, 401, 404, 500, 503])
def test_anything_else_is_tried_again(status: int | None) -> None:
    """A redirect is no receipt: nobody who holds the address has it."""
    done = tried(ONE, answer(status), failing(1), jitter=0.5)

    assert done.outcome is Outcome.WAITING
    assert done.due_at == NOON + SECOND + WAITS[0]


def test_tries_spread_over_a_day_and_then_it_has_failed() -> None:
    """With jitter, so that a thousand deliveries do not come back in one second."""
    done, gone = ONE, timedelta(0)
    for wait in WAITS:
        done = tried(done, answer(500), failing(1), jitter=0.5)
        gone += wait
        assert done.outcome is Outcome.WAITING
    done = tried(done, answer(500), failing(1), jitter=0.5)

    assert (done.outcome, done.due_at) == (Outcome.FAILED, None)
    assert timedelta(hours=12) < gone < timedelta(hours=36)
    early, late = (tried(ONE, answer(500), failing(1), jitter=n) for n in (0.0, 0.999))
    assert early.due_at != late.due_at


def test_a_replay_has_all_its_tries_before_it() -> None:
    ended = replace(ONE, outcome=Outcome.FAILED, due_at=None, tries=11)

    again = tried(ended.replayed(NOON), answer(500), failing(1), jitter=0.5)

    assert (again.tries, again.webhook_id) == (1, ONE.webhook_id)


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        (timedelta(minutes=20), timedelta(minutes=20)),
        (timedelta(0), WAITS[0]),
        (timedelta(days=3650), LONGEST_ASKED),
    ],
)
def test_a_retry_after_is_honoured_within_reason(asked: timedelta, waits: timedelta) -> None:
    told = answer(429, wait=asked)
    health = after(Health(), told, jitter=0.5)

    assert tried(ONE, told, health, jitter=0.5).due_at == NOON + SECOND + waits
    # The whole endpoint asks, so it is left alone as a whole.
    assert health.is_paused(NOON + min(asked, LONGEST_ASKED) - SECOND) == bool(asked)


def test_failures_in_a_row_pause_an_endpoint_longer_and_longer() -> None:
    """Its budget: five tries, then one at a time, at intervals that grow to five minutes."""
    assert not failing(BROKEN_AFTER - 1).is_paused(NOON)
    pauses = [failing(BROKEN_AFTER + n).retry_at for n in range(8)]

    assert all(one is not None for one in pauses)
    assert sorted(pauses, key=str) == pauses
    assert pauses[-1] == NOON + SECOND + LONGEST_PAUSE
    assert failing(BROKEN_AFTER).is_probed


def test_a_success_mends_all() -> None:
    assert after(failing(7), answer(200), jitter=0) == Health()
    down = after(failing(7), answer(500, minutes=61), jitter=0)
    assert down.state is State.POLLING
    assert after(down, answer(204, minutes=70), jitter=0) == Health()


def test_over_an_hour_down_an_endpoint_is_left_to_polling_and_probed() -> None:
    """Not sooner; and then a failure costs a delivery none of its tries."""
    health = after(failing(5), answer(500, minutes=58), jitter=0)
    assert health.state is State.ACTIVE

    health = after(health, answer(None, minutes=60), jitter=0.5)

    assert health.state is State.POLLING
    assert health.retry_at is not None
    waits = tried(ONE, answer(500, minutes=60), health, jitter=0)
    assert (waits.tries, waits.due_at, waits.outcome) == (0, health.retry_at, Outcome.WAITING)


def test_it_is_told_once_with_the_last_error_and_how_to_return() -> None:
    health = after(failing(5), answer(None, minutes=61), jitter=0)
    ill = replace(endpoint(customer=CUSTOMER), health=health)

    told = disabled(ill, failing(5), NOON)
    again = disabled(replace(ill, health=after(health, answer(500), jitter=0)), health, NOON)

    assert told is not None
    assert again is None
    assert told.type is EventType.ENDPOINT_DISABLED
    assert told.facts["lastError"] == "said"
    assert told.facts["reason"] == "down"
    assert "2xx" in told.facts["howToReturn"]


def test_gone_disables_at_once() -> None:
    """410 is the receiver's own word; only its customer enables it again."""
    health = after(Health(), answer(410), jitter=0)
    ill = replace(endpoint(customer=CUSTOMER), health=health)

    told = disabled(ill, Health(), NOON)

    assert health.state is State.DISABLED
    assert told is not None
    assert "/v1/endpoints/ep_1" in told.facts["howToReturn"]
    assert not ill.wants(EventType.JOB_SUCCEEDED)
    assert tried(ONE, answer(410), health, jitter=0).outcome is Outcome.FAILED


def test_two_secrets_sign_while_one_is_rotated() -> None:
    rotated = endpoint().rotated(NOON)

    assert endpoint().secrets(NOON) == (1,)
    assert rotated.secrets(NOON + OVERLAP - SECOND) == (2, 1)
    assert rotated.secrets(NOON + OVERLAP) == (2,)


def test_an_endpoint_gets_what_it_chose() -> None:
    some = endpoint(types=frozenset({EventType.JOB_FAILED}))

    assert some.wants(EventType.JOB_FAILED)
    assert not some.wants(EventType.JOB_SUCCEEDED)
    assert all(endpoint().wants(kind) for kind in EventType)


def test_an_old_delivery_keeps_its_last_tries() -> None:
    """The row stays small, whatever happens to it."""
    done = ONE
    for n in range(ATTEMPTS_KEPT + 5):
        done = tried(done, answer(500, minutes=n), failing(9), jitter=0)

    assert len(done.attempts) == ATTEMPTS_KEPT
    assert done.attempts[-1].at == NOON + timedelta(minutes=ATTEMPTS_KEPT + 4)


def test_deliveries_sort_by_their_events_and_are_known_again() -> None:
    later = delivery(replace(EVENT, event_id="a", at=NOON + SECOND), endpoint(customer=CUSTOMER))

    assert ONE.delivery_id < later.delivery_id
    assert ONE.delivery_id == delivery(EVENT, endpoint(customer=CUSTOMER)).delivery_id
