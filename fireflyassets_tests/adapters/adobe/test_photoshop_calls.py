"""Photoshop's other calls: what goes out, and what is refused before it does."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from decimal import Decimal

import httpx
import pytest

from fireflyassets.adapters.adobe.factory import AdobeClients
from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.ports.documents import (
    ActionsRequest,
    ArtboardRequest,
    CropRequest,
    CutOutRequest,
    EditRequest,
    ManifestRequest,
    OutputFile,
)
from fireflyassets.ports.paid import Accepted, Done, NotAccepted, Output, Submission
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import ScriptedAdobe, answering

IN = "https://b.s3.amazonaws.com/in?X-Amz-Signature=SIGMARK1"
OUT = "https://b.s3.amazonaws.com/out?X-Amz-Signature=SIGMARK2"
FILE = OutputFile(OUT, 640, 480)
SOURCE = {"source": {"url": IN}}
OUTPUT = {
    "mediaType": "image/jpeg",
    "destination": {"url": OUT},
    "width": 640,
    "height": 480,
    "quality": "maximum",
}
ACTIONS = ActionsRequest(IN, (FILE,), actions=((IN, "Glow"),), contents=(IN,))
ARTBOARD = ArtboardRequest((IN, IN), (FILE,))
EDIT = EditRequest(IN, OUT, auto_tone=True, exposure=Decimal("0.5"), contrast=-10)
CROP = CropRequest(IN, ratios=("1:1", "9:16"))
CUT = CutOutRequest(IN)

Call = Callable[[AdobeClients], Awaitable[Submission]]


def asked(call: Call) -> tuple[Submission, list[bench.Seen]]:
    """Submit once, and return what became of it with what was sent."""
    url = "https://photoshop-api.adobe.io/v2/status/1"
    adobe = ScriptedAdobe(answering(httpx.Response(202, json={"jobId": "p1", "statusUrl": url})))
    return bench.run(call, adobe), adobe.seen


@pytest.mark.parametrize(
    ("call", "host", "path", "body"),
    [
        (
            lambda clients: clients.documents.play(ACTIONS),
            "photoshop-api.adobe.io",
            "/v2/execute-actions",
            {
                "image": SOURCE,
                "options": {
                    "actions": [{"source": {"url": IN}, "actionName": "Glow"}],
                    "additionalContents": [SOURCE],
                    "fontOptions": {"missingFontStrategy": "fail"},
                },
                "outputs": [OUTPUT],
            },
        ),
        (
            lambda clients: clients.documents.play(
                ActionsRequest(IN, (OutputFile(OUT),), written='[{"_obj": "invert"}]')
            ),
            "photoshop-api.adobe.io",
            "/v2/execute-actions",
            {
                "image": SOURCE,
                "options": {
                    "actions": [
                        {
                            "source": {
                                "content": '[{"_obj": "invert"}]',
                                "contentType": "application/json",
                            }
                        }
                    ],
                    "fontOptions": {"missingFontStrategy": "fail"},
                },
                "outputs": [
                    {
                        "mediaType": "image/jpeg",
                        "destination": {"url": OUT},
                        "quality": "maximum",
                    }
                ],
            },
        ),
        (
            lambda clients: clients.documents.list_layers(ManifestRequest(IN, OUT)),
            "photoshop-api.adobe.io",
            "/v2/generate-manifest",
            {
                "image": SOURCE,
                "outputs": [{"mediaType": "application/json", "destination": {"url": OUT}}],
            },
        ),
        (
            lambda clients: clients.documents.lay_out(ARTBOARD),
            "photoshop-api.adobe.io",
            "/v2/create-artboard",
            {"images": [SOURCE, SOURCE], "artboardSpacing": 50, "outputs": [OUTPUT]},
        ),
        (
            lambda clients: clients.documents.edit(EDIT),
            "photoshop-api.adobe.io",
            "/v2/edit",
            {
                "image": SOURCE,
                "edits": {"autoTone": True, "light": {"exposure": 0.5, "contrast": -10}},
                "outputs": [{"mediaType": "image/jpeg", "destination": {"url": OUT}}],
            },
        ),
        (
            lambda clients: clients.cutter.auto_crop(CROP),
            "photoshop-api.adobe.io",
            "/v1/auto-crop",
            {
                "image": SOURCE,
                "mode": "smartCrop",
                "aspectRatio": ["1:1", "9:16"],
                "outputType": "images",
            },
        ),
        (
            lambda clients: clients.cutter.auto_crop(
                CropRequest(IN, mode="subjectCrop", ratios=("1:1",), focus=("bottle",))
            ),
            "photoshop-api.adobe.io",
            "/v1/auto-crop",
            {
                "image": SOURCE,
                "mode": "subjectCrop",
                "aspectRatio": ["1:1"],
                "focus": ["bottle"],
                "outputType": "images",
            },
        ),
        (
            lambda clients: clients.cutter.cut_out(CUT),
            "image.adobe.io",
            "/v2/remove-background",
            {
                "image": SOURCE,
                "mode": "cutout",
                "output": {"mediaType": "image/png"},
                "trim": False,
            },
        ),
    ],
    ids=[
        "actions",
        "written-actions",
        "manifest",
        "artboard",
        "edit",
        "auto-crop",
        "subject-crop",
        "remove-background",
    ],
)
def test_each_call_has_its_host_path_and_body(
    call: Call, host: str, path: str, body: dict[str, object]
) -> None:
    """A call sends what its specification names, and nothing else."""
    outcome, (seen,) = asked(call)

    assert isinstance(outcome, Accepted)
    assert (seen.method, seen.host, seen.target) == ("POST", host, path)
    assert bench.body_of(seen) == body


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda c: c.documents.play(replace(ACTIONS, actions=())), "options"),
        (lambda c: c.cutter.auto_crop(replace(CROP, mode="subjectCrop")), "focus"),
        (lambda c: c.cutter.auto_crop(replace(CROP, focus=("bottle",))), "focus"),
        (lambda c: c.documents.play(replace(ACTIONS, actions=((IN, None),) * 11)), "options"),
        (lambda c: c.documents.play(replace(ACTIONS, contents=(IN,) * 26)), "options"),
        (lambda c: c.documents.play(replace(ACTIONS, outputs=())), "outputs"),
        (lambda c: c.documents.play(replace(ACTIONS, outputs=(FILE,) * 26)), "outputs"),
        (lambda c: c.documents.list_layers(ManifestRequest("s3://b/k", OUT)), "image.source"),
        (lambda c: c.documents.lay_out(replace(ARTBOARD, pictures=())), "images"),
        (lambda c: c.documents.lay_out(replace(ARTBOARD, pictures=(IN,) * 26)), "images"),
        (lambda c: c.documents.edit(replace(EDIT, exposure=Decimal(6))), "edits.light"),
        (lambda c: c.documents.edit(replace(EDIT, contrast=101)), "edits.light"),
        (lambda c: c.documents.edit(replace(EDIT, media_type="image/webp")), "outputs[0]"),
        (lambda c: c.cutter.auto_crop(replace(CROP, mode="guess")), "mode"),
        (lambda c: c.cutter.auto_crop(replace(CROP, ratios=("7:5",))), "aspectRatio"),
        (lambda c: c.cutter.cut_out(replace(CUT, mode="erase")), "mode"),
        (lambda c: c.cutter.cut_out(replace(CUT, media_type="image/gif")), "output"),
    ],
)
def test_hopeless_request_is_not_sent(call: Call, field: str) -> None:
    """What Photoshop would refuse is named by its field, without URLs, and costs nothing."""
    outcome, seen = asked(call)

    assert isinstance(outcome, NotAccepted)
    assert classify(outcome.fault) is FailureClass.INVALID_REQUEST
    assert outcome.fault.field.startswith(field)
    assert "MARK" not in outcome.fault.message
    assert seen == []


def test_result_that_the_vendor_keeps_has_its_url() -> None:
    """A cut-out lies with the vendor: the poll says where, unlike that of a composite."""
    outputs = [{"destination": {"url": "https://x.adobe.io/1"}, "mediaType": "image/png"}]
    body = {"jobId": "1", "status": "succeeded", "result": {"outputs": outputs}}
    adobe = ScriptedAdobe(answering(httpx.Response(200, json=body)))

    done = bench.run(
        lambda clients: clients.cutter.poll("https://image.adobe.io/v2/status/1"), adobe
    )

    assert done == Done((Output("https://x.adobe.io/1"),))
