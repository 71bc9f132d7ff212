"""Firefly's other calls: what goes out, and what is refused before it does."""

from dataclasses import replace
from typing import Final

import httpx
import pytest

from fireflyassets.adapters.adobe.factory import AdobeClients
from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.core.recipe_step import Model
from fireflyassets.ports.images import (
    ExpandRequest,
    FillRequest,
    GenerateV4Request,
    Linked,
    Mask,
    Placement,
    SimilarRequest,
    Uploaded,
    UpscaleRequest,
)
from fireflyassets.ports.paid import Accepted, Done, NotAccepted, Submission
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import ScriptedAdobe, answering

PICTURE = Uploaded("6f4e1a7c-0f0e-4a53-9d9e-1f2f3a4b5c6d")
SIGNED = Linked("https://b.s3.amazonaws.com/k?X-Amz-Signature=SIGMARK")
EXPAND = ExpandRequest(source=PICTURE, width=2048, height=1024, seed=7, prompt="PROMPTMARK sea")
FILL = FillRequest(
    source=PICTURE, mask=Mask(SIGNED), width=1024, height=1024, seed=7, locale="de-DE"
)
SIMILAR = SimilarRequest(source=PICTURE, model=Model.IMAGE3, width=896, height=1152, seed=7)
UPSCALE = UpscaleRequest(source=PICTURE, seed=7)
V4 = GenerateV4Request(prompt="PROMPTMARK a pear", seed=7, locale="de-DE")
LINKS = {
    "links": {
        "result": {"href": "https://firefly-epo1.adobe.io/v3/status/urn%3Aff%3Ajobs%3A1"},
        "cancel": {"href": "https://firefly-epo1.adobe.io/v3/cancel/urn%3Aff%3Ajobs%3A1"},
    }
}
Request = ExpandRequest | FillRequest | SimilarRequest | UpscaleRequest | GenerateV4Request
PATHS: Final = {
    ExpandRequest: "/v3/images/expand-async",
    FillRequest: "/v3/images/fill-async",
    SimilarRequest: "/v3/images/generate-similar-async",
    UpscaleRequest: "/v3/images/upscale",
    GenerateV4Request: "/v4/images/generate-async",
}


async def submit(clients: AdobeClients, request: Request) -> Submission:
    match request:
        case ExpandRequest():
            return await clients.images.expand(request)
        case FillRequest():
            return await clients.images.fill(request)
        case SimilarRequest():
            return await clients.images.similar(request)
        case UpscaleRequest():
            return await clients.images.upscale(request)
        case GenerateV4Request():
            return await clients.images.generate_v4(request)


def asked(
    request: Request, answer: httpx.Response | None = None, *, v4: bool = True
) -> tuple[Submission, list[bench.Seen]]:
    """Submit once, and return what became of it with what was sent."""
    adobe = ScriptedAdobe(answering(answer or bench.accepted()))
    configured = bench.settings().model_copy(update={"firefly_v4": v4})
    outcome = bench.run(lambda clients: submit(clients, request), adobe, configured=configured)
    return outcome, adobe.seen


@pytest.mark.parametrize(
    ("request_", "model", "body"),
    [
        (
            replace(EXPAND, placement=Placement(horizontal="left", top=0)),
            None,
            {
                "numVariations": 1,
                "seeds": [7],
                "size": {"width": 2048, "height": 1024},
                "image": {"source": {"uploadId": PICTURE.upload_id}},
                "placement": {
                    "alignment": {"horizontal": "left", "vertical": "center"},
                    "inset": {"top": 0},
                },
                "prompt": "PROMPTMARK sea",
            },
        ),
        (
            replace(FILL, mask=Mask(SIGNED, invert=True), more_seeds=(8,)),
            None,
            {
                "numVariations": 2,
                "seeds": [7, 8],
                "size": {"width": 1024, "height": 1024},
                "image": {"source": {"uploadId": PICTURE.upload_id}},
                "mask": {"source": {"url": SIGNED.url}, "invert": True},
                "promptBiasingLocaleCode": "de-DE",
            },
        ),
        (
            SIMILAR,
            "image3",
            {
                "numVariations": 1,
                "seeds": [7],
                "size": {"width": 896, "height": 1152},
                "image": {"source": {"uploadId": PICTURE.upload_id}},
            },
        ),
        (
            UPSCALE,
            "precise_upsampler_v1",
            {
                "image": {"source": {"uploadId": PICTURE.upload_id}},
                "seeds": [7],
                "upscaleFactor": 2,
            },
        ),
        (
            V4,
            "image5",
            {
                "prompt": "PROMPTMARK a pear",
                "resolutionLevel": "2.4MP",
                "modelId": "firefly_image",
                "modelSpecificPayload": {"localeCode": "de-DE", "prompt_reasoner": "speed"},
                "numVariations": 1,
                "seeds": [7],
            },
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_each_call_has_its_path_header_and_body(
    request_: Request, model: str | None, body: dict[str, object]
) -> None:
    """A call sends what its specification names, and nothing else."""
    outcome, (seen,) = asked(request_)

    assert isinstance(outcome, Accepted)
    assert (seen.method, seen.host, seen.target) == (
        "POST",
        "firefly-api.adobe.io",
        PATHS[type(request_)],
    )
    assert seen.headers.get("x-model-version") == model
    assert bench.body_of(seen) == body


@pytest.mark.parametrize(("request_", "status"), [(UPSCALE, 202), (V4, 200)])
def test_links_are_an_acceptance_like_any_other(request_: Request, status: int) -> None:
    """Upscale and v4 name links and no job id; 200 or 202 makes no difference."""
    outcome, _ = asked(request_, httpx.Response(status, json=LINKS))

    assert outcome == Accepted(
        "urn:ff:jobs:1",
        LINKS["links"]["result"]["href"],
        LINKS["links"]["cancel"]["href"],
    )


@pytest.mark.parametrize(
    ("request_", "field", "words"),
    [
        (replace(EXPAND, mask=Mask(SIGNED), placement=Placement()), "placement", "exclude"),
        (replace(EXPAND, width=4000), "size", "does not make 4000x1024"),
        (replace(EXPAND, height=0), "size", "does not make 2048x0"),
        (replace(EXPAND, prompt=" "), "prompt", "empty"),
        (replace(EXPAND, placement=Placement(horizontal="middle")), "placement", "center"),
        (replace(EXPAND, source=Uploaded("")), "image.source", "uploadId"),
        (replace(FILL, width=2688, height=1512), "size", "does not make 2688x1512"),
        (replace(FILL, negative_prompt="x" * 1025), "negativePrompt", "1025 code points"),
        (replace(FILL, more_seeds=(7,)), "seeds", "twice"),
        (replace(SIMILAR, model=Model.IMAGE3_CUSTOM), "model", "image4_ultra"),
        (replace(SIMILAR, width=1344, height=756), "size", "does not make 1344x756"),
        (replace(UPSCALE, factor=5), "upscaleFactor", "2"),
        (replace(UPSCALE, more_seeds=(8, 9, 10, 11)), "seeds", "4"),
        (replace(UPSCALE, seed=-1), "seeds", "negative"),
        (replace(V4, prompt="x" * 1501), "prompt", "1501 code points"),
        (replace(V4, aspect_ratio="2:1"), "aspectRatio", "16:9"),
        (replace(V4, resolution="8MP"), "resolutionLevel", "4MP"),
        (replace(V4, reasoner="best"), "modelSpecificPayload", "quality"),
        (replace(V4, reference=PICTURE, aspect_ratio="1:1"), "aspectRatio", "auto"),
    ],
)
def test_hopeless_request_is_not_sent(request_: Request, field: str, words: str) -> None:
    """What Firefly would refuse is named by field, rule and fix, and costs nothing."""
    outcome, seen = asked(request_)

    assert isinstance(outcome, NotAccepted)
    assert classify(outcome.fault) is FailureClass.INVALID_REQUEST
    assert outcome.fault.field.startswith(field)
    assert words in outcome.fault.message
    assert "MARK" not in outcome.fault.message
    assert seen == []


def test_longest_v4_prompt_passes() -> None:
    """The limit of v4 is another one than that of v3."""
    outcome, _ = asked(replace(V4, prompt="\U0001f469" * 1500))

    assert isinstance(outcome, Accepted)


def test_v4_is_behind_a_setting() -> None:
    """Nobody calls version 4 by accident."""
    outcome, seen = asked(V4, v4=False)

    assert isinstance(outcome, NotAccepted)
    assert "FIREFLYASSETS_FIREFLY_V4" in outcome.fault.message
    assert seen == []


def test_upscaled_pictures_are_found() -> None:
    """An upscale's result has `presignedUrl`, and no `image`."""
    body = {
        "status": "succeeded",
        "jobId": "1",
        "result": {"outputs": [{"id": "x", "presignedUrl": "https://a/b"}], "version": "1"},
    }
    adobe = ScriptedAdobe(answering(httpx.Response(200, json=body)))

    done = bench.run(lambda clients: clients.images.poll(bench.STATUS_URL), adobe)

    assert isinstance(done, Done)
    assert [output.url for output in done.outputs] == ["https://a/b"]
