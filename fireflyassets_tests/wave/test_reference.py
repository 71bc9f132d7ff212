"""A picture that comes with a job. Here: which steps take it, and that it counts for none."""

import hashlib

from fireflyassets.core import ids
from fireflyassets.core.brief import Row
from fireflyassets.core.recipe import Recipe
from fireflyassets.core.request import RawRequest
from fireflyassets.limiter.virtual_time import run
from fireflyassets.ports.entries import Recorded
from fireflyassets.ports.images import Linked, SimilarRequest
from fireflyassets.stages.notify import is_published
from fireflyassets.wave.reports import Made, Turn
from fireflyassets_tests.floor import Floor, floor
from fireflyassets_tests.front_door import CAMPAIGN, CUSTOMER, FixedCatalogue, card, config
from fireflyassets_tests.paid_services import jpeg

SIZE = "16x16"
ART = {"name": "art", "kind": "generate", "size": SIZE}
LIKE = {"name": "like", "kind": "similar", "size": SIZE}


def floor_of(*steps: dict[str, object]) -> Floor:
    said = config(
        recipe=Recipe.model_validate({"steps": steps}), aspects=(SIZE,), templates={}, fonts=()
    )
    return floor(catalogue=FixedCatalogue(said, cards=(card(edits={"similar": "1"}),)))


def order(here: Floor, content: bytes | None) -> str:
    """Record a job, with a picture if there is one."""
    name = ""
    if content is not None:
        name = f"{hashlib.sha256(content).hexdigest()}-9x9-{len(content)}.jpg"
        here.objects.put(ids.reference_key(CUSTOMER, name), content, media_type="image/jpeg")
    raw = RawRequest("k", "a bottle", "en-GB", "Spring", (SIZE,), name)
    (told,) = here.intake.accept([Row(None, raw)], customer=CUSTOMER, campaign=CAMPAIGN)
    assert isinstance(told, Recorded)
    return told.row.job_id


def test_a_step_takes_the_picture_that_came_with_the_job() -> None:
    """Its very bytes, by a URL signed just now; what was made is the step's alone."""

    async def scenario() -> None:
        here = floor_of({**LIKE, "picture": "reference.picture"})
        content = jpeg(9, 9)
        job = order(here, content)

        ended = await here.work([job])

        assert ended[job].turn is Turn.SUCCEEDED
        (asked,) = here.images.edits
        assert isinstance(asked, SimilarRequest)
        assert isinstance(asked.source, Linked)
        assert here.objects.download(asked.source.url) == content
        made = [
            one for report in here.reports if isinstance(report, Made) for one in report.results
        ]
        assert [one.step for one in made] == ["like"]
        assert sum(one.operations for one in made) == here.row(job).cost_actual
        assert is_published(here.row(job))

    run(scenario)


def test_a_job_without_a_picture_goes_on_from_what_was_made() -> None:
    """Where the recipe names both, the picture that came goes first."""

    async def sources(content: bytes | None) -> list[bytes]:
        here = floor_of(ART, {**LIKE, "picture": "reference.picture or art.picture"})
        job = order(here, content)
        ended = await here.work([job])
        assert ended[job].turn is Turn.SUCCEEDED
        asked = [one for one in here.images.edits if isinstance(one, SimilarRequest)]
        return [here.objects.download(one.source.url) for one in asked]  # pyright: ignore[reportAttributeAccessIssue]

    async def scenario() -> None:
        assert await sources(jpeg(9, 9)) == [jpeg(9, 9)]
        assert await sources(None) == [jpeg(16, 16)]

    run(scenario)
