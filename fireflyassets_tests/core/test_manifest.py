"""The manifest's format. Here: round trip and naming. Not here: storing it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core import manifest
from fireflyassets.core.job import JobRequest

REQUEST = JobRequest("acme", "spring-launch", "k1", "Glas 👨‍👩‍👧 ", "ar-AE", "ربيع", ("1x1", "2x2"))


@given(prompt=st.text(max_size=40), headline=st.text(max_size=40))
def test_a_manifest_is_read_back(prompt: str, headline: str) -> None:
    """Letter by letter, whatever the text is."""
    request = replace(REQUEST, prompt=prompt, headline=headline)

    assert manifest.load(manifest.dump(request)) == request


def test_equal_bundles_share_a_key_and_others_never_do() -> None:
    """What overwrites an object of manifests is the same bytes."""
    other = replace(REQUEST, prompt="Another")

    assert manifest.bundle([REQUEST]).key == manifest.bundle([replace(REQUEST)]).key
    assert manifest.bundle([REQUEST]).key != manifest.bundle([other]).key
    assert manifest.bundle([REQUEST]).key.startswith("manifests/acme/spring-launch/")


@given(prompts=st.lists(st.text(max_size=40), min_size=1, max_size=9))
def test_each_request_of_a_bundle_is_found_by_its_pointer(prompts: list[str]) -> None:
    """Bytes are counted, not letters, and nobody reads a neighbour's."""
    requests = [replace(REQUEST, prompt=prompt) for prompt in prompts]
    kept = manifest.bundle(requests)

    places = [manifest.place(pointer) for pointer in kept.pointers]

    assert {place.key for place in places} == {kept.key}
    parts = [kept.content[slice(*place.part or (None,))] for place in places]
    assert [manifest.load(part) for part in parts] == requests


def test_an_older_row_points_to_an_object_of_its_own() -> None:
    """Jobs that waited when manifests came to share objects still run."""
    assert manifest.place("manifests/acme/s/job/d.json").part is None


@pytest.mark.parametrize("pointer", ["a#b-c", "a#1"])
def test_what_is_no_pointer_is_not_guessed_at(pointer: str) -> None:
    """A row that points nowhere must not read a whole object for one job."""
    with pytest.raises(ValueError, match="invalid literal"):
        manifest.place(pointer)


@pytest.mark.parametrize("content", [b'{"version": 2}', b"{}", b"nothing"])
def test_another_version_is_not_guessed_at(content: bytes) -> None:
    """A manifest that this code did not write is refused."""
    with pytest.raises(ValueError, match=r"manifest|Expecting"):
        manifest.load(content)
