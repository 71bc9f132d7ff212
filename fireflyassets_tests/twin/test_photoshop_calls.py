"""Photoshop's calls: fetch, render, encode, write; and the rules a body can break."""

import io
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from PIL import Image
from psd_tools import PSDImage

from fireflyassets.twin.rendering import PsdRenderer
from fireflyassets_tests.twin.rehearsal import Rehearsal, Storage, picture, rehearse, storing

COMPOSITE = "/v2/create-composite"
HOSTED = {"mediaType": "image/png", "destination": {"validityPeriod": 60}}
Steps = Callable[[Rehearsal, Storage], Awaitable[None]]


def with_storage(steps: Steps, **changes: object) -> None:
    """Run *steps* with a storage that holds a document and a picture."""
    files = {"tpl.psd": b"8BPSnavy", "hero.png": picture("red")}
    with storing(**files) as storage:
        rehearse(lambda twin: steps(twin, storage), **changes)


def composite(storage: Storage, *outputs: dict[str, Any], **edits: object) -> dict[str, Any]:
    hero = {
        "type": "smart_object_layer",
        "name": "Hero",
        "operation": {"type": "edit"},
        "smartObject": {"smartObjectFile": {"source": {"url": f"{storage.url}/hero.png?s=1"}}},
    }
    return {
        "image": {"source": {"url": f"{storage.url}/tpl.psd?X-Amz-Signature=%2Fab+c"}},
        "edits": {"layers": [{**hero, **edits}]},
        "fontOptions": {"missingFontStrategy": "fail"},
        "outputs": list(outputs) or [HOSTED],
    }


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def test_composite_is_written_where_it_was_told() -> None:
    """Inputs by GET, outputs by PUT: URLs byte for byte, no bearer, one content type."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        target = (
            "/out/./x/../a%2Fb+c%20d|e.jpg?X-Amz-Credential=T%2F1&X-Amz-Signature=f+0%3D&empty="
        )
        output = {
            "mediaType": "image/jpeg",
            "width": 100,
            "quality": "high",
            "destination": {"url": storage.url + target},
        }
        accepted = await twin.post(COMPOSITE, composite(storage, output, HOSTED))
        assert accepted.status_code == 202
        assert set(accepted.json()) == {"jobId", "statusUrl"}
        done = await twin.ended(accepted)
        assert done["status"] == "succeeded"
        assert set(done) == {"jobId", "status", "createdTime", "modifiedTime", "result"}

        made = opened(storage.written[target])
        assert (made.format, made.size) == ("JPEG", (100, 50))
        left, right = (made.convert("RGB").getpixel((x, 25)) for x in (20, 80))
        assert left[0] > 200  # type: ignore[index] - an RGB pixel
        assert right[2] > 90  # type: ignore[index] - an RGB pixel
        assert set(storage.headers[target]) == {"host", "content-type", "content-length"}
        assert storage.headers[target]["content-type"] == "image/jpeg"
        read = storage.headers["/tpl.psd?X-Amz-Signature=%2Fab+c"]
        assert "authorization" not in read

        first, second = done["result"]["outputs"]
        assert first == {"mediaType": "image/jpeg", "destination": output["destination"]}
        hosted = await twin.http.get(second["destination"]["url"])
        assert opened(hosted.content).size == (200, 100)

    with_storage(steps)


@pytest.mark.parametrize(
    ("asked", "size"),
    [
        ({}, (200, 100)),
        ({"width": 50}, (50, 25)),
        ({"height": 50}, (100, 50)),
        ({"width": 30, "height": 70}, (30, 70)),
        ({"maxWidth": 80}, (80, 40)),
        ({"width": 0}, (200, 100)),
    ],
)
def test_output_has_the_asked_size(asked: dict[str, int], size: tuple[int, int]) -> None:
    """One side keeps the proportions, two are taken as given, a cap only shrinks."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        done = await twin.ended(await twin.post(COMPOSITE, composite(storage, HOSTED | asked)))
        url = done["result"]["outputs"][0]["destination"]["url"]
        assert opened((await twin.http.get(url)).content).size == size

    with_storage(steps)


@pytest.mark.parametrize(
    ("media_type", "form"),
    [
        ("image/jpeg", "JPEG"),
        ("image/png", "PNG"),
        ("image/tiff", "TIFF"),
        ("image/vnd.adobe.photoshop", "PSD"),
    ],
)
def test_output_is_of_its_media_type(media_type: str, form: str) -> None:
    """The bytes are what the media type says."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        output = {**HOSTED, "mediaType": media_type}
        done = await twin.ended(await twin.post(COMPOSITE, composite(storage, output)))
        answer = await twin.http.get(done["result"]["outputs"][0]["destination"]["url"])
        assert answer.headers["content-type"] == media_type
        assert opened(answer.content).format == form

    with_storage(steps)


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        ({"name": "Nobody"}, "400401", "Nobody"),
        ({"operation": {"type": "delete"}}, "400401", "delete"),
        ({"isVisible": False}, "400401", "isVisible"),
        ({"transformMode": "fit"}, "400401", "transformMode"),
        (
            {"name": "Headline", "smartObject": None, "text": {"content": "unfont"}},
            "400401",
            "font",
        ),
        (
            {
                "name": "Headline",
                "smartObject": None,
                "text": {
                    "content": "x",
                    "characterStyles": [
                        {"characterStyle": {"font": {"postScriptName": "BrandSans-Heavy"}}}
                    ],
                },
            },
            "400401",
            "BrandSans-Heavy",
        ),
        (
            {"smartObject": {"smartObjectFile": {"source": {"creativeCloudPath": "a/b"}}}},
            "403401",
            "URLs only",
        ),
    ],
)
def test_job_fails_with_details(change: dict[str, Any], code: str, word: str) -> None:
    """What cannot be drawn fails the job, naming the field; no output is written."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        done = await twin.ended(await twin.post(COMPOSITE, composite(storage, **change)))
        assert done["status"] == "failed"
        assert "result" not in done
        [detail] = done["errorDetails"]
        assert detail["errorCode"] == code
        assert word in detail["message"]
        assert not storage.written

    with_storage(steps)


def test_missing_input_fails_the_job() -> None:
    """A dead input URL is a 404 of the job, and its signature is not repeated."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        storage.files.clear()
        done = await twin.ended(await twin.post(COMPOSITE, composite(storage)))
        [detail] = done["errorDetails"]
        assert detail["errorCode"].startswith("404")
        assert "smartObjectFile.source.url" in detail["message"]
        assert "s=1" not in detail["message"]

    with_storage(steps)


def test_refused_output_fails_the_job() -> None:
    """A destination that does not take the file is a 422404."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        storage.answer = 403
        output = {"mediaType": "image/png", "destination": {"url": f"{storage.url}/o?s=SIG"}}
        done = await twin.ended(await twin.post(COMPOSITE, composite(storage, output)))
        [detail] = done["errorDetails"]
        assert detail["errorCode"] == "422404"
        assert "SIG" not in detail["message"]

    with_storage(steps)


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"outputs": []}, 422, "outputs"),
        ({"outputs": [HOSTED] * 26}, 422, "outputs"),
        ({"outputs": [{**HOSTED, "mediaType": "image/webp"}]}, 422, "mediaType"),
        ({"outputs": [{**HOSTED, "destination": {"validityPeriod": 59}}]}, 422, "validityPeriod"),
        ({"outputs": [{**HOSTED, "destination": {}}]}, 422, "destination"),
        (
            {"outputs": [{**HOSTED, "destination": {"url": "https://b/k", "embedded": "json"}}]},
            422,
            "destination",
        ),
        ({"outputs": [{**HOSTED, "destination": {"embedded": "base64"}}]}, 422, "embedded"),
        ({"outputs": [{**HOSTED, "quality": 7}]}, 422, "quality"),
        ({"outputs": [{**HOSTED, "width": -1}]}, 422, "width"),
        ({"image": {}}, 422, "image"),
        ({"image": {"width": 32_001, "height": 1}}, 422, "image"),
        ({"image": {"source": {"url": "https://b/k", "lightroomPath": "x"}}}, 422, "source"),
        ({"fontOptions": {"missingFontStrategy": "guess"}}, 422, "missingFontStrategy"),
        ({"edits": {"layers": [{"name": "x"}]}}, 422, "operation"),
        ({"edits": {"layers": [{"operation": {"type": "edit"}}]}}, 422, "id or name"),
        ({"edits": {"layers": [{"operation": {"type": "add"}}]}}, 422, "placement"),
        (
            {
                "edits": {
                    "layers": [
                        {"id": 1, "operation": {"type": "edit"}, "protection": ["all", "position"]}
                    ]
                }
            },
            422,
            "alone",
        ),
        (
            {
                "edits": {
                    "layers": [{"id": 1, "operation": {"type": "edit"}, "transform": {"angle": 3}}]
                }
            },
            400,
            "transform",
        ),
    ],
)
def test_broken_composite_is_refused(body: dict[str, Any], status: int, word: str) -> None:
    """Each broken rule is named in `errors`, and nothing is accepted."""

    async def steps(twin: Rehearsal) -> None:
        whole = {"image": {"width": 10, "height": 10}, "outputs": [HOSTED], **body}
        answer = await twin.post(COMPOSITE, whole)
        assert answer.status_code == status
        assert answer.json()["error_code"] == "validation_error"
        assert word in " ".join(each["message"] for each in answer.json()["errors"])
        assert not (await twin.calls())[0]["accepted"]

    rehearse(steps)


def test_broken_json_has_photoshop_s_own_code() -> None:
    """`invalid_json`, not Firefly's `bad_request`."""

    async def steps(twin: Rehearsal) -> None:
        headers = {**await twin.headers(), "Content-Type": "application/json"}
        answer = await twin.http.post(COMPOSITE, content=b"{", headers=headers)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "invalid_json")

    rehearse(steps)


def test_result_can_be_flat() -> None:
    """The other documented shape is a setting."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        done = await twin.ended(await twin.post(COMPOSITE, composite(storage)))
        assert set(done["result"]["outputs"][0]) == {"mediaType", "url"}

    with_storage(steps, photoshop_result="flat")


def test_document_edits_change_the_canvas() -> None:
    """Crop, then resize by percent."""

    async def steps(twin: Rehearsal) -> None:
        body = {
            "image": {"width": 100, "height": 60},
            "edits": {
                "document": {
                    "crop": {"bounds": {"left": 10, "top": 0, "right": 90, "bottom": 40}},
                    "resize": {"width": {"unit": "percent_unit", "value": 50}},
                }
            },
            "outputs": [HOSTED],
        }
        done = await twin.ended(await twin.post(COMPOSITE, body))
        url = done["result"]["outputs"][0]["destination"]["url"]
        assert opened((await twin.http.get(url)).content).size == (40, 20)

    rehearse(steps)


@pytest.mark.parametrize("kind", ["unchanged_picture", "nothing_written", "zero_bytes"])
def test_composite_can_succeed_wrongly(kind: str) -> None:
    """The slot keeps its old picture, or the key stays empty, under a `succeeded`."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        await twin.fault({"kind": kind})
        output = {"mediaType": "image/png", "destination": {"url": f"{storage.url}/o"}}
        done = await twin.ended(await twin.post(COMPOSITE, composite(storage, output)))
        assert done["status"] == "succeeded"
        if kind == "unchanged_picture":
            pixel = opened(storage.written["/o"]).convert("RGB").getpixel((50, 50))
            assert pixel == (0, 0, 128)
        elif kind == "zero_bytes":
            assert storage.written == {"/o": b""}
        else:
            assert not storage.written

    with_storage(steps)


def test_partial_failure_leaves_some_files() -> None:
    """The first output is written, then the job fails."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        await twin.fault({"kind": "partial_failure", "written": 1})
        outputs = [
            {"mediaType": "image/png", "destination": {"url": f"{storage.url}/{name}"}}
            for name in ("one", "two")
        ]
        done = await twin.ended(await twin.post(COMPOSITE, composite(storage, *outputs)))
        assert done["status"] == "failed"
        assert set(storage.written) == {"/one"}

    with_storage(steps)


@pytest.mark.parametrize(
    ("form", "read"),
    [("json", lambda content: content), ("string", json.loads)],
)
def test_manifest_goes_to_its_destination(form: str, read: Callable[[Any], Any]) -> None:
    """The layer tree is embedded in the status as asked, or written."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        body = {
            "image": {"source": {"url": f"{storage.url}/tpl.psd"}},
            "outputs": [
                {"mediaType": "application/json", "destination": {"embedded": form}},
                {"mediaType": "application/json", "destination": {"url": f"{storage.url}/m"}},
            ],
        }
        done = await twin.ended(await twin.post("/v2/generate-manifest", body))
        tree = read(done["result"]["outputs"][0]["destination"]["content"])
        assert tree["layers"][0]["name"] == "navy"
        assert json.loads(storage.written["/m"]) == tree

    with_storage(steps)


@pytest.mark.parametrize(
    ("path", "body", "size"),
    [
        ("/v2/create-artboard", {"images": 2, "artboardSpacing": 10}, (410, 100)),
        ("/v2/execute-actions", {"options": {"uxp": {"source": {"content": "x"}}}}, (200, 100)),
        ("/v2/edit", {"edits": {"autoTone": True, "light": {"exposure": 1}}}, (200, 100)),
        ("/v2/remove-background", {"mode": "cutout"}, (40, 30)),
    ],
)
def test_plain_calls_keep_the_contract(
    path: str, body: dict[str, Any], size: tuple[int, int]
) -> None:
    """Artboard, actions, edit and remove-background are accepted and give a picture."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        file = "hero.png" if path.endswith("background") else "tpl.psd"
        source = {"source": {"url": f"{storage.url}/{file}"}}
        whole = {"image": source, "outputs": [HOSTED], **body}
        if "images" in body:
            whole["images"] = [source] * body["images"]
        done = await twin.ended(await twin.post(path, whole))
        assert done["status"] == "succeeded", done
        url = done["result"]["outputs"][0]["destination"]["url"]
        made = opened((await twin.http.get(url)).content)
        assert made.size == size
        assert (made.mode == "RGBA") == path.endswith("background")

    with_storage(steps)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v2/execute-actions", {"options": {}}),
        ("/v2/create-artboard", {"images": []}),
        ("/v2/edit", {"edits": {"light": {"exposure": 6}}}),
        ("/v2/generate-manifest", {"outputs": [HOSTED]}),
        ("/v2/remove-background", {"mode": "erase"}),
        ("/v1/auto-crop", {"mode": "square"}),
    ],
)
def test_broken_plain_calls_are_refused(path: str, body: dict[str, Any]) -> None:
    """Each call has its own schema."""

    async def steps(twin: Rehearsal) -> None:
        whole = {"image": {"source": {"url": "https://b/k"}}, "outputs": [HOSTED], **body}
        answer = await twin.post(path, whole)
        assert (answer.status_code, answer.json()["error_code"]) == (422, "validation_error")

    rehearse(steps)


@pytest.mark.parametrize("output_type", ["images", "boundingBoxes"])
def test_auto_crop_boxes_fit_the_ratio(output_type: str) -> None:
    """One box per ratio inside the picture; images come with a URL each."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        body = {
            "image": {"source": {"url": f"{storage.url}/hero.png"}},
            "mode": "smartCrop",
            "aspectRatio": ["1:1", "16:9"],
            "outputType": output_type,
        }
        done = await twin.ended(await twin.post("/v1/auto-crop", body))
        boxes = [crop["boundingBoxes"][0] for crop in done["result"]["outputs"]["crops"]]
        assert [(box["width"], box["height"]) for box in boxes] == [(30, 30), (40, 22)]
        assert all(("url" in box) == (output_type == "images") for box in boxes)
        if output_type == "images":
            assert opened((await twin.http.get(boxes[1]["url"])).content).size == (40, 22)

    with_storage(steps)


def test_real_renderer_reads_real_documents() -> None:
    """The renderer that ships opens a PSD and shows its pixels."""
    target = io.BytesIO()
    document = PSDImage.new("RGB", (30, 20))
    document.create_pixel_layer(Image.new("RGB", (30, 20), (10, 200, 30)), name="Ground")
    document.save(target)
    made = PsdRenderer().render(target.getvalue(), [], missing_font="fail")
    assert made.size == (30, 20)
    assert made.convert("RGB").getpixel((5, 5)) == (10, 200, 30)
    [layer] = PsdRenderer().manifest(target.getvalue())["layers"]
    assert layer["name"] == "Ground"
