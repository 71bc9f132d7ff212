"""Firefly's request: what goes out, and what is refused before it does."""

from dataclasses import replace

import pytest

from fireflyassets.adapters.adobe.firefly import SIZES, check
from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.core.recipe import Model
from fireflyassets.ports.images import GenerateRequest
from fireflyassets.ports.paid import Accepted, NotAccepted
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.bench import GENERATE, ScriptedAdobe, answering


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
        ({"content_class": "sculpture"}, "photo or art"),
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
    assert classify(outcome.fault) is FailureClass.INVALID_REQUEST
    assert words in outcome.fault.message
    assert "PROMPTMARK" not in outcome.fault.message
    assert adobe.seen == []
    assert adobe.mints == 0


def test_longest_prompt_passes() -> None:
    """1,024 code points are allowed, however many bytes they have."""
    assert check(replace(GENERATE, prompt="\U0001f469" * 1024)) == []


@pytest.mark.parametrize("model", list(Model))
def test_every_model_has_its_sizes(model: Model) -> None:
    """The four sizes that all models share are in every list."""
    common = {(2048, 2048), (2304, 1792), (1792, 2304), (2688, 1536)}

    assert common <= SIZES[model]
