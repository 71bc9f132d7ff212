"""Deliver: final keys, whole tag sets, disclosures; nothing without them counts as delivered."""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import replace

from jsonschema_rs import validator_for
from PIL import Image

from fireflyassets.adapters.memory.objects import MemoryObjects
from fireflyassets.adapters.pillow import PillowPictures
from fireflyassets.core import ids
from fireflyassets.core.campaign import ReviewMode, load
from fireflyassets.core.disclosure import SourceType, source_type
from fireflyassets.core.naming import creative_id
from fireflyassets.core.schemas import document
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
            name = f"spring-launch_job-0_en-GB_{aspect}_{creative_id(job, aspect, 1)}.jpg"
            assert key == f"acme/spring-launch/{job}/{aspect}/{name}"

    run(scenario)


def test_a_campaign_names_its_files() -> None:
    """By its own template, and its version changes with it."""

    async def scenario() -> None:
        templates = {aspect: f"{aspect}.psd" for aspect in ASPECTS}
        of = {"aspects": ASPECTS, "templates": templates, "recipe": recipe()}
        named = config(**of, naming="ACME_{locale}_{creative_id}")
        here = floor(catalogue=FixedCatalogue(named))
        (job,) = here.order(1)
        await here.work([job])
        for key, aspect in zip(here.row(job).outputs, ASPECTS, strict=True):
            assert key.endswith(f"/{aspect}/ACME_en-GB_{creative_id(job, aspect, 1)}.jpg")
        assert load(named, {}).version != load(config(**of), {}).version

    run(scenario)


def test_every_file_says_who_made_it() -> None:
    """Embedded behind the last pixel step: the composed rendition and its file have one picture."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        await here.work([job])
        made = here.ledger.history(job).steps
        for key, aspect in zip(here.row(job).outputs, ASPECTS, strict=True):
            file = here.objects.objects[key].content
            composed = here.objects.objects[made[f"layout.{aspect}", 1].picture.key].content
            packet = PillowPictures().xmp(file) or b""
            assert source_type(packet) is SourceType.COMPOSITE
            assert creative_id(job, aspect, 1).encode() in packet
            assert PillowPictures().xmp(composed) is None
            assert pixels(file) == pixels(composed)

    run(scenario)


def test_a_sidecar_tells_of_each_file() -> None:
    """By its schema; its hashes are those of the file and of the untouched original."""

    async def scenario() -> None:
        here = floor()
        (job,) = here.order(1)
        await here.work([job])
        stored = here.objects.objects
        for key, aspect in zip(here.row(job).outputs, ASPECTS, strict=True):
            beside = stored[ids.sidecar_key(key)]
            said = json.loads(beside.content)
            validator_for(document("sidecar")).validate(said)
            (original,) = said["originals"]
            assert said["file"]["sha256"] == hashlib.sha256(stored[key].content).hexdigest()
            assert said["file"]["bytes"] == len(stored[key].content)
            assert original["sha256"] == hashlib.sha256(stored[original["key"]].content).hexdigest()
            assert (said["aspect"], said["jobId"], said["concept"]) == (aspect, job, "job-0")
            assert said["digitalSourceType"].endswith("compositeWithTrainedAlgorithmicMedia")
            assert "bottle" not in str(said), "the prompt stays in the house"
            assert beside.tags == stored[key].tags

    run(scenario)


def pixels(content: bytes) -> bytes:
    with Image.open(io.BytesIO(content)) as picture:
        return picture.tobytes()


class Blind(PillowPictures):
    """A reader that finds no XMP, as if it had been written where nobody looks."""

    def xmp(self, content: bytes) -> bytes | None:
        assert content
        return None


def test_a_file_whose_disclosure_is_not_found_is_not_delivered() -> None:
    """It is read back before it is written: nothing undisclosed gets a final key."""

    async def scenario() -> None:
        here = floor()
        here.shop = replace(here.shop, pictures=Blind())
        (job,) = here.order(1)
        ended = await here.work([job])
        assert ended[job].turn is Turn.FAILED
        assert not [key for key in here.objects.objects if key.startswith("acme/")]

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
