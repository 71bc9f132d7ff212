"""Photoshop's request: what goes out, and what is refused before it does."""

from dataclasses import replace
from decimal import Decimal

import httpx
import pytest

from fireflyassets.adapters.adobe.bodies import made
from fireflyassets.adapters.adobe.photoshop_bodies import LayerBody
from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.core.text_style import TextStyle
from fireflyassets.ports.documents import CompositeRequest, OutputFile
from fireflyassets.ports.paid import Accepted, Done, Gone, NotAccepted, Output
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import COMPOSITE, ScriptedAdobe, answering, error

STATUS_URL = "https://photoshop-api.adobe.io/v2/status/1"
ACCEPTED = httpx.Response(202, json={"jobId": "p1", "statusUrl": STATUS_URL})


STYLE = TextStyle(
    font="Brand-Heavy",
    size=Decimal(64),
    leading=Decimal(70),
    tracking=Decimal(-20),
    capitals="small_caps",
    colour=(32_768, 0, 16_384),
    alignment="center",
    right_to_left=True,
)


def sent(request: CompositeRequest) -> bench.Seen:
    adobe = ScriptedAdobe(answering(ACCEPTED))
    outcome = bench.run(lambda clients: clients.documents.compose(request), adobe)
    assert outcome == Accepted("p1", STATUS_URL)
    return adobe.seen[0]


def test_template_is_filled_by_layer_names() -> None:
    """Pictures and texts go to their layers by name, and one file to our own URL."""
    seen = sent(COMPOSITE)

    assert (seen.method, seen.host, seen.target) == (
        "POST",
        "photoshop-api.adobe.io",
        "/v2/create-composite",
    )
    assert bench.body_of(seen) == {
        "image": {"source": {"url": COMPOSITE.template_url}},
        "edits": {
            "layers": [
                {
                    "type": "smart_object_layer",
                    "name": "Hero",
                    "operation": {"type": "edit"},
                    "smartObject": {
                        "smartObjectFile": {"source": {"url": COMPOSITE.pictures["Hero"]}}
                    },
                },
                {
                    "type": "text_layer",
                    "name": "Headline",
                    "operation": {"type": "edit"},
                    "text": {"content": COMPOSITE.texts["Headline"]},
                },
            ]
        },
        "fontOptions": {"missingFontStrategy": "fail"},
        "outputs": [
            {
                "mediaType": "image/jpeg",
                "destination": {"url": COMPOSITE.output_url},
                "width": 1080,
                "height": 1920,
                "quality": "maximum",
            }
        ],
    }


def test_edit_of_words_sends_the_whole_style() -> None:
    """Kerning, leading and capitals of the template come with the words, over all letters."""
    request = replace(
        COMPOSITE,
        texts={"Headline": "Sale \U0001f6d2"},
        styles={"Headline": STYLE},
        layer_ids={"Hero": 7, "Headline": 8},
    )

    hero, headline = bench.body_of(sent(request))["edits"]["layers"]

    assert (hero["id"], headline["id"]) == (7, 8)
    assert headline["text"] == {
        "content": "Sale \U0001f6d2",
        "characterStyles": [
            {
                "apply": {"from": 0, "to": 6},
                "characterStyle": {
                    "font": {"postScriptName": "Brand-Heavy"},
                    "fontSize": 64.0,
                    "autoLeading": False,
                    "lineHeight": 70.0,
                    "letterSpacing": -20.0,
                    "capsOption": "small_caps",
                    "fontColor": {"red": 32_768, "green": 0, "blue": 16_384},
                    "syntheticBold": False,
                    "syntheticItalic": False,
                    "underline": False,
                },
            }
        ],
        "paragraphStyles": [
            {
                "apply": {"from": 0, "to": 6},
                "paragraphStyle": {"alignment": "center", "writingDirection": "right_to_left"},
            }
        ],
    }


def test_missing_font_fails_the_job() -> None:
    """A missing font is never swapped, and fonts of ours are handed over."""
    font = "https://b.s3.amazonaws.com/f.otf?X-Amz-Signature=SIGMARK"

    body = bench.body_of(sent(replace(COMPOSITE, fonts=(font,))))

    assert body["fontOptions"] == {
        "missingFontStrategy": "fail",
        "additionalFonts": [{"source": {"url": font}}],
    }


def test_several_outputs_keep_their_order() -> None:
    """One opening of the document writes several files; the first is the request's own."""
    more = OutputFile("https://b.s3.amazonaws.com/2.png?sig=1", 540, 960, "image/png")

    outputs = bench.body_of(sent(replace(COMPOSITE, more_outputs=(more,))))["outputs"]

    assert [(one["mediaType"], one["width"]) for one in outputs] == [
        ("image/jpeg", 1080),
        ("image/png", 540),
    ]


def test_transform_needs_its_mode() -> None:
    """A transform beside `fit` or `fill` answers 400 there; here it is no body."""
    layer = {"type": "text_layer", "name": "Headline", "transform": {"angle": 3.0}}

    for mode in (None, "none", "fit", "fill"):
        (problem,) = made(LayerBody, {**layer, "transform_mode": mode})
        assert problem.field == "transformMode"
    assert isinstance(made(LayerBody, {**layer, "transform_mode": "custom"}), LayerBody)


def test_signed_urls_stand_in_the_body_as_they_are() -> None:
    """Escapes inside a signed URL are neither added nor taken away."""
    url = "https://b.s3.amazonaws.com/a%2Fb%20c+d?X-Amz-Credential=A%2F2&X-Amz-Signature=z%2b"

    assert url.encode() in sent(replace(COMPOSITE, output_url=url)).body


def test_png_has_no_jpeg_quality() -> None:
    """A PNG is asked for without what only a JPEG has."""
    body = bench.body_of(sent(replace(COMPOSITE, media_type="image/png")))

    outputs = body["outputs"]
    assert isinstance(outputs, list)
    assert outputs[0]["mediaType"] == "image/png"
    assert "quality" not in outputs[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"width": 0}, "outputs[0].width"),
        ({"height": 32_001}, "outputs[0].height"),
        ({"media_type": "image/webp"}, "outputs[0].mediaType"),
        ({"pictures": {}, "texts": {}}, "edits.layers"),
        ({"texts": {"": "x"}}, "edits.layers[1].name is empty"),
        ({"texts": {"Hero": "x"}}, "both"),
        ({"texts": {"Headline": "half \ud83d"}}, "surrogate"),
        ({"texts": {"Headline": "x" * 51_201}}, "edits.layers[1].text.content has 51201"),
        ({"template_url": "http://b.s3.amazonaws.com/x"}, "whole HTTPS URL"),
        ({"output_url": "https://b.s3.amazonaws.com/a b"}, "whole HTTPS URL"),
        ({"pictures": {"Hero": "s3://b/k"}}, "whole HTTPS URL"),
        ({"more_outputs": (OutputFile("https://a/b", 1, 1),) * 25}, "outputs"),
        ({"fonts": ("https://a/b",) * 11}, "fontOptions.additionalFonts"),
        ({"styles": {"Headline": replace(STYLE, colour=(0, 0, 32_769))}}, "fontColor.blue"),
        ({"styles": {"Headline": replace(STYLE, capitals="loud")}}, "capsOption"),
        ({"styles": {"Headline": replace(STYLE, size=Decimal(0))}}, "fontSize"),
        ({"texts": {f"T{n}": "x" * 51_000 for n in range(20)}}, "bytes"),
    ],
)
def test_hopeless_request_is_not_sent(change: dict[str, object], words: str) -> None:
    """What Photoshop would refuse costs nothing, and is named without words or URLs of ours."""
    request = replace(COMPOSITE, **change)
    adobe = ScriptedAdobe(answering(ACCEPTED))

    outcome = bench.run(lambda clients: clients.documents.compose(request), adobe)

    assert isinstance(outcome, NotAccepted)
    assert classify(outcome.fault) is FailureClass.INVALID_REQUEST
    assert words in outcome.fault.message
    assert "MARK" not in outcome.fault.message
    assert adobe.seen == []


@pytest.mark.parametrize(
    "outputs",
    [
        [{"mediaType": "image/jpeg", "destination": {"url": COMPOSITE.output_url}}],
        [{"mediaType": "image/jpeg", "url": COMPOSITE.output_url}],
        {"destination": {"url": COMPOSITE.output_url}},
    ],
)
def test_output_at_our_own_url_has_no_url_to_fetch(outputs: object) -> None:
    """What was written to our PUT-signed URL can't be read there: no URL is handed on."""
    body = {"jobId": "p1", "status": "succeeded", "result": {"outputs": outputs}}
    adobe = ScriptedAdobe(answering(httpx.Response(200, json=body)))

    assert bench.run(lambda clients: clients.documents.poll(STATUS_URL), adobe) == Done((Output(),))


def test_unknown_job_is_gone() -> None:
    """A 404 on a status call is no failure of the job: its outcome is unknown."""
    adobe = ScriptedAdobe(answering(error(404, {"error_code": "unknown_job_id"})))

    assert bench.run(lambda clients: clients.documents.poll(STATUS_URL), adobe) == Gone()


def test_refusal_does_not_echo_our_words() -> None:
    """A message that quotes a layer's text loses it."""
    words = COMPOSITE.texts["Headline"]
    refused = error(422, {"error_code": "validation_error", "message": f"Bad text: {words}"})

    outcome = bench.run(
        lambda clients: clients.documents.compose(COMPOSITE), ScriptedAdobe(answering(refused))
    )

    assert isinstance(outcome, NotAccepted)
    assert outcome.fault.message == "Bad text: <text>"
