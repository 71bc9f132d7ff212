"""Renditions on disk: what is kept, and how many really differ."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from fireflyassets.local import pictures
from fireflyassets.local.pictures import THUMBNAIL_PIXELS


def drawn(size: tuple[int, int], *, circle_at: int, quality: int = 90) -> bytes:
    """Return a JPEG of a circle on a gradient."""
    picture = Image.linear_gradient("L").resize(size).convert("RGB")
    radius = size[1] // 6
    middle = (circle_at, size[1] // 2)
    box = [(middle[0] - radius, middle[1] - radius), (middle[0] + radius, middle[1] + radius)]
    ImageDraw.Draw(picture).ellipse(box, fill="crimson")
    content = BytesIO()
    picture.save(content, "JPEG", quality=quality)
    return content.getvalue()


def kept(
    folder: Path, content: bytes, *, aspect: str = "640x360", name: str = "a"
) -> pictures.Rendition:
    return pictures.keep(content, job_id="job", aspect=aspect, name=name, folder=folder)


def test_file_is_kept_untouched_beside_a_small_thumbnail(tmp_path: Path) -> None:
    content = drawn((640, 360), circle_at=200)
    rendition = kept(tmp_path, content)

    assert rendition.file.read_bytes() == content
    assert rendition.file.name == "a-640x360.jpg"
    with Image.open(rendition.thumbnail) as thumbnail:
        assert max(thumbnail.size) == THUMBNAIL_PIXELS
        assert thumbnail.size[0] / thumbnail.size[1] == pytest.approx(640 / 360, abs=0.01)


def test_size_other_than_asked_does_not_fit(tmp_path: Path) -> None:
    content = drawn((640, 360), circle_at=200)

    assert kept(tmp_path, content).fits
    assert not kept(tmp_path, content, aspect="360x640").fits


def test_same_picture_compressed_again_is_not_another_one(tmp_path: Path) -> None:
    """Counting bytes would call every file different."""
    same = [
        kept(tmp_path, drawn((640, 360), circle_at=200, quality=quality), name=str(quality))
        for quality in (90, 70)
    ]
    other = kept(tmp_path, drawn((640, 360), circle_at=440), name="other")

    assert pictures.distinct(same) == 1
    assert pictures.distinct([*same, other]) == 2


def test_bytes_that_are_no_picture_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot identify"):
        kept(tmp_path, b"<html>busy</html>")


def test_truncated_picture_is_refused(tmp_path: Path) -> None:
    content = drawn((640, 360), circle_at=200)

    with pytest.raises(OSError, match="truncated"):
        kept(tmp_path, content[: len(content) // 2])
