"""Recipes of all kinds of steps: routed by a manifest, gone on from a composite, resumed, paid."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal

import pytest

from fireflyassets.core.failure import Family, Fault
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.paid import NotAccepted
from fireflyassets.wave.sweeping import YOUNG, Sweep
from fireflyassets_tests.books import books_agree
from fireflyassets_tests.floor import Floor, floor, turns
from fireflyassets_tests.front_door import FixedCatalogue, config
from fireflyassets_tests.paid_services import Take, size
from fireflyassets_tests.stages.test_deliver import pixels
from fireflyassets_tests.stages.test_picture_calls import PRICES, worked, workshop

ASPECTS = ("32x18", "18x32")
ART: Mapping[str, object] = {"name": "art", "kind": "generate", "size": "40x20"}
LAYERS = {"probe": ["Hero", "Headline"]}
LONG: list[Mapping[str, object]] = [
    ART,
    {"name": "probe", "kind": "generate-manifest", "template": "32x18"},
    {
        "name": "subject",
        "kind": "auto-crop",
        "picture": "art.picture",
        "ratio": "4:3",
        "when": {"layers": LAYERS},
    },
    {"name": "wide", "kind": "expand", "picture": "subject.picture", "size": "48x27"},
    {
        "name": "layout",
        "kind": "compose",
        "inputs": {"Hero": "wide.picture or art.picture", "Headline": "job.headline"},
    },
    {
        "name": "graded",
        "kind": "execute-actions",
        "picture": "layout.picture",
        "actions": [{"file": "grade.atn", "action": "Warm"}],
    },
]
"""Four calls for a job and two for each of its aspects."""


def studio(*steps: Mapping[str, object]) -> Floor:
    """Return a floor whose campaign has two aspects, each with a template."""
    templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
    asked = config(aspects=ASPECTS, templates=templates, recipe={"steps": steps})
    return floor(catalogue=FixedCatalogue(asked, cards=(PRICES,)))


def ordered(here: Floor) -> str:
    """Order one job for both aspects."""
    (job,) = here.order(1, aspects=ASPECTS)
    return job


def steps_of(here: Floor, job: str) -> dict[str, tuple[int, int]]:
    """Return each finished step with the size of what it made."""
    return {
        step: (made.picture.width, made.picture.height)
        for (step, _), made in here.ledger.history(job).steps.items()
    }


def test_a_long_recipe_runs_end_to_end() -> None:
    """Manifest, crop, expand, composite and action: each made of the one before, each booked."""

    async def scenario() -> None:
        here = studio(*LONG)
        job = ordered(here)
        await here.work([job])
        row = here.row(job)
        assert row.status is Status.SUCCEEDED
        assert row.cost_estimate == row.cost_actual == Decimal("3.75")
        assert steps_of(here, job) == {
            "art": (40, 20),
            "probe": (0, 0),
            "subject": (24, 18),
            "wide": (48, 27),
            "layout.32x18": (32, 18),
            "layout.18x32": (18, 32),
            "graded.32x18": (32, 18),
            "graded.18x32": (18, 32),
        }
        made = here.ledger.history(job).steps
        delivered = {key: here.objects.get(key) for key in row.outputs}
        assert len(delivered) == len(ASPECTS)
        for key, content in delivered.items():
            aspect = f"{size(content or b'')[0]}x{size(content or b'')[1]}"
            graded = here.objects.get(made[f"graded.{aspect}", 1].picture.key)
            assert pixels(content or b"") == pixels(graded or b""), key
        assert {request.actions[0][1] for request in here.documents.played} == {"Warm"}
        books_agree(here)

    run(scenario)


def test_a_manifest_routes_the_recipe() -> None:
    """Where the document lacks a layer, crop and expand are left out, and not paid."""

    async def scenario() -> None:
        here = studio(*LONG)
        here.documents.listed = {"layers": [{"name": "Group", "children": [{"name": "Hero"}]}]}
        job = ordered(here)
        await here.work([job])
        assert here.row(job).status is Status.SUCCEEDED
        assert not {"subject", "wide"} & set(steps_of(here, job))
        assert here.row(job).cost_actual == here.row(job).cost_estimate - Decimal("0.50")
        books_agree(here)

    run(scenario)


def test_a_job_goes_on_at_the_step_that_failed() -> None:
    """What was made before a refusal is kept, and only the rest is sent and paid again."""

    async def scenario() -> None:
        here = studio(*LONG)
        job = ordered(here)
        refused = NotAccepted(Fault(Family.FIREFLY, 403, "quota_exhausted"))
        here.images.vendor.script.extend([Take(), refused])
        await here.work([job])
        assert here.row(job).status is Status.DLQ
        assert set(steps_of(here, job)) == {"art", "probe", "subject"}
        before = len(here.documents.vendor.billed)
        await here.clock.sleep(timedelta(minutes=16))  # Until its breaker lets a call through.
        await here.work([job])
        assert here.row(job).status is Status.SUCCEEDED
        assert len(here.images.vendor.billed) == 2
        assert len(here.documents.vendor.billed) == before + 2 * len(ASPECTS)
        books_agree(here)

    run(scenario)


@pytest.mark.parametrize("lost", [0, 2, 4], ids=["manifest", "composite", "actions"])
def test_lost_answers_are_decided_by_their_own_key(lost: int) -> None:
    """A manifest, a composite and an action write to keys of ours: no person and no second send."""

    async def scenario() -> None:
        steps = [dict(step) for step in LONG if step["name"] not in {"subject", "wide"}]
        steps[2]["inputs"] = {"Hero": "art.picture", "Headline": "job.headline"}
        here = studio(*steps)
        job = ordered(here)
        # One call of the manifest, then two of each further step.
        here.documents.vendor.script.extend([*[Take()] * lost, Take(silent=True)])
        assert turns(await here.work([job])) == ["parked"]
        await here.clock.sleep(timedelta(minutes=76))
        await here.work([job])
        assert here.row(job).status is Status.SUCCEEDED
        assert len(here.documents.vendor.billed) == 5

    run(scenario)


def test_a_lost_crop_is_held() -> None:
    """The vendor keeps a crop itself, so nobody but a person can tell what became of it."""

    async def scenario() -> None:
        here = studio(*LONG)
        job = ordered(here)
        here.documents.vendor.script.extend([Take(), Take(silent=True)])
        assert turns(await here.work([job])) == ["held"]

    run(scenario)


def test_an_action_without_an_owner_is_collected() -> None:
    """A result of one aspect that nobody waits for any more is bound by the sweep."""

    async def scenario() -> None:
        here = studio(*LONG)
        job = ordered(here)
        slow = Take(seconds=timedelta(minutes=25).total_seconds())
        here.documents.vendor.script.extend([Take()] * 5 + [slow])
        await here.work([job])
        assert here.row(job).status is Status.DLQ
        await here.clock.sleep(YOUNG + timedelta(minutes=10))
        await Sweep(here.shop).run(after=None, most=100)
        assert {"graded.32x18", "graded.18x32"} <= set(steps_of(here, job))
        books_agree(here)

    run(scenario)


def test_pictures_are_put_side_by_side() -> None:
    """An artboard is one picture of its own size, made of any earlier ones."""

    async def scenario() -> None:
        board = {
            "name": "board",
            "kind": "create-artboard",
            "pictures": ["art.picture", "art.picture"],
            "size": "90x20",
            "spacing": 10,
        }
        here = workshop(ART, board, aspect="90x20")
        job = await worked(here)
        assert here.row(job).status is Status.SUCCEEDED
        assert size(here.objects.get(here.row(job).outputs[0]) or b"") == (90, 20)
        books_agree(here)

    run(scenario)


def test_a_list_of_layers_that_is_none_is_a_defect() -> None:
    """What Photoshop wrote instead of a list routes nothing; it is paid and stays booked."""

    async def scenario() -> None:
        here = studio(*LONG)
        here.documents.listed = "none"
        job = ordered(here)
        await here.work([job])
        row = here.row(job)
        assert row.status is Status.REVIEW
        assert "no list of layers" in (row.reason or "")
        books_agree(here)

    run(scenario)


V4: Mapping[str, object] = {"name": "art", "kind": "generate-v4", "ratio": "16:9"}
LAYOUT: Mapping[str, object] = {
    "name": "layout",
    "kind": "compose",
    "inputs": {"Hero": "art.picture"},
}


def test_version_4_chooses_the_size_within_the_ratio() -> None:
    """A picture of version 4 is taken in whatever size it has, and its model is told."""

    async def scenario() -> None:
        here = studio(V4, LAYOUT)
        job = ordered(here)
        await here.work([job])
        assert here.row(job).status is Status.SUCCEEDED
        assert steps_of(here, job)["art"] == (64, 36)
        assert here.objects.tags(here.row(job).outputs[0])["generated-by"] == "firefly-image5"
        books_agree(here)

    run(scenario)


def test_version_4_keeps_to_the_ratio() -> None:
    """Another ratio than was asked for is not used, though it is paid."""

    async def scenario() -> None:
        here = studio(V4, LAYOUT)
        here.images.v4_size = (64, 64)
        job = ordered(here)
        await here.work([job])
        assert here.row(job).status is Status.REVIEW
        assert "64x64 pixels, which is not 16:9" in (here.row(job).reason or "")

    run(scenario)


@pytest.mark.parametrize(
    ("made", "told"),
    [("40x20", "512x512"), ("4000x600", "at most 5 times"), ("3000x1500", "2048x2048")],
)
def test_version_4_refuses_a_reference_before_it_is_paid(made: str, told: str) -> None:
    """Area and ratio of a reference are looked at before anything is sent, with field and fix."""

    async def scenario() -> None:
        asked = {"name": "art", "kind": "generate-v4", "picture": "base.picture"}
        here = studio({**ART, "name": "base", "size": made}, asked, LAYOUT)
        job = ordered(here)
        await here.work([job])
        row = here.row(job)
        assert row.status is Status.REVIEW
        assert "at picture" in (row.reason or "")
        assert told in (row.reason or "")
        assert len(here.images.vendor.billed) == 1

    run(scenario)
