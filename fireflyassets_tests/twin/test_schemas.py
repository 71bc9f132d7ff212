"""The twin's answers, and our own requests, against the schemas that restate Adobe's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from fireflyassets.ports.images import Linked, Mask, Placement, Style, Uploaded
from fireflyassets.twin import endpoints, openapi_check
from fireflyassets.twin.schemas import FILES, Book, Operation
from fireflyassets_tests.adapters.adobe import bench, test_firefly_edits, test_photoshop_calls
from fireflyassets_tests.adapters.adobe.bench import COMPOSITE, GENERATE, ScriptedAdobe, answering
from fireflyassets_tests.adapters.adobe.test_photoshop import STYLE
from fireflyassets_tests.twin.rehearsal import Rehearsal, picture, rehearse, storing

BOOKS = {name: Book(name) for name in FILES}
CALLS: dict[str, tuple[Book, Operation]] = {
    call.name: (book, call) for book in BOOKS.values() for call in book.operations()
}


def flaws_of_answer(name: str, answer: httpx.Response) -> list[str]:
    """Return what is wrong with an answer of the call *name*."""
    book, call = CALLS[name]
    assert answer.status_code == call.success, answer.text
    return [] if call.response is None else list(book.flaws(answer.json(), call.response))


def flaws_of_refusal(name: str, answer: httpx.Response) -> list[str]:
    """Return what is wrong with a refusal of the call *name*, by the schema of its status."""
    book, call = CALLS[name]
    schema = call.errors.get(str(answer.status_code))
    assert isinstance(schema, dict), (answer.status_code, sorted(call.errors))
    return list(book.flaws(answer.json(), schema))


def test_every_call_of_the_twin_has_a_schema() -> None:
    """No call of the twin goes unchecked, but those that no OpenAPI document describes."""
    undescribed = {"token", "output", "remove_background"}

    assert {each.name for each in endpoints.ALL} - set(CALLS) == undescribed
    for each in endpoints.ALL:
        if each.name in CALLS:
            _, call = CALLS[each.name]
            path = each.path.replace("{job_id:path}", "{jobId}")
            assert (call.method, call.path) == (each.method.lower(), path)


def test_firefly_answers_are_of_the_schema() -> None:
    """Acceptances, statuses open and ended, uploads, models and errors: all of them fit."""

    async def steps(twin: Rehearsal) -> None:
        headers = {**await twin.headers(), "x-request-id": "r"}
        upload = await twin.http.post(
            "/v2/storage/image", content=picture(), headers=headers | {"Content-Type": "image/png"}
        )
        assert flaws_of_answer("upload", upload) == []
        source = {"source": {"uploadId": upload.json()["images"][0]["id"]}}
        for name, body, model in (
            ("generate", {"prompt": "a pear"}, "image3"),
            ("generate_v4", {"prompt": "a pear"}, "image5"),
            ("similar", {"image": source}, "image3"),
            ("expand", {"image": source}, None),
            ("fill", {"image": source, "mask": source}, None),
            ("upscale", {"image": source, "seeds": [7]}, "precise_upsampler_v1"),
        ):
            accepted = await twin.post(CALLS[name][1].path, body, model=model)
            assert flaws_of_answer(name, accepted) == [], name
            said = accepted.json()
            url = said.get("statusUrl") or said["links"]["result"]["href"]
            assert flaws_of_answer("status", await twin.get(url)) == [], name
            await twin.ended(accepted)
            assert flaws_of_answer("status", await twin.get(url)) == [], name
        unsafe = {"prompt": "a pear twin-unsafe"}
        models = await twin.http.get("/v3/custom-models", headers=headers)
        assert flaws_of_answer("custom_models", models) == []
        for call, refused in (
            ("generate", await twin.generate(numVariations=9)),
            ("upscale", await twin.post(CALLS["upscale"][1].path, {})),
            ("generate_v4", await twin.post(CALLS["generate_v4"][1].path, unsafe, model="image5")),
            ("status", await twin.get("/v3/status/urn:ff:jobs:none")),
            ("upload", await twin.http.post("/v2/storage/image", content=picture())),
        ):
            assert flaws_of_refusal(call, refused) == [], refused.text

    rehearse(steps)


def test_photoshop_answers_are_of_the_schema() -> None:
    """Acceptances, statuses open, ended and failed, and errors fit."""

    async def steps(twin: Rehearsal) -> None:
        with storing(psd=b"8BPSred", png=picture()) as bucket:
            image = {"source": {"url": f"{bucket.url}/psd"}}
            raster = {"source": {"url": f"{bucket.url}/png"}}
            output = {"mediaType": "image/jpeg", "destination": {"url": f"{bucket.url}/out"}}
            manifest = {"mediaType": "application/json", "destination": output["destination"]}
            for name, body in (
                ("composite", {"image": image, "outputs": [output]}),
                ("composite", {"image": {"source": {"url": bucket.url}}, "outputs": [output]}),
                ("manifest", {"image": image, "outputs": [manifest]}),
                ("edit", {"image": raster, "outputs": [output]}),
                ("artboard", {"images": [raster], "outputs": [output]}),
                ("auto_crop", {"image": raster, "mode": "smartCrop"}),
            ):
                accepted = await twin.post(CALLS[name][1].path, body)
                assert flaws_of_answer(name, accepted) == [], name
                url = accepted.json()["statusUrl"]
                assert flaws_of_answer("photoshop_status", await twin.get(url)) == [], name
                await twin.ended(accepted)
                assert flaws_of_answer("photoshop_status", await twin.get(url)) == [], name
        assert flaws_of_refusal("composite", await twin.post("/v2/create-composite", {})) == []
        gone = await twin.get("/v2/status/none")
        assert flaws_of_refusal("photoshop_status", gone) == []

    rehearse(steps)


def test_our_requests_are_of_the_schema() -> None:
    """Whatever the clients send fits what Adobe takes, and names no field that it lacks."""
    edits, calls = test_firefly_edits, test_photoshop_calls
    styled = replace(
        GENERATE,
        style=Style(Uploaded("u"), presets=("a",), strength=5),
        negative_prompt="fog",
        visual_intensity=3,
    )
    adobe = ScriptedAdobe(answering(bench.accepted()))

    async def send(clients: bench.AdobeClients) -> None:
        signed = Linked("https://b.s3.amazonaws.com/k")
        await clients.images.generate(styled)
        await clients.images.expand(replace(edits.EXPAND, placement=Placement(left=3)))
        await clients.images.expand(replace(edits.EXPAND, mask=Mask(signed)))
        await clients.images.fill(edits.FILL)
        await clients.images.similar(edits.SIMILAR)
        await clients.images.upscale(edits.UPSCALE)
        await clients.images.generate_v4(edits.V4)
        await clients.documents.compose(replace(COMPOSITE, styles={"Headline": STYLE}))
        await clients.documents.play(calls.ACTIONS)
        await clients.documents.list_layers(calls.ManifestRequest(calls.IN, calls.OUT))
        await clients.documents.lay_out(calls.ARTBOARD)
        await clients.documents.edit(calls.EDIT)
        await clients.cutter.auto_crop(calls.CROP)

    v4 = bench.settings().model_copy(update={"firefly_v4": True})
    bench.run(send, adobe, configured=v4)

    by_path = {call.path: pair for pair in CALLS.values() if (call := pair[1]).request}
    for seen in adobe.seen:
        book, call = by_path[seen.path]
        assert call.request is not None
        body, shape = bench.body_of(seen), book.resolved(call.request)
        assert list(book.flaws(body, shape)) == [], seen.path
        known = shape["properties"]
        assert isinstance(known, dict)
        assert set(body) <= {*known, "aspectRatio"}, seen.path
    assert {seen.path for seen in adobe.seen} == set(by_path)


@pytest.mark.parametrize(
    ("value", "flaw"),
    [
        ({"prompt": "x", "size": {"width": 0, "height": 1}}, "$.size.width: under minimum 1"),
        ({"prompt": ""}, "$.prompt: under minLength 1"),
        ({"prompt": 7}, "$.prompt: not of type string"),
        ({}, "$: prompt is missing"),
        ({"prompt": "x", "seeds": [1, 2, 3, 4, 5]}, "$.seeds: over maxItems 4"),
        ({"prompt": "x", "contentClass": "oil"}, "$.contentClass: not one of ['photo', 'art']"),
        ([], "$: not of type object"),
        ({"prompt": "x", "numVariations": True}, "$.numVariations: not of type integer"),
    ],
)
def test_what_breaks_a_schema_is_told(value: object, flaw: str) -> None:
    """The reader of schemas sees each kind of flaw that it is there for."""
    book, call = CALLS["generate"]
    assert call.request is not None

    assert list(book.flaws(value, call.request)) == [flaw]


CODE: dict[str, object] = {"type": "string"}
PLAIN = {"type": "object", "properties": {"error_code": CODE, "message": {"type": "string"}}}
POLICY = {
    "type": "object",
    "required": ["error_code"],
    "properties": {
        "error_code": {
            "type": "string",
            "enum": [
                "legal_error",
                "prompt_unsafe",
                "prompt_entity_denied",
                "image_unsafe",
                "video_unsafe",
                "reference_image_unsafe_error",
                "input_media_unsafe",
            ],
        },
        "message": {"type": "string"},
    },
}


def refusal(schema: object) -> dict[str, object]:
    """Return a response with a JSON body."""
    return {"content": {"application/json": {"schema": schema}}}


REFUSALS: dict[str, object] = {
    **dict.fromkeys(("400", "401", "403", "429", "500"), refusal(PLAIN)),
    "451": refusal(POLICY),
}
"""Of an upload."""


def specification(
    parameters: Sequence[object] = (),
    refusals: Mapping[str, object] = REFUSALS,
    **changes: object,
) -> dict[str, object]:
    """Return an OpenAPI document with one call that fits our upload, but for *changes*."""
    image = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
    schemas = {"Image": image, **changes}
    images = {"type": "array", "items": {"$ref": "#/components/schemas/Image"}}
    answer = {"type": "object", "properties": {"images": images, "more": {"type": "string"}}}
    body = {"content": {"application/json": {"schema": answer}}}
    return {
        "paths": {
            "/v2/storage/image": {
                "post": {"parameters": list(parameters), "responses": {"200": body, **refusals}}
            }
        },
        "components": {"schemas": schemas},
    }


@pytest.mark.parametrize(
    ("image", "told"),
    [
        (None, []),
        ({"type": "object", "properties": {"id": {"type": "string"}}}, ["required"]),
        ({"type": "object", "required": ["id"], "properties": {}}, ["no such field"]),
        (
            {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}},
            ["type"],
        ),
    ],
)
def test_comparison_sees_what_adobe_says_otherwise(
    image: dict[str, object] | None, told: list[str]
) -> None:
    """A field, bound or duty that differs is named; what only Adobe has is none of it."""
    spec = openapi_check.Spec(specification(**({} if image is None else {"Image": image})))

    found = openapi_check.differences(BOOKS["firefly"], spec)
    ours = [line for line in found if "/v2/storage/image" in line]

    assert len(ours) == len(told)
    assert all(word in line for word, line in zip(told, ours, strict=True))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, []),
        ({"418": refusal(PLAIN)}, ["refusal 418: Adobe answers so"]),
        ({"400": refusal({"type": "object", "properties": {}})}, ["no such field"] * 2),
        ({"400": {"content": {"text/html": {}}}}, ["only one of us has a JSON body"]),
        (
            {"400": refusal({**PLAIN, "properties": {**PLAIN["properties"], "error_code": {}}})},
            [],
        ),
        ({"400": refusal({**PLAIN, "required": ["error_code"]})}, ["required"]),
        ({"451": refusal({**POLICY, "properties": {**PLAIN["properties"]}})}, ["enum"]),
    ],
)
def test_a_refusal_that_changed_is_named(changes: Mapping[str, object], told: list[str]) -> None:
    """A status, a field, a duty or a code of a refusal that differs is a difference."""
    spec = openapi_check.Spec(specification(refusals={**REFUSALS, **changes}))

    found = [one for one in openapi_check.differences(BOOKS["firefly"], spec) if "/storage/" in one]

    assert len(found) == len(told), found
    assert all(word in line for word, line in zip(told, found, strict=True))


def test_a_refusal_that_adobe_has_no_more_is_named() -> None:
    """What we prepare for, and Adobe does not say, is a difference too."""
    fewer = {code: one for code, one in REFUSALS.items() if code != "451"}
    spec = openapi_check.Spec(specification(refusals=fewer))

    (found,) = [
        one for one in openapi_check.differences(BOOKS["firefly"], spec) if "/storage/" in one
    ]

    assert "refusal 451: Adobe does not answer so" in found


def test_comparison_exits_by_what_it_finds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Any difference fails the check."""
    for name in openapi_check.SPECS.values():
        (tmp_path / name).write_text(json.dumps(specification()), encoding="utf-8")

    assert openapi_check.main([str(tmp_path)]) == 1
    assert "Adobe has no such call" in capsys.readouterr().out


REQUIRED = {"name": "X-New", "in": "header", "required": True, "schema": {"type": "string"}}


@pytest.mark.parametrize(
    ("parameter", "told"),
    [
        (REQUIRED, ["requires the header parameter x-new"]),
        ({**REQUIRED, "required": False}, []),
        ({**REQUIRED, "in": "path", "name": "jobId"}, []),
    ],
)
def test_a_parameter_that_adobe_requires_is_missed(
    parameter: dict[str, object], told: list[str]
) -> None:
    """A header that we would have to send is a difference; one that we may leave out is none."""
    spec = openapi_check.Spec(specification([parameter]))

    found = openapi_check.differences(BOOKS["firefly"], spec)
    ours = [line for line in found if "/v2/storage/image" in line]

    assert len(ours) == len(told)
    assert all(word in line for word, line in zip(told, ours, strict=True))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, []),
        ({"enum": ["image5"]}, ["enum"]),
        ({"required": True}, ["required"]),
        ({"in": "query"}, ["in header"]),
        ({"name": "x-model"}, ["no such parameter"]),
    ],
)
def test_a_parameter_that_changed_is_named(change: dict[str, object], told: list[str]) -> None:
    """Another list of models, another place or another duty is a difference."""
    models = ["image3", "image4_standard", "image4_ultra"]
    schema = {"type": "string", "enum": change.get("enum", models)}
    rest = {key: value for key, value in change.items() if key != "enum"}
    parameter = {"name": "x-model-version", "in": "header", "schema": schema, **rest}
    call = {"parameters": [parameter], "responses": {"202": {}}}
    path = "/v3/images/generate-similar-async"
    spec = openapi_check.Spec({"paths": {path: {"post": call}}, "components": {"schemas": {}}})

    lines = [one for one in openapi_check.differences(BOOKS["firefly"], spec) if path in one]
    ours = [one for one in lines if "has no body" not in one and "refusal" not in one]

    assert len(ours) == len(told)
    assert all(word in line for word, line in zip(told, ours, strict=True))


@pytest.mark.parametrize("content", [None, "no JSON", "[]"])
def test_a_folder_without_adobe_s_files_is_told_in_words(
    content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who names another folder reads which files it lacks, and no traceback."""
    if content is not None:
        (tmp_path / openapi_check.SPECS["firefly"]).write_text(content, encoding="utf-8")

    assert openapi_check.main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "firefly-api.json can't be read" in said
    assert "SPEC is the folder" in said
