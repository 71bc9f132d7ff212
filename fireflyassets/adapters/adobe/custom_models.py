"""Firefly's list of custom models, and whether one of them can be used.

Belongs here: the free call with its own headers, pages and error shape. Does not: paid calls.
The list is kept for some minutes: it counts to limits that nobody documents.
"""

import asyncio
from datetime import datetime, timedelta
from typing import Final, cast
from urllib.parse import urlencode

from fireflyassets.adapters.adobe import faults, retry_after
from fireflyassets.adapters.adobe.exchange import Answer, NoAnswer
from fireflyassets.adapters.adobe.mint import NoToken
from fireflyassets.adapters.adobe.poll_share import PollShare
from fireflyassets.adapters.adobe.wire import AdobeWire, Ask, Reply, Untrusted
from fireflyassets.core.failure import MODEL_FIELD, Family, Fault
from fireflyassets.core.recipe_step import Model
from fireflyassets.ports.custom_models import CustomModel, CustomModels, NotReady, Ready

_PATH: Final = "/v3/custom-models"
_PAGE: Final = 50
_PAGES: Final = 40
"""A bound against a service that never ends a list: 2,000 models."""
_WITHIN: Final = timedelta(seconds=15)
_FRESH: Final = timedelta(minutes=5)
_RECHECK: Final = timedelta(minutes=10)
_STATES: Final = (
    "published",
    "ready",
    "training",
    "queued",
    "unpublished",
    "failed",
    "cancelled",
)
"""Asked one by one, the usual first: a model's own field does not tell that it is in training."""
_USABLE: Final = frozenset({"published", "ready"})
_COMING: Final = frozenset({"queued", "training"})
_BASES: Final = {Model.IMAGE3_CUSTOM: "image3", Model.IMAGE4_CUSTOM: "image4"}


class CustomModelDesk(CustomModels):
    """Asks Firefly for its custom models."""

    def __init__(self, wire: AdobeWire, *, base_url: str, pace: PollShare) -> None:
        """Take the wire, which sends the request id that the call must have, and the address."""
        self._wire = wire
        self._pace = pace
        self._url = f"{base_url.rstrip('/')}{_PATH}"
        self._listed: dict[str, tuple[tuple[CustomModel, ...], datetime]] = {}
        self._asking: dict[str, asyncio.Task[tuple[CustomModel, ...] | NotReady]] = {}

    async def models(self) -> tuple[CustomModel, ...] | NotReady:
        """Return all models, in whatever state, or why they can't be listed."""
        found: dict[str, CustomModel] = {}
        for state in _STATES:
            listed = await self._of(state)
            if isinstance(listed, NotReady):
                return listed
            found = {model.asset_id: model for model in listed} | found
        return tuple(found.values())

    async def check(self, asset_id: str, model: Model) -> Ready | NotReady:
        """Say whether *asset_id* can be used under the header *model*; usually asks nobody."""
        for state in _STATES:
            listed = await self._of(state)
            if isinstance(listed, NotReady):
                return listed
            found = next((one for one in listed if one.asset_id == asset_id), None)
            if found is not None:
                return _judged(found, model)
        return _not("model_unknown", "no such custom model is shared with this credential")

    async def _of(self, state: str) -> tuple[CustomModel, ...] | NotReady:
        """Return a state's models; who comes while they are asked for shares the one answer."""
        kept = self._listed.get(state)
        if kept is not None and self._wire.clock.now() < kept[1] + _FRESH:
            return kept[0]
        if state not in self._asking:
            self._asking[state] = asyncio.create_task(self._heard(state))
        # Shielded: whoever is cancelled takes the answer from nobody else.
        return await asyncio.shield(self._asking[state])

    async def _heard(self, state: str) -> tuple[CustomModel, ...] | NotReady:
        try:
            now = self._wire.clock.now()
            found = await self._asked(state)
            if not isinstance(found, NotReady):
                self._listed[state] = (found, now)
            return found
        finally:
            del self._asking[state]

    async def _asked(self, state: str) -> tuple[CustomModel, ...] | NotReady:
        found: list[CustomModel] = []
        for page in range(_PAGES):
            reply = await self._ask(state, page * _PAGE)
            if not isinstance(reply, Answer) or not reply.is_success:
                return self._unlisted(reply)
            items = _object(reply.json()).get("custom_models")
            models = cast("list[object]", items) if isinstance(items, list) else []
            found += [_model(_object(item), state) for item in models]
            if len(models) < _PAGE:
                break
        return tuple(found)

    async def _ask(self, state: str, start: int) -> Reply:
        # `limit` alone is refused.
        await self._pace.turn()
        query = urlencode({"publishedState": state, "start": start, "limit": _PAGE})
        return await self._wire.ask(Ask("GET", f"{self._url}?{query}", within=_WITHIN))

    def _unlisted(self, reply: Reply) -> NotReady:
        if isinstance(reply, NoToken):
            return NotReady(reply.fault, reply.retry_after)
        if isinstance(reply, Untrusted):
            return NotReady(reply.fault(Family.FIREFLY))
        if isinstance(reply, NoAnswer):
            # Nothing paid was sent, whatever became of this question.
            return NotReady(faults.from_silence(Family.FIREFLY, reply))
        now = reply.date(self._wire.clock.now())
        wait = retry_after.wait(reply.retry_values(), now=now)
        return NotReady(faults.from_answer(Family.FIREFLY, reply), wait)


def _judged(found: CustomModel, model: Model) -> Ready | NotReady:
    if found.state in _COMING:
        return _not("model_not_ready", f"the custom model is {found.state}", _RECHECK)
    if found.state not in _USABLE:
        return _not("model_unknown", f"the custom model is {found.state}")
    base = _BASES.get(model)
    if base is None or (found.base and not found.base.startswith(base)):
        return _not("model_base", f"the custom model is built on {found.base}, not for {model}")
    return Ready(found)


def _model(item: dict[str, object], state: str) -> CustomModel:
    # A filter that the service ignores must not make a model look untrained; `unpublished` and
    # `published` are its own words, `never` says nothing about training.
    own = _text(item.get("publishedState"))
    said = own if own in {"published", "unpublished"} else state
    base = item.get("baseModel")
    name = _text(base) or _text(_object(base).get("name"))
    return CustomModel(
        asset_id=_text(item.get("assetId")),
        name=_text(item.get("displayName")) or _text(item.get("assetName")),
        state=said,
        base=name,
        # A style needs no word, and may carry one all the same.
        concept=(item.get("trainingMode") != "style" and _text(item.get("conceptId"))) or None,
    )


def _not(code: str, message: str, wait: timedelta | None = None) -> NotReady:
    return NotReady(Fault(Family.FIREFLY, None, code, MODEL_FIELD, message), wait)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
