"""Deliver: final keys, whole tag sets, read back; nothing untagged counts as delivered."""

from collections.abc import Mapping

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.pillow import PillowPictures
from fireflyassets.core.campaign import ReviewMode
from fireflyassets.core.status import Status
from fireflyassets.limiter.virtual_time import run
from fireflyassets.wave.reports import Check, Checked, Turn
from fireflyassets_tests.floor import ASPECTS, floor, recipe
from fireflyassets_tests.front_door import FixedCatalogue, config


def test_keys_say_what_they_hold() -> None:
    """customer/campaign/job/aspect/file, and the file's name stands on its own."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        await here.work([job])
        for key, aspect in zip(here.row(job).outputs, ASPECTS, strict=True):
            assert key == (
                f"acme/spring-launch/{job}/{aspect}/spring-launch_en-GB_{aspect}_{job[:8]}.jpg"
            )

    run(scenario)


class Forgetful(MemoryObjects):
    """A store that loses tags, as a multipart upload does somewhere."""

    def put(
        self, key: str, content: bytes, *, media_type: str, tags: Mapping[str, str] | None = None
    ) -> None:
        super().put(key, content, media_type=media_type)


def test_untagged_files_fail_the_job() -> None:
    """Tags are read back after the write: a job whose tags are lost is not published."""

    async def scenario() -> None:
        here = floor()
        forgetful = Forgetful()
        here.use_objects(forgetful)
        (job,) = here.order(1)
        ended = await here.work([job])
        check = next(
            one for one in here.reports if isinstance(one, Checked) and one.check is Check.TAGGING
        )
        assert not check.passed
        assert ended[job].turn is Turn.FAILED
        assert here.row(job).status is Status.DLQ
        assert here.row(job).outputs == ()

    run(scenario)


def test_a_row_knows_how_its_outputs_look_and_stays_while_they_are_reviewed() -> None:
    """Reviewers see near pictures together, and what waits for them does not expire."""

    async def scenario() -> None:
        templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
        reviewed = config(
            aspects=ASPECTS, templates=templates, recipe=recipe(), review=ReviewMode.REQUIRED
        )
        here = floor(catalogue=FixedCatalogue(reviewed))
        (job,) = here.order(1)
        await here.work([job])
        row = here.row(job)
        contents = [here.objects.get(key) or b"" for key in row.outputs]
        assert row.looks == tuple(map(PillowPictures().perceptual, contents))
        assert row.ttl is None

    run(scenario)
