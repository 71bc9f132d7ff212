"""The clients against the simulator, over HTTP only: tokens, pictures, documents, and faults."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from fireflyassets.adapters.adobe.factory import AdobeClients
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.adapters.psd import read_template
from fireflyassets.core.failure import FailureClass, classify
from fireflyassets.core.recipe_step import Model
from fireflyassets.ports.custom_models import NotReady
from fireflyassets.ports.documents import (
    ActionsRequest,
    ArtboardRequest,
    CropRequest,
    CutOutRequest,
    EditRequest,
    ManifestRequest,
    OutputFile,
)
from fireflyassets.ports.images import (
    CancelAnswer,
    ExpandRequest,
    FillRequest,
    GenerateV4Request,
    Mask,
    SimilarRequest,
    Structure,
    Style,
    Uploaded,
    UpscaleRequest,
)
from fireflyassets.ports.paid import (
    Accepted,
    Done,
    EndedBadly,
    Fetched,
    FetchFailed,
    Gone,
    NotAccepted,
    OutcomeLost,
    Output,
    PaidService,
    Poll,
    PollFailed,
    Submission,
    Working,
)
from fireflyassets.settings import Settings
from fireflyassets_tests.adapters.adobe import bench
from fireflyassets_tests.adapters.adobe.conftest import billed, control
from fireflyassets_tests.adapters.adobe.raw_server import Connection, raw_server

pytestmark = pytest.mark.stack

PROJECT = Path(__file__).parents[3]
TEMPLATE = PROJECT / "campaigns/acme/spring-launch/1080x1080.psd"
GENERATE = replace(bench.GENERATE, width=1024, height=1024)
POLL_EVERY = timedelta(milliseconds=100)
POLLS = 600


@pytest.fixture
def configured(twin: str) -> Iterator[Settings]:
    """Yield settings for the simulator; faults of the test are lifted after it."""
    yield bench.settings([twin.removeprefix("http://")], base=twin)
    control(twin, "/_twin/faults", method="DELETE")


async def ended(service: PaidService, submission: Submission) -> Poll:
    """Poll an accepted job to its end."""
    assert isinstance(submission, Accepted), submission
    for _ in range(POLLS):
        poll = await service.poll(submission.status_url)
        if not isinstance(poll, Working):
            return poll
        await asyncio.sleep(POLL_EVERY.total_seconds())
    pytest.fail("The job did not end within a minute.")


def test_picture_is_made_and_fetched(twin: str, configured: Settings) -> None:
    """Token, generate, poll, fetch: a picture of the asked size and seed, for one bill."""

    async def make(clients: AdobeClients) -> tuple[Poll, Fetched | FetchFailed]:
        done = await ended(clients.images, await clients.images.generate(GENERATE))
        assert isinstance(done, Done)
        return done, await clients.images.fetch(done.outputs[0].url or "")

    before = len(billed(twin))
    done, fetched = bench.run(make, configured=configured, clock=SystemClock())

    assert isinstance(done, Done)
    assert [output.seed for output in done.outputs] == [GENERATE.seed]
    assert isinstance(fetched, Fetched)
    assert Image.open(BytesIO(fetched.content)).size == (1024, 1024)
    assert len(billed(twin)) == before + 1


def test_template_is_filled_and_written_to_our_url(configured: Settings) -> None:
    """A composite reads template and picture from us and PUTs one JPEG of the asked size."""
    hero = BytesIO()
    Image.new("RGB", (1024, 1024), "#c03020").save(hero, "PNG")
    files = {"/tpl.psd": TEMPLATE.read_bytes(), "/hero.png": hero.getvalue()}
    written: list[bytes] = []

    def store(connection: Connection, request: bytes) -> None:
        method, target, _ = request.split(b" ", 2)
        if method == b"PUT":
            written.append(request.partition(b"\r\n\r\n")[2])
        connection.answer("200 OK", files.get(target.decode().partition("?")[0], b""))

    layers = read_template(TEMPLATE.read_bytes()).layers
    declared = next(layer.style for layer in layers if layer.name == "Headline")
    assert declared is not None

    async def compose(clients: AdobeClients, base: str) -> Poll:
        request = replace(
            bench.COMPOSITE,
            template_url=f"{base}/tpl.psd?X-Amz-Signature=a%2Fb",
            pictures={"Hero": f"{base}/hero.png?X-Amz-Signature=a%2Fb"},
            texts={"Headline": "Fizz, in bloom"},
            styles={"Headline": declared},
            output_url=f"{base}/out.jpg?X-Amz-Signature=c%2Fd",
            width=1080,
            height=1080,
        )
        return await ended(clients.documents, await clients.documents.compose(request))

    with raw_server(store) as server:
        done = bench.run(
            lambda clients: compose(clients, server.url), configured=configured, clock=SystemClock()
        )

    assert done == Done((Output(),))
    picture = Image.open(BytesIO(written[0]))
    assert (picture.format, picture.size, len(written)) == ("JPEG", (1080, 1080), 1)
    assert {"/out.jpg?X-Amz-Signature=c%2Fd", "/tpl.psd?X-Amz-Signature=a%2Fb"} <= set(
        server.targets()
    )


def test_every_kind_of_picture_is_made(twin: str, configured: Settings) -> None:
    """An uploaded picture is expanded, filled, varied and enlarged; each output is one bill."""
    reference = BytesIO()
    Image.new("RGB", (1024, 1024), "#c03020").save(reference, "PNG")
    v4 = configured.model_copy(update={"firefly_v4": True})
    seeds = {"seed": 7, "more_seeds": (8,)}
    size = {"width": 1024, "height": 1024}

    async def make(clients: AdobeClients) -> list[Poll]:
        source = await clients.references.upload(reference.getvalue())
        assert isinstance(source, Uploaded)
        images = clients.images
        styled = replace(GENERATE, style=Style(source), structure=Structure(source))
        custom = replace(
            GENERATE, model=Model.IMAGE3_CUSTOM, custom_model=await custom_model(clients)
        )
        submissions = [
            await images.generate(styled),
            await images.generate(custom),
            await images.expand(ExpandRequest(source=source, **size, **seeds)),
            await images.fill(
                FillRequest(source=source, mask=Mask(source), locale="de-DE", **size, **seeds)
            ),
            await images.similar(
                SimilarRequest(source=source, model=Model.IMAGE3, **size, **seeds)
            ),
            await images.upscale(UpscaleRequest(source=source, **seeds)),
            await images.generate_v4(GenerateV4Request(prompt="a pear", seed=7, locale="de-DE")),
        ]
        return [await ended(images, submission) for submission in submissions]

    before = len(billed(twin))
    polls = bench.run(make, configured=v4, clock=SystemClock())

    outputs = [len(poll.outputs) for poll in polls if isinstance(poll, Done)]
    assert outputs == [1, 1, 2, 2, 2, 2, 1]
    assert [call["outputs"] for call in billed(twin)[before:]] == outputs
    assert all(output.url for poll in polls if isinstance(poll, Done) for output in poll.outputs)


async def custom_model(clients: AdobeClients) -> str:
    """Return the id of the simulator's model on image3."""
    models = await clients.models.models()
    assert not isinstance(models, NotReady)
    return next(model.asset_id for model in models if model.base == "image3")


def test_job_is_cancelled(configured: Settings) -> None:
    """A cancel is answered by the documented table, and is no proof by itself."""

    async def cancel(clients: AdobeClients) -> tuple[CancelAnswer | PollFailed, Poll]:
        accepted = await clients.images.generate(GENERATE)
        assert isinstance(accepted, Accepted)
        end = await ended(clients.images, accepted)
        return await clients.images.cancel(accepted.cancel_url or ""), end

    answer, end = bench.run(cancel, configured=configured, clock=SystemClock())

    assert answer is CancelAnswer.COMPLETED
    assert isinstance(end, Done)


def test_every_kind_of_document_call_is_answered(twin: str, configured: Settings) -> None:
    """The simulator's own reading of the specification takes all of our bodies."""
    hero = BytesIO()
    Image.new("RGB", (640, 480), "#c03020").save(hero, "PNG")
    files = {"/tpl.psd": TEMPLATE.read_bytes(), "/hero.png": hero.getvalue()}

    def store(connection: Connection, request: bytes) -> None:
        target = request.split(b" ", 2)[1].decode()
        connection.answer("200 OK", files.get(target.partition("?")[0], b""))

    async def make(clients: AdobeClients, base: str) -> list[Poll]:
        template, picture, out = f"{base}/tpl.psd", f"{base}/hero.png", f"{base}/out?sig=1"
        output = OutputFile(out, 320, 240)
        documents, cutter = clients.documents, clients.cutter
        submissions = [
            await documents.play(ActionsRequest(template, (output,), actions=((picture, "Glow"),))),
            await documents.list_layers(ManifestRequest(template, out)),
            await documents.lay_out(ArtboardRequest((picture, picture), (output,))),
            await documents.edit(EditRequest(picture, out, auto_tone=True)),
            await cutter.auto_crop(CropRequest(picture, ratios=("1:1",))),
            await cutter.cut_out(CutOutRequest(picture)),
        ]
        return [await ended(documents, one) for one in submissions[:4]] + [
            await ended(cutter, one) for one in submissions[4:]
        ]

    before = len(billed(twin))
    with raw_server(store) as server:
        polls = bench.run(
            lambda clients: make(clients, server.url), configured=configured, clock=SystemClock()
        )

    assert [type(poll) for poll in polls] == [Done] * 6, polls
    assert all(poll.outputs[0].url for poll in polls[4:] if isinstance(poll, Done))
    assert len(billed(twin)) == before + 6


def generate(configured: Settings) -> Submission:
    return bench.run(
        lambda clients: clients.images.generate(GENERATE),
        configured=configured,
        clock=SystemClock(),
    )


def fault(twin: str, then: Mapping[str, object], **when: object) -> None:
    control(
        twin,
        "/_twin/faults",
        {"when": {"endpoint": "generate", "times": 1, **when}, "then": then},
        method="POST",
    )


@pytest.mark.parametrize("how", ["close", "reset"])
def test_dropped_answer_of_a_billed_call_is_lost(twin: str, configured: Settings, how: str) -> None:
    """The simulator bills and hangs up: we say unknown, and its list says that it ran."""
    fault(twin, {"kind": "drop", "accept": True, "how": how})
    before = len(billed(twin))

    assert isinstance(generate(configured), OutcomeLost)
    assert len(billed(twin)) == before + 1


@pytest.mark.parametrize(
    ("then", "kind"),
    [
        ({"kind": "answer", "status": 502, "body": "<html>Bad Gateway</html>"}, OutcomeLost),
        ({"kind": "answer", "status": 504, "body": "", "accept": True}, OutcomeLost),
        (
            {"kind": "answer", "status": 503, "body": {"error_code": "model_not_loaded"}},
            NotAccepted,
        ),
        ({"kind": "answer", "status": 202, "body": {"jobId": "1"}, "accept": True}, OutcomeLost),
        ({"kind": "storm", "retry_after": "17"}, NotAccepted),
    ],
)
def test_scripted_answers_are_told_apart(
    twin: str, configured: Settings, then: Mapping[str, object], kind: type[Submission]
) -> None:
    """Gateways leave doubt, Adobe's own words do not."""
    fault(twin, then)

    outcome = generate(configured)

    assert isinstance(outcome, kind)
    if isinstance(outcome, NotAccepted) and outcome.fault.status == 429:
        assert outcome.retry_after == timedelta(seconds=17)
        assert classify(outcome.fault) is FailureClass.THROTTLED


@pytest.mark.parametrize("word", ["failed", "timeout", "canceled", "cancelled"])
def test_bad_ends_are_bad_ends(twin: str, configured: Settings, word: str) -> None:
    """Every terminal word ends the poll as a failure."""
    fault(twin, {"kind": "ends_as", "status": word, "error_code": "runtime_error"})

    async def make(clients: AdobeClients) -> Poll:
        return await ended(clients.images, await clients.images.generate(GENERATE))

    assert isinstance(bench.run(make, configured=configured, clock=SystemClock()), EndedBadly)


def test_lost_record_is_gone(twin: str, configured: Settings) -> None:
    """A status that answers 404 is told as gone."""
    fault(twin, {"kind": "lost"})

    async def make(clients: AdobeClients) -> Poll:
        return await ended(clients.images, await clients.images.generate(GENERATE))

    assert bench.run(make, configured=configured, clock=SystemClock()) == Gone()


def test_revoked_token_costs_one_refusal(twin: str, configured: Settings) -> None:
    """After a revocation a poll goes on by itself; a submit is refused once, then taken."""

    async def revoked(clients: AdobeClients) -> list[object]:
        first = await clients.images.generate(GENERATE)
        assert isinstance(first, Accepted)
        await asyncio.to_thread(control, twin, "/_twin/tokens", method="DELETE")
        polled = await clients.images.poll(first.status_url)
        await asyncio.to_thread(control, twin, "/_twin/tokens", method="DELETE")
        return [polled, *[await clients.images.generate(GENERATE) for _ in range(2)]]

    polled, refused, taken = bench.run(revoked, configured=configured, clock=SystemClock())

    assert not isinstance(polled, (PollFailed, Gone))
    assert isinstance(refused, NotAccepted)
    assert classify(refused.fault) is FailureClass.AUTH
    assert isinstance(taken, Accepted)


def test_expired_url_is_stale_and_a_poll_renews_it(twin: str, configured: Settings) -> None:
    """The first URL has expired, and the status call gives one that works."""
    fault(twin, {"kind": "expired_url", "answers": 1})

    async def make(clients: AdobeClients) -> list[Fetched | FetchFailed]:
        accepted = await clients.images.generate(GENERATE)
        polls = [await ended(clients.images, accepted) for _ in range(2)]
        urls = [poll.outputs[0].url or "" for poll in polls if isinstance(poll, Done)]
        return [await clients.images.fetch(url) for url in urls]

    first, second = bench.run(make, configured=configured, clock=SystemClock())

    assert isinstance(first, FetchFailed)
    assert classify(first.fault) is FailureClass.STALE_REFERENCE
    assert isinstance(second, Fetched)


def test_many_at_once_are_each_billed_once(twin: str, configured: Settings) -> None:
    """Forty submits at the same time are forty jobs and one token."""

    async def storm(clients: AdobeClients) -> tuple[list[Submission], int]:
        sent = await asyncio.gather(*(clients.images.generate(GENERATE) for _ in range(40)))
        return sent, clients.tokens.counts.mints

    before = len(billed(twin))
    sent, mints = bench.run(storm, configured=configured, clock=SystemClock())

    ids = {outcome.vendor_id for outcome in sent if isinstance(outcome, Accepted)}
    assert len(ids) == 40
    assert len(billed(twin)) == before + 40
    assert mints == 1
