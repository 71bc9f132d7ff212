"""Firefly's paid calls: from a submission to a plan.

Belongs here: one planner per call. Does not belong here: field types (`firefly_bodies.py`),
rules (`firefly_rules.py`), pixels (`firefly_pictures.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import TypeVar

from fireflyassets.twin import firefly_rules as rules
from fireflyassets.twin.bodies import Body
from fireflyassets.twin.effects import Effects
from fireflyassets.twin.fault_language import Effect
from fireflyassets.twin.firefly_bodies import (
    DEFAULT_SIZE,
    ExpandBody,
    FillBody,
    GenerateBody,
    GenerateV4Body,
    SimilarBody,
    Size,
    UpscaleBody,
    Varied,
)
from fireflyassets.twin.firefly_pictures import (
    Standing,
    expanded,
    filled,
    generated,
    similar,
    upscaled,
)
from fireflyassets.twin.flaws import check
from fireflyassets.twin.jobs import Output
from fireflyassets.twin.markers import AcceptedThen, RefusedAtOnce, marker_in
from fireflyassets.twin.plans import Plan, Planner, Submission
from fireflyassets.twin.recipes import Recipe
from fireflyassets.twin.rejections import Flaw, coded, invalid_firefly
from fireflyassets.twin.simulator import Simulator
from fireflyassets.twin.sources import fetch_source

B = TypeVar("B", bound=Body)
Draw = Callable[[Recipe], bytes]

_JPEG = "image/jpeg"
_LARGEST_SEED = 999_999
_V4_PIXELS = {"1MP": 1024 * 1024, "2.4MP": 1536 * 1536, "4MP": 2048 * 2048}
_V4_RATIOS = {
    "1:1": (1, 1), "4:3": (4, 3), "3:4": (3, 4), "16:9": (16, 9), "9:16": (9, 16), "auto": (1, 1)
}  # fmt: skip


class FireflyPlanner:
    """Makes the plan of each paid Firefly call."""

    def __init__(self, simulator: Simulator) -> None:
        self._sim = simulator

    def planners(self) -> Mapping[str, Planner]:
        """Return the planner of each endpoint by its short name."""
        return {
            "generate": self.generate,
            "generate_v4": self.generate_v4,
            "similar": self.similar,
            "expand": self.expand,
            "fill": self.fill,
            "upscale": self.upscale,
        }

    async def generate(self, asked: Submission) -> Plan:
        """Plan a v3 generate."""
        model = self._model(asked)
        body = _read(GenerateBody, asked.body)
        rules.refuse_if(rules.generate_flaws(body, model))
        size = body.size or DEFAULT_SIZE
        rules.check_size(size, rules.sizes_of(model))
        self._check_custom_model(body, model)
        for field, reference in (("style", body.style), ("structure", body.structure)):
            if reference and reference.image_reference and reference.image_reference.source:
                loc = (field, "imageReference", "source")
                await fetch_source(self._sim, asked, reference.image_reference.source, loc)
        effects = _effects_of_prompt(body.prompt)
        recipes = self._recipes(asked, body, size, body.prompt, body.content_class or "photo")
        answer: dict[str, object] = {"size": size.model_dump()}
        if body.content_class:
            answer["contentClass"] = body.content_class
        return self._plan(model, recipes, generated, answer, effects, body.prompt)

    async def generate_v4(self, asked: Submission) -> Plan:
        """Plan a v4 generate."""
        model = self._model(asked)
        body = _read(GenerateV4Body, asked.body)
        rules.refuse_if(rules.v4_flaws(body))
        for index, blob in enumerate(body.reference_blobs):
            await fetch_source(self._sim, asked, blob.source, ("referenceBlobs", index, "source"))
        effects = _effects_of_prompt(body.prompt)
        size = _v4_size(body)
        seeds = body.seeds or self._seeds(asked, 1)
        recipes = [_recipe(body.prompt, seed, size, "photo") for seed in seeds]
        return self._plan(
            model, recipes, generated, {"size": size.model_dump()}, effects, body.prompt
        )

    async def similar(self, asked: Submission) -> Plan:
        """Plan a generate-similar."""
        self._model(asked)
        body = _read(SimilarBody, asked.body)
        rules.refuse_if(rules.variation_flaws(body))
        rules.refuse_if(rules.source_flaws(body.image.source, "image", "source"))
        size = body.size or DEFAULT_SIZE
        rules.check_size(size, rules.FILL_SIZES)
        source = await fetch_source(self._sim, asked, body.image.source, ("image", "source"))
        recipes = self._recipes(asked, body, size, sha256(source).hexdigest(), "photo")
        return self._plan("similar", recipes, partial(similar, source), {"size": size.model_dump()})

    async def expand(self, asked: Submission) -> Plan:
        """Plan an expand."""
        body = _read(ExpandBody, asked.body)
        rules.refuse_if(rules.expand_flaws(body))
        size = body.size or DEFAULT_SIZE
        if max(size.width, size.height) > rules.EXPAND_LONGEST:
            flaw = Flaw(loc=("body", "size"), msg=f"at most {rules.EXPAND_LONGEST} per side")
            raise invalid_firefly([flaw], status=400)
        effects = _effects_of_prompt(body.prompt)
        source = await fetch_source(self._sim, asked, body.image.source, ("image", "source"))
        if body.mask:
            await fetch_source(self._sim, asked, body.mask.source, ("mask", "source"))
        recipes = self._recipes(asked, body, size, body.prompt or "", "photo")
        draw = partial(_expand_with, source, _standing(body))
        return self._plan(
            "expand", recipes, draw, {"size": size.model_dump()}, effects, body.prompt
        )

    async def fill(self, asked: Submission) -> Plan:
        """Plan a fill."""
        body = _read(FillBody, asked.body)
        rules.refuse_if(rules.variation_flaws(body))
        rules.refuse_if(rules.source_flaws(body.image.source, "image", "source"))
        rules.refuse_if(rules.source_flaws(body.mask.source, "mask", "source"))
        size = body.size or DEFAULT_SIZE
        rules.check_size(size, rules.FILL_SIZES)
        effects = _effects_of_prompt(body.prompt)
        source = await fetch_source(self._sim, asked, body.image.source, ("image", "source"))
        mask = await fetch_source(self._sim, asked, body.mask.source, ("mask", "source"))
        recipes = self._recipes(asked, body, size, body.prompt or "", "photo")
        draw = partial(_fill_with, source, mask, invert=body.mask.invert)
        return self._plan("fill", recipes, draw, {"size": size.model_dump()}, effects, body.prompt)

    async def upscale(self, asked: Submission) -> Plan:
        """Plan an upscale: one output per seed."""
        model = self._model(asked)
        body = _read(UpscaleBody, asked.body)
        rules.refuse_if(rules.source_flaws(body.image.source, "image", "source"))
        source = await fetch_source(self._sim, asked, body.image.source, ("image", "source"))
        recipes = [_recipe("", seed, DEFAULT_SIZE, "photo") for seed in body.seeds]
        draw = partial(_upscale_with, source, body.upscale_factor)
        return self._plan("upscale", recipes, draw, {"version": model})

    def _model(self, asked: Submission) -> str:
        name = asked.endpoint.name
        default = "precise_upsampler_v1" if name == "upscale" else self._sim.settings.default_model
        model = rules.model_asked(name, asked.headers.get("x-model-version"), default)
        entitled = "custom_models" in asked.caller.account.entitlements
        if model.endswith("_custom") and not entitled:
            raise rules.without_custom_models()
        return model

    def _check_custom_model(self, body: GenerateBody, model: str) -> None:
        """Refuse an unknown model or one on another base; without the header it is ignored."""
        if not model.endswith("_custom"):
            return
        base = model.removesuffix("_custom")
        known = {each.asset_id: each for each in self._sim.settings.custom_models}
        found = known.get(body.custom_model_id or "")
        if found is None or found.base_model != base:
            flaw = Flaw(loc=("body", "customModelId"), msg=f"no such model on {base}")
            raise invalid_firefly([flaw])

    def _seeds(self, asked: Submission, count: int) -> list[int]:
        return self._sim.dice("seeds", asked.ordinal).sample(range(1, _LARGEST_SEED), count)

    def _recipes(
        self, asked: Submission, body: Varied, size: Size, prompt: str, content_class: str
    ) -> list[Recipe]:
        seeds = body.seeds or self._seeds(asked, body.num_variations or 1)
        return [_recipe(prompt, seed, size, content_class) for seed in seeds]

    def _plan(
        self,
        rate: str,
        recipes: Sequence[Recipe],
        draw: Draw,
        answer: dict[str, object],
        effects: Sequence[Effect] = (),
        prompt: str | None = None,
    ) -> Plan:
        redrawable = draw is generated
        outputs = [
            Output(id="", media_type=_JPEG, seed=each.seed, recipe=each if redrawable else None)
            for each in recipes
        ]

        async def produce(_: Effects) -> list[bytes]:
            return [await self._sim.pool.run(draw, each) for each in recipes]

        return Plan(
            rate=rate,
            outputs=outputs,
            produce=produce,
            answer=answer,
            effects=effects,
            prompt_sha256=None if prompt is None else _hash(prompt),
        )


def _read(model: type[B], body: object) -> B:
    checked = check(model, body)
    if isinstance(checked, list):
        raise invalid_firefly(checked)
    return checked


def _effects_of_prompt(prompt: str | None) -> Sequence[Effect]:
    marker = marker_in(prompt)
    if isinstance(marker, RefusedAtOnce):
        raise coded(marker.status, marker.error_code, marker.message)
    return (marker.effect,) if isinstance(marker, AcceptedThen) else ()


def _hash(prompt: str) -> str:
    return sha256(prompt.encode()).hexdigest()


def _recipe(prompt: str, seed: int, size: Size, content_class: str) -> Recipe:
    return Recipe(
        prompt_sha256=_hash(prompt),
        seed=seed,
        width=size.width,
        height=size.height,
        content_class=content_class,
    )


def _v4_size(body: GenerateV4Body) -> Size:
    across, down = _V4_RATIOS[body.aspect_ratio or "1:1"]
    unit = (_V4_PIXELS[body.resolution_level] / (across * down)) ** 0.5
    return Size(width=round(across * unit / 16) * 16, height=round(down * unit / 16) * 16)


def _standing(body: ExpandBody) -> Standing:
    placement = body.placement
    alignment = placement.alignment if placement else None
    inset = placement.inset if placement else None
    return Standing(
        **(alignment.model_dump() if alignment else {}), **(inset.model_dump() if inset else {})
    )


def _expand_with(source: bytes, standing: Standing, recipe: Recipe) -> bytes:
    return expanded(source, recipe, standing)


def _fill_with(source: bytes, mask: bytes, recipe: Recipe, *, invert: bool) -> bytes:
    return filled(source, mask, recipe, invert=invert)


def _upscale_with(source: bytes, factor: int, recipe: Recipe) -> bytes:
    del recipe
    return upscaled(source, factor)
