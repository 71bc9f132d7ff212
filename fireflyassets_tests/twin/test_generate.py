"""Firefly's paid calls: accept shapes, results, and the rules a body can break."""

import io
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from fireflyassets.twin.firefly_bodies import GenerateBody, GenerateV4Body, Size
from fireflyassets.twin.firefly_rules import (
    IMAGE3_SIZES,
    IMAGE4_SIZES,
    check_size,
    refuse_if,
    sizes_of,
    variation_flaws,
)
from fireflyassets.twin.flaws import check
from fireflyassets.twin.rejections import RejectionError
from fireflyassets.twin.settings import DEFAULT_CUSTOM_MODELS, ClientSetting
from fireflyassets_tests.twin.rehearsal import (
    GENERATE,
    SMALL,
    Rehearsal,
    Storage,
    picture,
    rehearse,
    storing,
)

MODEL3, MODEL4 = (each.asset_id for each in DEFAULT_CUSTOM_MODELS)
PLAIN = ClientSetting(id="plain", secret="s", organisation="p", entitlements=frozenset({"firefly"}))


async def downloaded(twin: Rehearsal, url: str) -> Image.Image:
    answer = await twin.http.get(url)
    assert answer.status_code == 200
    opened = Image.open(io.BytesIO(answer.content))
    opened.load()
    return opened


def test_v3_generate_from_submit_to_picture() -> None:
    """Shape A and a Link header, a job in the documented states, pictures of the asked size."""

    async def steps(twin: Rehearsal) -> None:
        accepted = await twin.generate(seeds=[7, 9], contentClass="art")
        body = accepted.json()
        assert accepted.status_code == 202
        assert body["jobId"].startswith("urn:ff:jobs:")
        assert body["statusUrl"] in accepted.headers["link"]
        assert body["cancelUrl"].endswith(body["jobId"])

        done = await twin.ended(accepted)
        assert done["status"] == "succeeded"
        assert done["jobId"] == body["jobId"]
        result = done["result"]
        assert [each["seed"] for each in result["outputs"]] == [7, 9]
        assert (result["size"], result["contentClass"]) == (SMALL, "art")
        made = await downloaded(twin, result["outputs"][0]["image"]["url"])
        assert (made.format, made.size) == ("JPEG", (896, 1152))

    rehearse(steps)


def test_v4_generate_answers_200_with_links() -> None:
    """Shape B: links and progress, no job id; the aspect ratio decides the size."""

    async def steps(twin: Rehearsal) -> None:
        body = {"prompt": "a pear", "aspectRatio": "9:16", "resolutionLevel": "1MP"}
        accepted = await twin.post("/v4/images/generate-async", body, model="image5")
        assert accepted.status_code == 200
        assert set(accepted.json()) == {"links", "progress"}
        assert set(accepted.json()["links"]) == {"result", "cancel"}
        done = await twin.ended(accepted)
        made = await downloaded(twin, done["result"]["outputs"][0]["image"]["url"])
        assert made.height / made.width == pytest.approx(16 / 9, rel=0.02)

    rehearse(steps)


def test_upscale_has_its_own_result() -> None:
    """Shape B with 202; the result carries `presignedUrl`, one per seed, at the factor."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        body = {
            "image": {"source": {"url": f"{storage.url}/in.png"}},
            "seeds": [1, 2],
            "upscaleFactor": 3,
        }
        accepted = await twin.post("/v3/images/upscale", body)
        assert accepted.status_code == 202
        assert "jobId" not in accepted.json()
        result = (await twin.ended(accepted))["result"]
        assert result["version"] == "precise_upsampler_v1"
        assert len(result["outputs"]) == 2
        made = await downloaded(twin, result["outputs"][1]["presignedUrl"])
        assert made.size == (120, 90)

    with storing(**{"in.png": picture(size=(40, 30))}) as storage:
        rehearse(lambda twin: steps(twin, storage))


@pytest.mark.parametrize(
    ("path", "extra"),
    [
        ("/v3/images/expand-async", {"placement": {"alignment": {"horizontal": "left"}}}),
        ("/v3/images/fill-async", {"mask": True, "prompt": "a pear"}),
        ("/v3/images/generate-similar-async", {"numVariations": 2}),
    ],
)
def test_other_calls_keep_size_and_count(path: str, extra: dict[str, Any]) -> None:
    """Expand, fill and similar give the asked number of pictures of the asked size."""

    async def steps(twin: Rehearsal) -> None:
        headers = {**await twin.headers(), "Content-Type": "image/png"}
        upload = await twin.http.post("/v2/storage/image", content=picture(), headers=headers)
        source = {"source": {"uploadId": upload.json()["images"][0]["id"]}}
        body = {"image": source, "size": SMALL, **extra}
        if extra.get("mask"):
            body["mask"] = source
        done = await twin.ended(await twin.post(path, body))
        assert len(done["result"]["outputs"]) == extra.get("numVariations", 1)
        made = await downloaded(twin, done["result"]["outputs"][0]["image"]["url"])
        assert made.size == (896, 1152)

    rehearse(steps)


def test_expand_keeps_the_old_picture_where_it_was_put() -> None:
    """A left-aligned expansion starts with the source's own pixels."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        body = {
            "image": {"source": {"url": f"{storage.url}/in.png"}},
            "size": {"width": 900, "height": 300},
            "placement": {"alignment": {"horizontal": "left"}},
        }
        done = await twin.ended(await twin.post("/v3/images/expand-async", body))
        made = await downloaded(twin, done["result"]["outputs"][0]["image"]["url"])
        red, green, blue = made.convert("RGB").getpixel((150, 150))  # type: ignore[misc] - an RGB pixel is three
        assert red > 240
        assert max(green, blue) < 16

    with storing(**{"in.png": picture("red", (300, 300))}) as storage:
        rehearse(lambda twin: steps(twin, storage))


@pytest.mark.parametrize(
    ("model", "change", "status", "loc"),
    [
        ("image3", {"prompt": ""}, 422, ["body", "prompt"]),
        ("image3", {"prompt": "x" * 1025}, 422, ["body", "prompt"]),
        ("image3", {"prompt": 5}, 422, ["body", "prompt"]),
        ("image3", {"negativePrompt": "x" * 1025}, 422, ["body", "negativePrompt"]),
        ("image3", {"contentClass": "poster"}, 422, ["body", "contentClass"]),
        ("image3", {"numVariations": 5}, 422, ["body", "numVariations"]),
        ("image3", {"numVariations": "2"}, 422, ["body", "numVariations"]),
        ("image3", {"numVariations": True}, 422, ["body", "numVariations"]),
        ("image3", {"seeds": [1, 1]}, 422, ["body", "seeds"]),
        ("image3", {"seeds": []}, 422, ["body", "seeds"]),
        ("image3", {"seeds": [1, 2], "numVariations": 1}, 422, ["body", "seeds"]),
        ("image3", {"size": {"width": 2048}}, 422, ["body", "size", "height"]),
        ("image3", {"size": {"width": 9000, "height": 1}}, 422, ["body", "size", "width"]),
        ("image3", {"size": {"width": 1440, "height": 2560}}, 400, ["body", "size"]),
        ("image4_ultra", {"size": {"width": 1024, "height": 1024}}, 400, ["body", "size"]),
        ("image3", {"visualIntensity": 1}, 422, ["body", "visualIntensity"]),
        ("image3", {"upsamplerType": "default"}, 422, ["body", "upsamplerType"]),
        ("image3", {"style": {"strength": 0}}, 422, ["body", "style", "strength"]),
        ("image3", {"style": {"presets": ["a", "a"]}}, 422, ["body", "style", "presets"]),
        ("image3", {"structure": {"strength": 101}}, 422, ["body", "structure", "strength"]),
        ("image3_custom", {}, 422, ["body", "customModelId"]),
        ("image3_custom", {"customModelId": MODEL4}, 422, ["body", "customModelId"]),
        ("image4_custom", {"customModelId": "urn:x"}, 422, ["body", "customModelId"]),
        (
            "image3_custom",
            {"customModelId": MODEL3, "negativePrompt": "x"},
            422,
            ["body", "negativePrompt"],
        ),
        (
            "image4_custom",
            {"customModelId": MODEL4, "visualIntensity": 3},
            422,
            ["body", "visualIntensity"],
        ),
    ],
)
def test_broken_body_is_refused(
    model: str, change: dict[str, object], status: int, loc: list[str]
) -> None:
    """Each broken rule names its field; nothing is accepted or billed."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.post(GENERATE, {"prompt": "a pear", **change}, model=model)
        assert answer.status_code == status
        body = answer.json()
        assert body["error_code"] == {400: "bad_request", 422: "validation_error"}[status]
        assert [each["loc"] for each in body["validation_errors"]] == [loc]
        assert not (await twin.calls())[0]["accepted"]

    rehearse(steps)


@pytest.mark.parametrize(
    ("source", "field"),
    [
        ({}, "source"),
        ({"uploadId": str(uuid4()), "url": "https://b.s3.amazonaws.com/k"}, "source"),
        ({"uploadId": "1b9d6bcd-bbfd-1b2d-9b5d-ab8dfbbd4bed"}, "uploadId"),
        ({"uploadId": str(uuid4())}, "uploadId"),
        ({"url": "x" * 2084}, "url"),
        ({"url": "http://127.0.0.1:1/gone.png"}, "url"),
        ({"url": "ftp://example.org/x"}, "url"),
    ],
)
def test_bad_reference_names_its_field(source: dict[str, str], field: str) -> None:
    """None or both ways, a wrong or unknown id, an unreachable URL: refused at the submit."""

    async def steps(twin: Rehearsal) -> None:
        body = {"image": {"source": source}}
        answer = await twin.post("/v3/images/generate-similar-async", body)
        assert answer.status_code == 422
        assert answer.json()["validation_errors"][0]["loc"][-1] == field

    rehearse(steps)


def test_input_hosts_can_be_limited_to_adobe_s_list() -> None:
    """With the setting, an unlisted host is refused without being asked."""

    async def steps(twin: Rehearsal, storage: Storage) -> None:
        body = {"image": {"source": {"url": f"{storage.url}/in.png"}}}
        answer = await twin.post("/v3/images/generate-similar-async", body)
        assert answer.status_code == 422
        assert not storage.headers

    with storing(**{"in.png": picture()}) as storage:
        rehearse(lambda twin: steps(twin, storage), strict_domains=True)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v3/images/expand-async", {"size": {"width": 4000, "height": 10}}),
        ("/v3/images/fill-async", {"size": {"width": 2688, "height": 1512}}),
        ("/v3/images/generate-similar-async", {"size": {"width": 1344, "height": 756}}),
    ],
)
def test_each_call_has_sizes_of_its_own(path: str, body: dict[str, object]) -> None:
    """A size that another call takes is refused with 400."""

    async def steps(twin: Rehearsal) -> None:
        source = {"source": {"url": "https://b.s3.amazonaws.com/k"}}
        answer = await twin.post(path, {"image": source, "mask": source, **body})
        assert (answer.status_code, answer.json()["error_code"]) == (400, "bad_request")

    rehearse(steps)


def test_mask_and_placement_exclude_each_other() -> None:
    """An expand with both is refused."""

    async def steps(twin: Rehearsal) -> None:
        source = {"source": {"url": "https://b.s3.amazonaws.com/k"}}
        body = {"image": source, "mask": source, "placement": {"inset": {"left": 3}}}
        answer = await twin.post("/v3/images/expand-async", body)
        assert answer.json()["validation_errors"][0]["loc"] == ["body", "placement"]

    rehearse(steps)


@pytest.mark.parametrize(
    ("change", "loc"),
    [
        ({"prompt": "x" * 1501}, ["body", "prompt"]),
        ({"numVariations": 2}, ["body", "numVariations"]),
        ({"seeds": [1, 2]}, ["body", "seeds"]),
        ({"aspectRatio": "2:1"}, ["body", "aspectRatio"]),
        ({"referenceBlobs": [{"source": {}}]}, ["body", "referenceBlobs", 0, "source"]),
        (
            {"modelSpecificPayload": {"prompt_reasoner": "deep"}},
            ["body", "modelSpecificPayload", "prompt_reasoner"],
        ),
    ],
)
def test_v4_has_rules_of_its_own(change: dict[str, object], loc: list[object]) -> None:
    """1,500 characters, one variation, one seed, the listed ratios."""

    async def steps(twin: Rehearsal) -> None:
        body = {"prompt": "a pear", **change}
        answer = await twin.post("/v4/images/generate-async", body, model="image5")
        assert answer.status_code == 422
        assert answer.json()["validation_errors"][0]["loc"] == loc

    rehearse(steps)


@pytest.mark.parametrize(
    ("path", "model", "status"),
    [
        (GENERATE, "image4", 404),
        (GENERATE, "image9", 404),
        ("/v3/images/upscale", "creative_upsampler_v1", 422),
        ("/v4/images/generate-async", "image3", 404),
        ("/v4/images/generate-async", None, 422),
    ],
)
def test_unknown_model_is_refused(path: str, model: str | None, status: int) -> None:
    """A model header that is not on the call's list is refused; v4 needs one."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.post(path, {"prompt": "a pear"}, model=model)
        assert answer.status_code == status

    rehearse(steps)


def test_custom_models_need_the_entitlement() -> None:
    """Without it the answer lists the plain models, as seen live."""

    async def steps(twin: Rehearsal) -> None:
        body = {"prompt": "a pear", "customModelId": MODEL3}
        answer = await twin.post(GENERATE, body, client=PLAIN, model="image3_custom")
        assert answer.status_code == 422
        assert "image3_fast" in answer.json()["validation_errors"][0]["msg"]

    rehearse(steps, clients=(PLAIN,))


def test_custom_model_without_its_header_is_ignored() -> None:
    """The trap stays a trap: accepted, billed as the plain model."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.generate(customModelId="urn:aaid:sc:any")
        assert answer.status_code == 202
        assert (await twin.calls())[0]["operations"] == "0.5"

    rehearse(steps)


@pytest.mark.parametrize(
    ("content", "media_type", "status", "code"),
    [
        (b"", "application/json", 400, "empty_input_body"),
        (b"{", "application/json", 400, "bad_request"),
        (b"[1]", "application/json", 400, "bad_request"),
        (b'{"prompt": "\\ud83d"}', "application/json", 400, "bad_request"),
        (b'{"prompt": "x"}', "text/plain", 415, "invalid_content_type"),
    ],
)
def test_body_that_is_no_json_object(
    content: bytes, media_type: str, status: int, code: str
) -> None:
    """Empty, broken, half an emoji or of the wrong type: refused before validation."""

    async def steps(twin: Rehearsal) -> None:
        headers = {**await twin.headers(), "Content-Type": media_type}
        answer = await twin.http.post(GENERATE, content=content, headers=headers)
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    rehearse(steps)


def test_large_body_earns_html() -> None:
    """413 alone is not JSON."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.generate(filler="x" * 1_100_000)
        assert answer.status_code == 413
        assert answer.headers["content-type"].startswith("text/html")

    rehearse(steps)


@pytest.mark.parametrize(
    ("marker", "status", "code"),
    [
        ("twin-unsafe", 451, "prompt_unsafe"),
        ("TWIN-UNSAFE-422", 422, "prompt_unsafe"),
        ("twin-denied-entity", 451, "prompt_entity_denied"),
        ("twin-legal", 451, "legal_error"),
    ],
)
def test_denied_prompt_at_the_submit(marker: str, status: int, code: str) -> None:
    """Some markers refuse the submit; nothing is billed."""

    async def steps(twin: Rehearsal) -> None:
        answer = await twin.generate(f"a {marker} pear")
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)
        assert (await twin.summary())["billed"] == 0

    rehearse(steps)


@pytest.mark.parametrize(
    ("marker", "code"),
    [
        ("twin-unsafe-job", "prompt_unsafe"),
        ("twin-unsafe-output", "output_media_unsafe"),
        ("twin-language", "language_not_supported"),
    ],
)
def test_denied_prompt_in_the_job(marker: str, code: str) -> None:
    """Other markers are accepted, and the job fails with HTTP 200."""

    async def steps(twin: Rehearsal) -> None:
        done = await twin.ended(await twin.generate(f"a {marker} pear"))
        assert (done["status"], done["error_code"]) == ("failed", code)
        assert "result" not in done

    rehearse(steps)


@pytest.mark.parametrize(
    ("marker", "flag"),
    [
        ("twin-denied-words", "promptHasDeniedWords"),
        ("twin-blocked-artists", "promptHasBlockedArtists"),
    ],
)
def test_partly_ignored_prompt_is_flagged(marker: str, flag: str) -> None:
    """Two markers succeed and say that part of the prompt was ignored."""

    async def steps(twin: Rehearsal) -> None:
        done = await twin.ended(await twin.generate(f"a {marker} pear"))
        assert done["result"][flag] is True

    rehearse(steps)


@given(st.text(min_size=1, max_size=1100))
def test_prompts_count_code_points(prompt: str) -> None:
    """Whatever the script, 1 to 1,024 code points pass v3 and up to 1,500 pass v4."""
    v3, v4 = (check(model, {"prompt": prompt}) for model in (GenerateBody, GenerateV4Body))
    assert isinstance(v3, GenerateBody) == (len(prompt) <= 1024)
    assert isinstance(v4, GenerateV4Body)


@given(
    st.integers(1, 4096),
    st.integers(1, 4096),
    st.sampled_from(["image3", "image3_custom", "image4_standard", "image4_ultra"]),
)
def test_only_listed_pairs_pass(width: int, height: int, model: str) -> None:
    """A size passes exactly when it is on the model's list."""
    listed = IMAGE3_SIZES if model.startswith("image3") else IMAGE4_SIZES
    try:
        check_size(Size(width=width, height=height), sizes_of(model))
        passes = True
    except RejectionError:
        passes = False
    assert passes == ((width, height) in listed)


@given(
    st.fixed_dictionaries(
        {"prompt": st.just("x")},
        optional={
            "seeds": st.lists(st.integers(-5, 10), max_size=6),
            "numVariations": st.integers(-1, 6),
        },
    )
)
def test_seeds_and_variations_agree(body: Mapping[str, Any]) -> None:
    """A body passes exactly when both are in bounds, seeds are unique, and the counts match."""
    seeds, count = body.get("seeds"), body.get("numVariations")
    right = (
        (seeds is None or (1 <= len(seeds) <= 4 and len(set(seeds)) == len(seeds)))
        and (count is None or 1 <= count <= 4)
        and (seeds is None or count is None or len(seeds) == count)
    )
    checked = check(GenerateBody, dict(body))
    if isinstance(checked, GenerateBody):
        try:
            refuse_if(variation_flaws(checked))
            passes = True
        except RejectionError:
            passes = False
    else:
        passes = False
    assert passes == right
