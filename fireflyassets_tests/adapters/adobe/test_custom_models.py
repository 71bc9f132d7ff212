"""Custom models: listed with their own manners, and checked before anything is paid."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs

import httpx
import pytest

from fireflyassets.core.failure import ACTIONS, Action, FailureClass, classify
from fireflyassets.core.recipe_step import Model
from fireflyassets.ports.custom_models import CustomModel, NotReady, Ready
from fireflyassets.ports.paid import Accepted
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import GENERATE, FakeClock, ScriptedAdobe, error

URN = "urn:aaid:sc:US:11111111"
CUSTOM = replace(GENERATE, model=Model.IMAGE4_CUSTOM, custom_model=URN)


def model(urn: str = URN, *, base: object = "image4", state: str = "never") -> dict[str, object]:
    return {
        "assetId": urn,
        "displayName": "Acme bottles",
        "publishedState": state,
        "baseModel": {"name": base, "version": "1"},
        "conceptId": "acmebottle",
    }


class Shelf:
    """A service with models by state; everything else is accepted."""

    def __init__(self, **states: list[Mapping[str, object]]) -> None:
        self.states: Mapping[str, Sequence[Mapping[str, object]]] = states
        self.answer: httpx.Response | None = None
        self.adobe = ScriptedAdobe(self.respond)

    def respond(self, seen: bench.Seen) -> httpx.Response:
        if seen.path != "/v3/custom-models":
            return bench.accepted()
        if self.answer is not None:
            return self.answer
        asked = {key: value[0] for key, value in parse_qs(seen.target.partition("?")[2]).items()}
        start, limit = int(asked["start"]), int(asked["limit"])
        page = self.states.get(asked["publishedState"], [])[start : start + limit]
        return httpx.Response(200, json={"custom_models": page, "total_count": len(page)})

    @property
    def listings(self) -> list[bench.Seen]:
        return [seen for seen in self.adobe.seen if seen.path == "/v3/custom-models"]

    @property
    def submits(self) -> list[bench.Seen]:
        return [seen for seen in self.adobe.seen if seen.method == "POST"]

    def check(self) -> Ready | NotReady:
        return bench.run(checked, self.adobe)


async def checked(clients: bench.AdobeClients) -> Ready | NotReady:
    return await clients.models.check(URN, Model.IMAGE4_CUSTOM)


async def all_at_once(clients: bench.AdobeClients) -> list[Ready | NotReady]:
    return await asyncio.gather(*(checked(clients) for _ in range(100)))


@pytest.mark.parametrize("answer", [None, error(403, "access_error")], ids=["ready", "refused"])
def test_a_hundred_jobs_ask_once(answer: httpx.Response | None) -> None:
    """Whoever comes while a list is asked for shares the answer, a refusal as well."""
    shelf = Shelf(ready=[model()])
    shelf.answer = answer

    told = bench.run(all_at_once, shelf.adobe)

    assert len(shelf.listings) == (1 if answer else 2)
    assert {type(one) for one in told} == {NotReady if answer else Ready}


def test_custom_model_goes_out_with_its_header() -> None:
    """A send with a custom model is one request, header and id together."""
    shelf = Shelf(training=[model()])

    sent = bench.run(lambda clients: clients.images.generate(CUSTOM), shelf.adobe)

    assert isinstance(sent, Accepted)
    assert shelf.listings == []

    (submit,) = shelf.submits
    assert submit.headers["x-model-version"] == "image4_custom"
    assert bench.body_of(submit)["customModelId"] == URN


def test_listing_has_its_own_manners() -> None:
    """The listing carries a request id, and never a limit without a start."""
    shelf = Shelf(published=[model()])

    assert isinstance(shelf.check(), Ready)

    for seen in shelf.listings:
        asked = parse_qs(seen.target.partition("?")[2])
        assert seen.headers["x-request-id"]
        assert {"start", "limit", "publishedState"} == set(asked)


@pytest.mark.parametrize(
    ("states", "failure"),
    [
        ({"queued": [model()]}, FailureClass.MODEL_NOT_READY),
        ({"training": [model()]}, FailureClass.MODEL_NOT_READY),
        ({"failed": [model()]}, FailureClass.MODEL_RETIRED),
        ({"cancelled": [model()]}, FailureClass.MODEL_RETIRED),
        ({"unpublished": [model(state="unpublished")]}, FailureClass.MODEL_RETIRED),
        ({}, FailureClass.MODEL_RETIRED),
        ({"published": [model(base="image3")]}, FailureClass.INVALID_REQUEST),
    ],
)
def test_model_that_can_t_be_used_is_found_out_free(
    states: dict[str, list[Mapping[str, object]]], failure: FailureClass
) -> None:
    """A model in training, gone, or of another base costs no paid call."""
    shelf = Shelf(**states)

    outcome = shelf.check()

    assert isinstance(outcome, NotReady)
    assert classify(outcome.fault) is failure


def test_model_in_training_waits_and_is_asked_for_again() -> None:
    """The job is parked, and goes on once the training is over."""
    shelf, clock = Shelf(training=[model()]), FakeClock()

    async def twice(clients: bench.AdobeClients) -> tuple[Ready | NotReady, Ready | NotReady]:
        first = await checked(clients)
        shelf.states = {"published": [model(state="published")]}
        clock.pass_time(timedelta(minutes=10))
        return first, await checked(clients)

    first, second = bench.run(twice, shelf.adobe, clock=clock)

    assert isinstance(first, NotReady)
    assert ACTIONS[classify(first.fault)] is Action.PARK
    assert first.retry_after == timedelta(minutes=10)
    assert isinstance(second, Ready)


def test_a_wave_asks_once() -> None:
    """Many jobs with one model share a listing for some minutes."""
    shelf = Shelf(published=[model()])

    async def many(clients: bench.AdobeClients) -> None:
        for _ in range(20):
            await checked(clients)

    bench.run(many, shelf.adobe)

    assert len(shelf.listings) == 1


def test_all_pages_are_read() -> None:
    """A model on the third page is found, in whatever state."""
    others = [model(f"urn:{n}") for n in range(120)]
    shelf = Shelf(ready=[*others, model()])

    found = bench.run(lambda clients: clients.models.models(), shelf.adobe)

    assert not isinstance(found, NotReady)
    assert len(found) == 121
    assert CustomModel(URN, "Acme bottles", "ready", "image4", "acmebottle") in found


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (error(403, {"reason": "forbidden", "message": "no"}), FailureClass.ENTITLEMENT),
        (error(429, {"reason": "too_many"}), FailureClass.THROTTLED),
        (bench.page(502), FailureClass.TRANSIENT),
    ],
)
def test_listing_that_fails_stops_the_call(answer: httpx.Response, failure: FailureClass) -> None:
    """Where nobody can say whether the model is ready, nothing is paid."""
    shelf = Shelf()
    shelf.answer = answer

    outcome = shelf.check()

    assert isinstance(outcome, NotReady)
    assert classify(outcome.fault) is failure


@pytest.mark.parametrize(
    ("mode", "concept"), [("subject", "acmebottle"), (None, "acmebottle"), ("style", None)]
)
def test_only_a_subject_has_a_word(mode: str | None, concept: str | None) -> None:
    """A style's model needs no word in the prompt, whatever stands in its entry."""
    found = Shelf(published=[{**model(), "trainingMode": mode}]).check()

    assert isinstance(found, Ready)
    assert found.model.concept == concept
