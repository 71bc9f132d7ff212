"""Recalls: what would be hit, where it was delivered, and what is left of it then."""

from dataclasses import replace
from datetime import timedelta

from fireflyassets.core.endpoint import Endpoint, Kind, Outcome, delivery_of
from fireflyassets.core.event import Event, EventType
from fireflyassets.core.status import HumanReview
from fireflyassets.limiter.virtual_time import run
from fireflyassets.stages.pinning import Pins
from fireflyassets.stages.recall import Hit, Recalls, Wanted
from fireflyassets.stages.review import Reviews
from fireflyassets.wave.endings import keeping
from fireflyassets_tests.contracts import webhooks
from fireflyassets_tests.floor import ASPECTS, Floor, floor
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER


async def made(jobs: int) -> tuple[Floor, Recalls, list[str]]:
    """Return a floor that has made jobs nobody has to approve, and their ids."""
    here = floor()
    ids = here.order(jobs)
    await here.work(ids)
    pins = Pins(here.objects, here.shop.catalogue)
    reviews = Reviews(here.ledger, here.clock, keeping(pins), lambda: "act-1")
    store = webhooks.over(here.ledger)
    return here, Recalls(here.ledger, store, here.shop.catalogue, pins, reviews), ids


def jobs(hits: list[Hit]) -> set[str]:
    """Return the jobs that would be hit."""
    return {hit.row.job_id for hit in hits}


def test_what_is_named_is_hit() -> None:
    """By template, as its path or its digest, by model, job and time; another one hits nothing."""

    async def scenario() -> None:
        here, recalls, ids = await made(2)
        digest = next(iter(here.shop.catalogue.campaign(CUSTOMER, CAMPAIGN).templates.values()))
        now = here.clock.now()

        for wanted in (
            Wanted(CUSTOMER, template=f"{ASPECTS[0]}.psd"),
            Wanted(CUSTOMER, template=digest[:12]),
            Wanted(CUSTOMER, model="image3"),
            Wanted(CUSTOMER, since=now - timedelta(days=1)),
            Wanted(CUSTOMER, campaign=CAMPAIGN, model="image3"),
        ):
            assert jobs(recalls.find(wanted)) == set(ids), wanted
        assert jobs(recalls.find(Wanted(CUSTOMER, job=ids[0]))) == {ids[0]}
        for other in (
            Wanted(CUSTOMER, template="other.psd"),
            Wanted(CUSTOMER, model="image4_ultra"),
            Wanted(CUSTOMER, since=now + timedelta(days=1)),
            Wanted(CUSTOMER, campaign="other", job=ids[0]),
            Wanted("bolt", job=ids[0]),
        ):
            assert recalls.find(other) == [], other

    run(scenario)


def test_a_recall_is_a_decision_that_customers_hear_of() -> None:
    """The row is rejected for good, the history says by whom, and it is hit no second time."""

    async def scenario() -> None:
        here, recalls, (job, other) = await made(2)
        hits = recalls.find(Wanted(CUSTOMER, job=job))

        done, refused = recalls.go(hits, by="ann", why="The licence has ended")

        assert [row.job_id for row in done] == [job]
        assert refused == []
        assert here.row(job).human_reviewed is HumanReview.REJECTED
        assert here.row(other).human_reviewed is HumanReview.NOT_REQUIRED
        (said,) = here.ledger.judgements(job)
        assert (said.by, said.note) == ("ann", "The licence has ended")
        assert EventType.ASSET_RECALLED in {one.type for one in recalls.webhooks.pending(most=99)}
        assert recalls.find(Wanted(CUSTOMER, job=job)) == []
        assert recalls.go(hits, by="bob", why="again")[1][0].job_id == job

    run(scenario)


def test_where_it_was_delivered_is_named() -> None:
    """Whoever was told has it: that is whom to call."""

    async def scenario() -> None:
        here, recalls, (job, other) = await made(2)
        now = here.clock.now()
        url = "https://hooks.example.com/in"
        endpoint = Endpoint(CUSTOMER, "ep_1", Kind.WEBHOOK, url, frozenset(), now)
        recalls.webhooks.add_endpoint(endpoint)
        event = Event("e1", EventType.JOB_SUCCEEDED, CUSTOMER, now, job, CAMPAIGN)
        sent = delivery_of(event, endpoint, "{}", due_at=now, asked_at=now)
        recalls.webhooks.add_delivery(replace(sent, outcome=Outcome.DELIVERED))

        hits = recalls.find(Wanted(CUSTOMER, model="image3"))

        found = {hit.row.job_id: hit.delivered_to for hit in hits}

        assert found == {job: (url,), other: ()}

    run(scenario)
