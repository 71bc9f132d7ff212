"""Steps that make a picture out of pictures: what goes out, what is kept, what is paid."""

import io
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from decimal import Decimal

from PIL import Image

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.money import Kind
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.images import FillRequest, Linked, Source, Uploaded
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.ports.references import UploadFailed
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.free_services import FakeReferences
from fireflyassets_tests.front_door import FixedCatalogue, card, config
from fireflyassets_tests.paid_services import Take, size

LONG: list[Mapping[str, object]] = [
    {"name": "art", "kind": "generate", "size": "20x20"},
    {"name": "wider", "kind": "expand", "picture": "art.picture", "size": "40x20"},
    {"name": "cut", "kind": "remove-background", "picture": "wider.picture", "mode": "mask"},
    {
        "name": "filled",
        "kind": "fill",
        "picture": "wider.picture",
        "mask": "cut.picture",
        "size": "40x20",
        "prompt": "job.prompt",
    },
    {"name": "like", "kind": "similar", "picture": "filled.picture", "size": "16x16"},
    {"name": "lit", "kind": "edit", "picture": "like.picture", "auto_tone": True},
    {"name": "big", "kind": "upscale", "picture": "lit.picture", "factor": 2},
]
PRICES = card(edits={kind: Decimal("0.25") for kind in Kind})


def workshop(*steps: Mapping[str, object], aspect: str) -> Floor:
    """Return a floor whose campaign delivers its last picture."""
    asked = config(aspects=(aspect,), templates={}, recipe={"steps": steps})
    return floor(catalogue=FixedCatalogue(asked, cards=(PRICES,)))


def ordered(here: Floor) -> str:
    """Order one job for the one aspect there is."""
    (campaign,) = here.shop.catalogue.campaigns().values()
    (job,) = here.order(1, aspects=campaign.config.aspects)
    return job


async def worked(here: Floor) -> str:
    """Order one job and run it."""
    job = ordered(here)
    await here.work([job])
    return job


def test_a_long_recipe_ends_in_its_last_picture() -> None:
    """Seven calls of two services, each made from the picture before, each in the books."""

    async def scenario() -> None:
        here = workshop(*LONG, aspect="32x32")
        job = await worked(here)
        row, history = here.row(job), here.ledger.history(job)
        assert row.status is Status.SUCCEEDED
        assert row.cost_estimate == row.cost_actual == Decimal("2.0")
        sizes = {
            step: (made.picture.width, made.picture.height)
            for (step, _), made in history.steps.items()
        }
        assert sizes == {
            "art": (20, 20),
            "wider": (40, 20),
            "cut": (40, 20),
            "filled": (40, 20),
            "like": (16, 16),
            "lit": (16, 16),
            "big": (32, 32),
        }
        (key,) = row.outputs
        assert size(here.objects.get(key) or b"") == (32, 32)
        books_agree(here)

    run(scenario)


def test_a_file_is_named_after_what_it_is() -> None:
    """A cut-out is a PNG, at rest and delivered."""

    async def scenario() -> None:
        cut = {"name": "cut", "kind": "remove-background", "picture": "art.picture"}
        here = workshop(LONG[0], cut, aspect="20x20")
        job = await worked(here)
        made = here.ledger.history(job).steps["cut", 1].picture
        assert (made.media_type, made.key[-4:]) == ("image/png", ".png")
        assert here.row(job).outputs[0].endswith(".png")

    run(scenario)


def test_a_finished_picture_is_not_made_again() -> None:
    """A step that fails is tried again from its own inputs; what is done stays done."""

    async def scenario() -> None:
        here = workshop(*LONG[:2], aspect="40x20")
        job = ordered(here)
        here.images.vendor.script.extend(
            [Take(), NotAccepted(Fault(Family.FIREFLY, 429, "rate_limited"), timedelta(hours=1))]
        )
        await here.work([job])
        await here.clock.sleep(timedelta(hours=2))
        await here.work([job])
        assert here.row(job).status is Status.SUCCEEDED
        assert len(here.images.vendor.billed) == 2
        books_agree(here)

    run(scenario)


def test_a_lost_edit_is_decided_by_its_own_key() -> None:
    """What Photoshop writes to a key of ours needs no person: it waits, looks, and is bound."""

    async def scenario() -> None:
        lit = {"name": "lit", "kind": "edit", "picture": "art.picture", "auto_tone": True}
        here = workshop(LONG[0], lit, aspect="20x20")
        job = ordered(here)
        here.documents.vendor.script.append(Take(silent=True))
        ended = await here.work([job])
        assert turns(ended) == ["parked"]
        await here.clock.sleep(timedelta(minutes=76))
        await here.work([job])
        assert here.row(job).status is Status.SUCCEEDED
        assert len(here.documents.vendor.billed) == 1

    run(scenario)


def test_a_lost_cut_out_is_held() -> None:
    """The vendor keeps that file itself, so nobody but a person can tell what became of it."""

    async def scenario() -> None:
        cut = {"name": "cut", "kind": "remove-background", "picture": "art.picture"}
        here = workshop(LONG[0], cut, aspect="20x20")
        job = ordered(here)
        here.documents.vendor.script.append(Take(silent=True))
        ended = await here.work([job])
        assert turns(ended) == ["held"]

    run(scenario)


class Uploading(FakeReferences):
    """A vendor that fetches no URL of ours."""

    def __init__(self, *answers: UploadFailed) -> None:
        self.answers = list(answers)
        self.forgotten: list[bytes] = []

    async def offer(
        self, url: str, content: Callable[[], Awaitable[bytes]]
    ) -> Source | UploadFailed:
        if self.answers:
            return self.answers.pop(0)
        return await self.upload(await content())

    async def forget(self, content: bytes) -> None:
        self.forgotten.append(content)


def test_a_vendor_that_fetches_nothing_gets_uploads() -> None:
    """Pictures whose URL it does not take are uploaded, and named by their ids in the call."""

    async def scenario() -> None:
        here = workshop(*LONG[:4], aspect="40x20")
        here.references = Uploading()
        await worked(here)
        fill = here.images.edits[-1]
        assert isinstance(fill, FillRequest)
        assert isinstance(fill.source, Uploaded)
        assert isinstance(fill.mask.source, Uploaded)
        assert fill.source != fill.mask.source

    run(scenario)


def test_an_upload_that_fails_for_now_sends_nothing() -> None:
    """Uploads come before the send: their trouble delays the job, and no send looks lost."""

    async def scenario() -> None:
        here = workshop(*LONG[:2], aspect="40x20")
        here.references = Uploading(UploadFailed(Fault(Family.FIREFLY, 503, "model_not_loaded")))
        job = ordered(here)
        first = await here.work([job])
        assert turns(first) == ["parked"]
        await here.clock.sleep(timedelta(minutes=10))
        await here.work([job])
        assert here.row(job).status is Status.SUCCEEDED
        assert [one.n for one in here.ledger.history(job).attempts if one.step == "wider"] == [1]

    run(scenario)


def test_an_upload_that_is_refused_ends_the_job() -> None:
    """A picture that the vendor's storage never takes is for a person."""

    async def scenario() -> None:
        here = workshop(*LONG[:2], aspect="40x20")
        refusal = Fault(Family.FIREFLY, None, "refused_locally", "source")
        here.references = Uploading(UploadFailed(refusal))
        job = ordered(here)
        await here.work([job])
        assert here.row(job).status is Status.REVIEW
        assert len(here.images.vendor.billed) == 1

    run(scenario)


def test_a_deep_mask_goes_out_with_8_bits() -> None:
    """Of what a vendor would clip to white a plain copy is sent; the original stays as it came."""

    async def scenario() -> None:
        here = workshop(*LONG[:4], aspect="40x20")
        here.documents.cuts_in = "I;16"
        job = await worked(here)
        assert here.row(job).status is Status.SUCCEEDED
        fill = here.images.edits[-1]
        assert isinstance(fill, FillRequest)
        assert isinstance(fill.mask.source, Linked)
        sent = here.objects.download(fill.mask.source.url)
        kept = here.objects.get(here.ledger.history(job).steps["cut", 1].picture.key) or b""
        with Image.open(io.BytesIO(sent)) as plain, Image.open(io.BytesIO(kept)) as deep:
            assert (plain.mode, deep.mode) == ("L", "I;16")

    run(scenario)


def test_a_picture_of_unknown_colours_is_refused_before_it_is_paid() -> None:
    """CMYK without a profile: nobody knows what it shows, so that nothing is made out of it."""

    async def scenario() -> None:
        played = {
            "name": "played",
            "kind": "execute-actions",
            "picture": "art.picture",
            "action_json": [{"_obj": "convertMode"}],
        }
        here = workshop(LONG[0], played, {**LONG[1], "picture": "played.picture"}, aspect="40x20")
        here.documents.plays_in = "CMYK"
        job = await worked(here)
        row = here.row(job)
        assert row.status is Status.REVIEW
        assert "at picture: it is CMYK without a profile" in (row.reason or "")
        assert len(here.images.vendor.billed) == 1
        books_agree(here)

    run(scenario)
