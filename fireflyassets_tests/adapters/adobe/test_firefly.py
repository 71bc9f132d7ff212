"""Firefly's request: what goes out, and what is refused before it does."""

from dataclasses import replace

import pytest

from fireflyassets.adapters.adobe.bodies import made
from fireflyassets.adapters.adobe.firefly import generate_fields
from fireflyassets.adapters.adobe.firefly_bodies import GenerateBody
from fireflyassets.adapters.adobe.firefly_parts import SIZES
from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.core.recipe_step import Model
from fireflyassets.ports.images import GenerateRequest, Linked, Structure, Style, Uploaded
from fireflyassets.ports.paid import Accepted, NotAccepted
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import GENERATE, ScriptedAdobe, answering

CUSTOM = {"model": Model.IMAGE4_CUSTOM, "custom_model": "urn:aaid:sc:1"}
LONG = "https://b.s3.amazonaws.com/k?".ljust(2084, "x")


def sent(request: GenerateRequest) -> bench.Seen:
    adobe = ScriptedAdobe(answering(bench.accepted()))
    outcome = bench.run(lambda clients: clients.images.generate(request), adobe)
    assert isinstance(outcome, Accepted)
    return adobe.seen[0]


def test_one_picture_is_asked_for() -> None:
    """One variation, one seed, the model in the header, and nothing that was not said."""
    seen = sent(GENERATE)

    assert (seen.method, seen.host, seen.target) == (
        "POST",
        "firefly-api.adobe.io",
        "/v3/images/generate-async",
    )
    assert seen.headers["x-model-version"] == "image3"
    assert seen.headers["content-type"] == "application/json"
    assert bench.body_of(seen) == {
        "prompt": "PROMPTMARK a red lighthouse",
        "numVariations": 1,
        "seeds": [7],
        "size": {"width": 2048, "height": 2048},
        "promptBiasingLocaleCode": "de-DE",
    }


def test_everything_a_generate_can_say_goes_out() -> None:
    """Each field stands under Adobe's own name; each variant has its seed and is counted."""
    request = replace(
        GENERATE,
        more_seeds=(8, 9),
        negative_prompt="fog",
        style=Style(Uploaded("up-1"), presets=("bw",), strength=40),
        structure=Structure(Linked("https://b.s3.amazonaws.com/k?X-Amz-Signature=a%2Fb")),
        visual_intensity=6,
    )

    body = bench.body_of(sent(request))

    assert (body["numVariations"], body["seeds"]) == (3, [7, 8, 9])
    assert body["negativePrompt"] == "fog"
    assert body["visualIntensity"] == 6
    assert body["style"] == {
        "presets": ["bw"],
        "imageReference": {"source": {"uploadId": "up-1"}},
        "strength": 40,
    }
    assert body["structure"] == {
        "imageReference": {"source": {"url": "https://b.s3.amazonaws.com/k?X-Amz-Signature=a%2Fb"}}
    }
    assert "model" not in body


@pytest.mark.parametrize(
    ("locale", "code"),
    [("en-US", "en-US"), ("zh-Hant-TW", "zh-TW"), ("de", None), ("fil-PH", None), ("", None)],
)
def test_locale_is_sent_in_firefly_s_form_or_not_at_all(locale: str, code: str | None) -> None:
    """Firefly takes language and region only; anything else is left to its own guess."""
    body = bench.body_of(sent(replace(GENERATE, locale=locale)))

    assert body.get("promptBiasingLocaleCode") == code


def test_text_goes_out_unchanged() -> None:
    """Emoji, right-to-left text and quotes reach Firefly as they are."""
    prompt = '\u05d0\u05d1 "x" \\ \U0001f469\u200d\U0001f680 e\u0301'

    body = bench.body_of(sent(replace(GENERATE, prompt=prompt, content_class="art")))

    assert body["prompt"] == prompt
    assert body["contentClass"] == "art"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prompt": ""}, "empty"),
        ({"prompt": "  "}, "empty"),
        ({"prompt": "\U0001f469" * 1025}, "1025 code points"),
        ({"prompt": "half \ud83d"}, "surrogate"),
        ({"width": 1000}, "image3 does not make 1000x2048"),
        ({"model": Model.IMAGE4_ULTRA, "width": 1024, "height": 1024}, "does not make 1024x1024"),
        ({"model": Model.IMAGE3, "width": 1440, "height": 2560}, "does not make 1440x2560"),
        ({"model": Model.IMAGE3_CUSTOM}, "custom model"),
        ({"content_class": "sculpture"}, "contentClass"),
        ({"custom_model": "urn:aaid:sc:1"}, "ignores a custom model"),
        ({"more_seeds": (7,)}, "names something twice"),
        ({"more_seeds": (8, 9, 10, 11)}, "4"),
        ({"negative_prompt": "x" * 1025}, "negativePrompt has 1025 code points"),
        ({"visual_intensity": 1}, "visualIntensity"),
        ({"visual_intensity": 11}, "visualIntensity"),
        ({"upsampler": "default"}, "does not take upsamplerType"),
        ({"style": Style(Uploaded("u"), strength=0)}, "style.strength"),
        ({"style": Style(presets=("a", "a"))}, "names something twice"),
        ({"structure": Structure(Uploaded("u"), strength=101)}, "structure.strength"),
        ({"style": Style(Linked("https://storage.googleapis.com/b/k"))}, "upload it first"),
        ({"style": Style(Linked("http://b.s3.amazonaws.com/k"))}, "not HTTPS"),
        ({"style": Style(Linked("https://evilamazonaws.com/k"))}, "not HTTPS on a host"),
        ({"style": Style(Linked(LONG))}, "2084 characters"),
        ({**CUSTOM, "negative_prompt": "no"}, "does not take negativePrompt"),
        ({**CUSTOM, "visual_intensity": 5}, "does not take visualIntensity"),
        ({"seed": -1}, "negative"),
    ],
)
def test_hopeless_request_is_not_sent(change: dict[str, object], words: str) -> None:
    """What Firefly would refuse costs neither a call nor a ticket, and is named."""
    request = replace(GENERATE, **change)
    adobe = ScriptedAdobe(answering(bench.accepted()))

    outcome = bench.run(lambda clients: clients.images.generate(request), adobe)

    assert isinstance(outcome, NotAccepted)
    assert outcome.fault.code == "refused_locally"
    assert outcome.fault.field
    assert classify(outcome.fault) is FailureClass.INVALID_REQUEST
    assert words in outcome.fault.message
    assert "PROMPTMARK" not in outcome.fault.message
    assert adobe.seen == []
    assert adobe.mints == 0


def test_longest_prompt_passes() -> None:
    """1,024 code points are allowed, however many bytes they have."""
    longest = replace(GENERATE, prompt="\U0001f469" * 1024)

    assert isinstance(made(GenerateBody, generate_fields(longest)), GenerateBody)


@pytest.mark.parametrize("model", list(Model))
def test_every_model_has_its_sizes(model: Model) -> None:
    """The four sizes that all models share are in every list."""
    common = {(2048, 2048), (2304, 1792), (1792, 2304), (2688, 1536)}

    assert common <= SIZES[model]
