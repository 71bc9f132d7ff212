"""Compose: the template's layers filled, one file for each aspect, checked before it counts."""

import io
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from PIL import Image

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.core.campaign import Campaign
from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.font import Font, Metrics, ranges
from fireflyassets.core.status import Status
from fireflyassets.core.text_rule import TextFrame, TextRule
from fireflyassets.core.text_style import TextStyle
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.clock import Clock
from fireflyassets.ports.documents import CompositeRequest
from fireflyassets.ports.paid import EndedBadly, Submission
from fireflyassets.wave.reports import Turn
from fireflyassets_tests.floor import ASPECTS, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue, config
from fireflyassets_tests.paid_services import FakeDocuments, Take

STYLE = TextStyle(font="Brand", size=Decimal(64), leading=Decimal(70))
LETTERS = "Spring 0123"
FONT = Font("Brand", ranges(LETTERS), Metrics(1000, 800, 200, dict.fromkeys(LETTERS, 500)))


def test_each_aspect_is_a_step_of_its_own() -> None:
    """Three aspects, three results of the asked sizes, each with the job's copy in it."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        await here.work([job])
        steps = here.ledger.history(job).steps
        made = {step: one.picture for (step, _), one in steps.items() if step != "art"}
        assert set(made) == {f"layout.{aspect}" for aspect in ASPECTS}
        assert {f"{one.width}x{one.height}" for one in made.values()} == set(ASPECTS)
        assert here.documents.texts == [{"Headline": "Spring 0"}] * 3

    run(scenario)


SQUARE = Path(__file__).parents[2] / "campaigns/acme/spring-launch/1080x1080.psd"


class Square(FixedCatalogue):
    """A catalogue whose one campaign has a real document."""

    def __init__(self) -> None:
        templates = {"1080x1080": "1080x1080.psd"}
        super().__init__(config(aspects=("1080x1080",), templates=templates, recipe=recipe()))

    def template(self, campaign: Campaign, name: str) -> bytes:
        return SQUARE.read_bytes()


class Keeping(FakeDocuments):
    """A Photoshop that says it succeeded and leaves the document as it was."""

    async def compose(self, request: CompositeRequest) -> Submission:
        def deliver() -> None:
            target = io.BytesIO()
            with Image.open(SQUARE) as document:
                document.convert("RGB").save(target, "JPEG")
            self.objects.upload(
                request.output_url, target.getvalue(), media_type=request.media_type
            )

        return self.vendor.submit(deliver)


@pytest.mark.parametrize("keeps", [True, False])
def test_a_slot_that_was_not_filled_is_no_success(*, keeps: bool) -> None:
    """A composite that still shows the template's own picture is paid, named and not delivered."""

    async def scenario() -> None:
        here = floor(catalogue=Square())
        if keeps:
            here.documents = Keeping(here.clock, here.objects)
        (job,) = here.order(1, aspects=("1080x1080",))
        await here.work([job])
        row = here.row(job)
        assert row.status is (Status.REVIEW if keeps else Status.SUCCEEDED)
        assert ("'Hero'" in (row.reason or "")) is keeps
        assert here.documents.vendor.sent == 1

    run(scenario)


class Styled(FixedCatalogue):
    """A catalogue whose one campaign declares a style, and a rule if given, for its headline."""

    def __init__(self, rule: TextRule | None = None) -> None:
        templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
        super().__init__(config(aspects=ASPECTS, templates=templates, recipe=recipe()))
        self._frame = TextFrame(STYLE, (250.0, 140.0), {"en-GB": rule} if rule else {})

    def campaign(self, customer: str, campaign: str) -> Campaign:
        found = super().campaign(customer, campaign)
        frames = {one: {"Headline": self._frame} for one in ASPECTS}
        return replace(found, frames=frames, fonts={"Brand": FONT})


class Remembering(FakeDocuments):
    """A Photoshop that keeps what it was asked."""

    def __init__(self, clock: Clock, objects: MemoryObjects) -> None:
        super().__init__(clock, objects)
        self.asked: list[CompositeRequest] = []

    async def compose(self, request: CompositeRequest) -> Submission:
        self.asked.append(request)
        return await super().compose(request)


def test_words_go_out_with_the_style_of_their_layer() -> None:
    """What the document declares is pinned with the campaign, and each edit sends it whole."""

    async def scenario() -> None:
        here = floor(catalogue=Styled())
        here.documents = documents = Remembering(here.clock, here.objects)
        (job,) = here.order(1)
        await here.work([job])
        assert [request.styles for request in documents.asked] == [{"Headline": STYLE}] * 3

    run(scenario)


@pytest.mark.parametrize(
    ("rule", "words", "size", "leading"),
    [
        ({}, "Spring 0", "64", "70"),
        ({"fit": "shrink", "shrink_to": 90, "max_lines": 1}, "Spring 0", "62.08", "67.90"),
        ({"fit": "lines", "max_lines": 2}, "Spring\r0", "64", "70"),
    ],
)
def test_words_are_sent_as_their_rule_has_them_set(
    rule: dict[str, object], words: str, size: str, leading: str
) -> None:
    """Smaller type with its leading, or the breaks: what was measured is what is asked for.

    Eight letters of half an em are 256 px in a box of 250.
    """

    async def scenario() -> None:
        said = {"budget": 38, "fonts": ("Brand",)} | rule
        here = floor(catalogue=Styled(TextRule.model_validate(said)))
        here.documents = documents = Remembering(here.clock, here.objects)
        await here.work(here.order(1))
        assert [request.texts for request in documents.asked] == [{"Headline": words}] * 3
        style = documents.asked[0].styles["Headline"]
        assert (style.size, style.leading) == (Decimal(size), Decimal(leading))
        assert documents.asked[0].styles["Headline"].font == "Brand"

    run(scenario)


def test_results_outlive_the_temporary_key() -> None:
    """What the service wrote expires after a day; the checked file lies elsewhere."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        await here.work([job])
        steps = here.ledger.history(job).steps
        assert all(not one.picture.key.startswith("_tmp/") for one in steps.values())
        assert all(here.objects.exists(one.picture.key) for one in steps.values())

    run(scenario)


def test_each_send_writes_to_a_key_of_its_own() -> None:
    """A retry never overwrites what an earlier send may still be writing."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        failed = EndedBadly(Fault(Family.PHOTOSHOP, None, "500600"))
        here.documents.vendor.script.append(Take(ending=failed, writes=False))
        await here.work([job])
        keys = [one.output_key for one in here.ledger.history(job).attempts if one.output_key]
        assert len(keys) == 4
        assert len(set(keys)) == 4

    run(scenario)


def test_a_success_that_wrote_nothing_is_no_success() -> None:
    """Done, and no file under the key: the job ends for a person to see, unpublished."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        here.documents.vendor.script.append(Take(writes=False))
        ended = await here.work([job])
        assert ended[job].turn is Turn.FAILED
        assert "wrote nothing" in (ended[job].reason or "")
        assert here.row(job).status is Status.REVIEW
        assert here.row(job).outputs == ()

    run(scenario)


def test_one_bad_aspect_waits_for_the_others() -> None:
    """A refused aspect ends the job only when nothing paid of it is in flight any more."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        refused = EndedBadly(Fault(Family.PHOTOSHOP, None, "400401"))
        here.documents.vendor.script.extend([Take(ending=refused), Take(seconds=30.0)])
        ended = await here.work([job])
        steps = here.ledger.history(job).steps
        assert ended[job].turn is Turn.FAILED
        assert len([step for step, _ in steps if step.startswith("layout.")]) == 2

    run(scenario)
