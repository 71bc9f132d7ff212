"""What every object store promises, whatever keeps its bytes.

Here: whole objects, tags, and URLs as a vendor uses them. Not here: how S3 signs
(`fireflyassets_tests/adapters/aws/test_objects`).
"""

from datetime import timedelta

import pytest

from fireflyassets.core.tags import legal_value
from fireflyassets_tests.contracts.stores import ObjectWorld

KEY = "acme/spring/job-1/1080x1080/hero é+ &.jpg"
TAGS = {"customer": "acme", "generated-by": "firefly-v3-base", "note": "a b+c/d=e:f@g.-"}
JPEG = "image/jpeg"
LIFE = timedelta(minutes=5)


def test_object_reads_back_with_its_tags(object_world: ObjectWorld) -> None:
    """Bytes and the whole tag set come back as they were written."""
    content = bytes(range(256)) * 300

    object_world.store.put(KEY, content, media_type=JPEG, tags=TAGS)

    assert object_world.store.get(KEY) == content
    assert object_world.store.exists(KEY)
    assert object_world.store.tags(KEY) == TAGS


@pytest.mark.parametrize(
    "text",
    [
        "Spring (EU)",
        "Été \u2013 50% off!",
        "🌱",
        "x" * 257,
        "trailing ",
        "",
        "aws:x",
        "\ud83d",
        "a+b&c=d",
    ],
)
def test_any_text_is_taken_in_its_legal_form(object_world: ObjectWorld, text: str) -> None:
    """No store refuses a tag, or keeps another one, whatever a campaign is called."""
    tags = {**TAGS, "campaign": legal_value(text)}

    object_world.store.put(KEY, b"picture", media_type=JPEG, tags=tags)

    assert object_world.store.tags(KEY) == tags


def test_absent_object_is_none(object_world: ObjectWorld) -> None:
    assert object_world.store.get("no/such/key") is None
    assert not object_world.store.exists("no/such/key")
    assert object_world.store.tags("no/such/key") is None


@pytest.mark.parametrize(("part", "told"), [((0, 4), b"0123"), ((4, 6), b"45"), ((8, 99), b"89")])
def test_part_of_an_object(object_world: ObjectWorld, part: tuple[int, int], told: bytes) -> None:
    """Only what was asked for comes, as far as there is any."""
    object_world.store.put(KEY, b"0123456789", media_type=JPEG)

    assert object_world.store.get(KEY, part=part) == told


def test_part_behind_the_end_is_empty(object_world: ObjectWorld) -> None:
    """That is no fault of the store's; an absent object is still none."""
    object_world.store.put(KEY, b"0123456789", media_type=JPEG)

    assert object_world.store.get(KEY, part=(10, 12)) == b""
    assert object_world.store.get("no/such/key", part=(0, 2)) is None


def test_empty_object_is_there(object_world: ObjectWorld) -> None:
    object_world.store.put(KEY, b"", media_type=JPEG)

    assert object_world.store.get(KEY) == b""
    assert object_world.store.exists(KEY)
    assert object_world.store.tags(KEY) == {}


def test_put_replaces_bytes_and_the_whole_tag_set(object_world: ObjectWorld) -> None:
    """Nothing of an overwritten object is left, its tags included."""
    object_world.store.put(KEY, b"old", media_type=JPEG, tags=TAGS)

    object_world.store.put(KEY, b"new", media_type=JPEG, tags={"customer": "other"})

    assert object_world.store.get(KEY) == b"new"
    assert object_world.store.tags(KEY) == {"customer": "other"}


def test_tags_are_replaced_as_a_whole(object_world: ObjectWorld) -> None:
    """Bytes stay; of the older set nothing is left; an absent object is told."""
    object_world.store.put(KEY, b"picture", media_type=JPEG, tags=TAGS)

    assert object_world.store.retag(KEY, {"retention": "held-standard", "legal-hold": "true"})
    assert object_world.store.tags(KEY) == {"retention": "held-standard", "legal-hold": "true"}
    assert object_world.store.get(KEY) == b"picture"
    assert not object_world.store.retag("no/such/key", TAGS)


def test_keys_are_listed_in_slices(object_world: ObjectWorld) -> None:
    """A slice goes on behind the last key of the one before."""
    for number in range(5):
        object_world.store.put(f"slices/{number}", b"x", media_type=JPEG)

    assert object_world.store.keys("slices/", most=2) == ["slices/0", "slices/1"]
    assert object_world.store.keys("slices/", after="slices/1", most=9) == [
        "slices/2",
        "slices/3",
        "slices/4",
    ]
    assert object_world.store.keys("slices/", after="slices/4") == []


def test_vendor_reads_by_a_url(object_world: ObjectWorld) -> None:
    object_world.store.put(KEY, b"template", media_type=JPEG)

    assert object_world.download(object_world.store.read_url(KEY, life=LIFE)) == b"template"


def test_vendor_writes_by_a_url(object_world: ObjectWorld) -> None:
    url = object_world.store.write_url(KEY, media_type=JPEG, life=LIFE)

    object_world.upload(url, b"made", JPEG)

    assert object_world.store.get(KEY) == b"made"


def test_url_to_read_does_not_write(object_world: ObjectWorld) -> None:
    """A vendor that was let read can't change anything."""
    object_world.store.put(KEY, b"ours", media_type=JPEG)
    url = object_world.store.read_url(KEY, life=LIFE)

    with pytest.raises(PermissionError):
        object_world.upload(url, b"theirs", JPEG)

    assert object_world.store.get(KEY) == b"ours"


def test_url_to_write_takes_only_its_media_type(object_world: ObjectWorld) -> None:
    url = object_world.store.write_url(KEY, media_type=JPEG, life=LIFE)

    with pytest.raises(PermissionError):
        object_world.upload(url, b"<html>", "text/html")

    assert not object_world.store.exists(KEY)


def test_keys_are_listed_by_their_beginning_and_deleted(object_world: ObjectWorld) -> None:
    store = object_world.store
    for key in ("dead-letters/b.json", "dead-letters/a.json", "dead-letters.json"):
        store.put(key, b"{}", media_type="application/json")

    assert store.keys("dead-letters/") == ["dead-letters/a.json", "dead-letters/b.json"]

    store.delete("dead-letters/a.json")
    store.delete("dead-letters/a.json")
    assert store.keys("dead-letters/") == ["dead-letters/b.json"]
    assert store.keys("nothing/") == []


def test_a_tag_set_is_replaced_as_a_whole(object_world: ObjectWorld) -> None:
    """The bytes stay; tags that are not named are gone. Where there is no object, it is said."""
    object_world.store.put(KEY, b"x", media_type=JPEG, tags=TAGS)

    assert object_world.store.retag(KEY, {"human-reviewed": "approved"})
    assert not object_world.store.retag("no/such/key", {"a": "b"})

    assert object_world.store.tags(KEY) == {"human-reviewed": "approved"}
    assert object_world.store.get(KEY) == b"x"


def test_a_copy_has_tags_of_its_own(object_world: ObjectWorld) -> None:
    """The original stays as it is. Where there is none, it is said and nothing is written."""
    object_world.store.put(KEY, b"x", media_type=JPEG, tags=TAGS)

    assert object_world.store.copy(KEY, f"rejected/{KEY}", tags={"human-reviewed": "rejected"})
    assert not object_world.store.copy("no/such/key", "other", tags={})

    assert object_world.store.get(f"rejected/{KEY}") == b"x"
    assert object_world.store.tags(f"rejected/{KEY}") == {"human-reviewed": "rejected"}
    assert object_world.store.tags(KEY) == TAGS
    assert not object_world.store.exists("other")
