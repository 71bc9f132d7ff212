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


def test_equal_requests_share_a_key_and_others_never_do() -> None:
    """What overwrites a manifest is the same bytes."""
    other = replace(REQUEST, prompt="Another")

    assert manifest.key_of("job", REQUEST) == manifest.key_of("job", replace(REQUEST))
    assert manifest.key_of("job", REQUEST) != manifest.key_of("job", other)
    assert manifest.key_of("job", REQUEST).startswith("manifests/acme/spring-launch/job/")


@pytest.mark.parametrize("content", [b'{"version": 2}', b"{}", b"nothing"])
def test_another_version_is_not_guessed_at(content: bytes) -> None:
    """A manifest that this code did not write is refused."""
    with pytest.raises(ValueError, match=r"manifest|Expecting"):
        manifest.load(content)
