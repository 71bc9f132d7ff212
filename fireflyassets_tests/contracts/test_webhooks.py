"""What a store of webhooks promises. Here: over memory and over DynamoDB."""

from dataclasses import replace
from datetime import timedelta

import pytest

from fireflyassets.core.endpoint import Attempt, Health, Outcome, State, tried
from fireflyassets.core.event import Event, EventType, completed
from fireflyassets.core.job import CAMPAIGN, Hold
from fireflyassets.core.status import Status
from fireflyassets.ports.webhooks import Chosen
from fireflyassets_tests.contracts.ledgers import ACME, MINUTE, NOON, SPRING
from fireflyassets_tests.contracts.webhooks import World, delivery, endpoint

SECOND = timedelta(seconds=1)
DISABLED = Event("e-own", EventType.ENDPOINT_DISABLED, ACME, NOON, facts={"reason": "gone"})


def one_event(world: World, key: str = "one", status: Status = Status.SUCCEEDED) -> Event:
    """End a job, and return the event that tells of it."""
    claim = world.ledger.ended(status, key)
    (event,) = (one for one in world.store.pending(most=10) if one.job_id == claim.job_id)
    return event


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.SUCCEEDED, EventType.JOB_SUCCEEDED),
        (Status.FAILED, EventType.JOB_FAILED),
        (Status.DLQ, EventType.JOB_FAILED),
        (Status.REVIEW, EventType.JOB_REVIEW),
        (Status.CANCELLED, EventType.JOB_CANCELLED),
    ],
)
def test_an_end_is_pending_by_the_change_itself(
    webhook_world: World, status: Status, kind: EventType
) -> None:
    """Intake and claim are no news; the end is, and says what job it was."""
    event = one_event(webhook_world, status=status)

    assert (event.type, event.customer, event.campaign) == (kind, ACME, SPRING)
    assert event.status is status
    assert webhook_world.store.pending(most=10) == [event]


def test_an_event_is_told_once(webhook_world: World) -> None:
    """Of two that would tell it, one writes its deliveries, and the other nothing."""
    store = webhook_world.store
    event = one_event(webhook_world)
    made = delivery(event, endpoint())

    assert store.fan_out(event, [made])
    assert not store.fan_out(event, [replace(made, delivery_id="another")])

    assert store.pending(most=10) == []
    assert store.deliveries(Chosen(ACME)) == [made]


def test_an_event_that_nobody_wants_is_told_too(webhook_world: World) -> None:
    event = one_event(webhook_world)

    assert webhook_world.store.fan_out(event, [])
    assert not webhook_world.store.fan_out(event, [])
    assert webhook_world.store.pending(most=10) == []


def test_events_are_passed_over_together_or_not_at_all(webhook_world: World) -> None:
    """One that somebody has told leaves the others pending, for a later look."""
    store = webhook_world.store
    first, second, third = (one_event(webhook_world, key) for key in ("one", "two", "three"))
    store.fan_out(second, [])

    assert not store.pass_over([first, second, third])
    assert {one.event_id for one in store.pending(most=10)} == {first.event_id, third.event_id}
    assert store.pass_over([first, third])
    assert not store.fan_out(first, [delivery(first, endpoint())])

    assert store.pending(most=10) == []
    assert store.deliveries(Chosen(ACME)) == []


def test_the_oldest_is_told_first_within_the_bound(webhook_world: World) -> None:
    events = [one_event(webhook_world, key) for key in ("one", "two", "three")]

    assert len(webhook_world.store.pending(most=2)) == 2
    assert {one.event_id for one in webhook_world.store.pending(most=9)} == {
        one.event_id for one in events
    }


def test_endpoints_are_their_customers_own(webhook_world: World) -> None:
    store = webhook_world.store
    ours, theirs = endpoint("ep_1"), endpoint("ep_2", "bolt")
    store.add_endpoint(ours)
    store.add_endpoint(theirs)

    assert store.endpoints(ACME) == [ours]
    assert store.endpoint(ACME, "ep_1") == ours
    assert store.endpoint("bolt", "ep_1") is None
    assert store.every_endpoint() == [ours, theirs]


def test_of_two_changes_one_wins_with_its_event(webhook_world: World) -> None:
    """Who lost looks again; an event of the loser is never told."""
    store = webhook_world.store
    store.add_endpoint(endpoint())
    ill = replace(endpoint(), health=Health(State.POLLING, 9, NOON, NOON + MINUTE, "HTTP 500"))

    won = store.change_endpoint(ill, DISABLED)
    lost = store.change_endpoint(endpoint(), replace(DISABLED, event_id="e-lost"))

    assert won == store.endpoint(ACME, "ep_1") == replace(ill, version=2)
    assert lost is None
    assert store.pending(most=10) == [DISABLED]


def test_a_removed_endpoint_is_gone(webhook_world: World) -> None:
    store = webhook_world.store
    store.add_endpoint(endpoint())
    store.remove_endpoint(ACME, "ep_1")

    assert store.endpoints(ACME) == store.every_endpoint() == []
    assert store.change_endpoint(endpoint()) is None


def test_what_is_due_is_taken_by_one(webhook_world: World) -> None:
    """Until the taker's time is over; then it is anybody's, so a death loses nothing."""
    store = webhook_world.store
    made = delivery(one_event(webhook_world), endpoint())
    store.add_delivery(made)

    (taken,) = store.claim(endpoint(), now=NOON, until=NOON + MINUTE, most=5)
    again = store.claim(endpoint(), now=NOON, until=NOON + MINUTE, most=5)
    late = store.claim(endpoint(), now=NOON + MINUTE, until=NOON + 2 * MINUTE, most=5)

    assert taken == replace(made, due_at=NOON + MINUTE)
    assert again == []
    assert [one.delivery_id for one in late] == [made.delivery_id]


def test_who_was_too_late_writes_nothing(webhook_world: World) -> None:
    store = webhook_world.store
    store.add_delivery(delivery(one_event(webhook_world), endpoint()))
    (slow,) = store.claim(endpoint(), now=NOON, until=NOON + MINUTE, most=1)
    (quick,) = store.claim(endpoint(), now=NOON + MINUTE, until=NOON + 2 * MINUTE, most=1)
    answer = Attempt(NOON + MINUTE, 204, SECOND, "")

    assert store.settle(quick, tried(quick, answer, Health(), jitter=0))
    assert not store.settle(slow, tried(slow, replace(answer, status=500), Health(), jitter=0))

    (stands,) = store.deliveries(Chosen(ACME))
    assert stands == tried(quick, answer, Health(), jitter=0)
    assert stands.outcome is Outcome.DELIVERED


def test_one_endpoints_line_is_no_other_ones(webhook_world: World) -> None:
    store = webhook_world.store
    event = one_event(webhook_world)
    store.add_delivery(delivery(event, endpoint("ep_1")))
    store.add_delivery(delivery(event, endpoint("ep_2")))

    (taken,) = store.claim(endpoint("ep_2"), now=NOON, until=NOON + MINUTE, most=5)

    assert taken.endpoint_id == "ep_2"


def test_the_log_is_the_newest_first_and_can_be_narrowed(webhook_world: World) -> None:
    store = webhook_world.store
    event = one_event(webhook_world)
    made = [
        delivery(replace(event, event_id=f"e{n}", at=NOON + n * MINUTE), endpoint(f"ep_{n % 2}"))
        for n in range(6)
    ]
    for one in made:
        store.add_delivery(one)
    newest = made[::-1]

    assert store.deliveries(Chosen(ACME), most=4) == newest[:4]
    assert store.deliveries(Chosen(ACME), after=newest[3].delivery_id) == newest[4:]
    assert store.deliveries(Chosen(ACME, endpoint_id="ep_1"), most=2) == [made[5], made[3]]
    assert store.deliveries(Chosen(ACME, outcome=Outcome.FAILED)) == []
    within = Chosen(ACME, since=NOON + MINUTE, until=NOON + 3 * MINUTE)
    assert store.deliveries(within) == [made[3], made[2], made[1]]
    assert store.deliveries(Chosen("bolt")) == []
    assert store.delivery("bolt", made[0].delivery_id) is None
    assert store.delivery(ACME, made[0].delivery_id) == made[0]


def test_what_has_ended_can_be_replayed_once_at_a_time(webhook_world: World) -> None:
    """With its id, its body and its tries as they were: receivers know it again."""
    store = webhook_world.store
    made = delivery(one_event(webhook_world), endpoint())
    store.add_delivery(made)
    assert not store.replay(made, now=NOON)
    (taken,) = store.claim(endpoint(), now=NOON, until=NOON + MINUTE, most=1)
    ended = tried(taken, Attempt(NOON, 200, SECOND, "ok"), Health(), jitter=0)
    store.settle(taken, ended)

    assert store.replay(ended, now=NOON + MINUTE)
    assert not store.replay(ended, now=NOON + MINUTE)

    (again,) = store.claim(endpoint(), now=NOON + MINUTE, until=NOON + 2 * MINUTE, most=1)
    assert (again.webhook_id, again.body, again.attempts) == (
        made.webhook_id,
        made.body,
        ended.attempts,
    )


def test_an_event_that_follows_is_written_once(webhook_world: World) -> None:
    """Whoever sees the same writes the same: the second changes nothing, told or not."""
    store = webhook_world.store
    done = completed(ACME, "spring", {Status.SUCCEEDED: 2, Status.DLQ: 1}, NOON)

    assert store.add_event(done)
    assert not store.add_event(done)
    assert store.pending(most=10) == [done]
    store.fan_out(done, [])
    assert not store.add_event(done)
    assert store.pending(most=10) == []


def test_a_hold_of_a_campaign_is_told_with_its_write(webhook_world: World) -> None:
    """Once for each hold: who holds what is on hold changes nothing, and tells nothing."""
    ledger, store = webhook_world.ledger.ledger, webhook_world.store
    hold = Hold("The campaign is on hold (ann): wrong logo", NOON, CAMPAIGN)

    ledger.hold_campaign(ACME, "spring", hold)
    ledger.hold_campaign(ACME, "spring", replace(hold, since=NOON + MINUTE))
    (told,) = store.pending(most=10)
    ledger.hold_campaign(ACME, "spring", replace(hold, since=NOON + MINUTE), anew=True)

    assert (told.type, told.campaign) == (EventType.CAMPAIGN_HALTED, "spring")
    assert told.facts == {"reason": hold.reason, "since": "2026-03-09T12:00:00Z"}
    assert len(store.pending(most=10)) == 2


def test_an_event_about_a_job_reads_back_whole(webhook_world: World) -> None:
    """A decision of a reviewer is no end of the job, and names it all the same."""
    event = Event(
        "r-1", EventType.ASSET_APPROVED, ACME, NOON, job_id="j-1", campaign="spring", sequence=7
    )

    webhook_world.store.add_event(event)

    assert webhook_world.store.pending(most=10) == [event]
