"""The list of layers. Here: what is read of it, and that nothing makes it raise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core import layer_list

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["layers", "children", "name", "document", "outputs", "width"]), inner
        )
    ),
)


def test_layers_of_all_groups_are_named() -> None:
    """Groups in groups, one list for a document or one for each output."""
    inner = {"name": "Group", "children": [{"name": "Hero"}, {"name": "Deep", "children": []}]}
    said = {"document": {"width": 1080, "height": 1920}, "layers": [{"name": "Headline"}, inner]}

    for body in (said, {"outputs": [said]}):
        listed = layer_list.read(json.dumps(body).encode())
        assert listed == layer_list.LayerList(
            1080, 1920, frozenset({"Headline", "Group", "Hero", "Deep"})
        )


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'"x"', b"\xff", b'{"layers": 1}', b"[" * 9999]
)
def test_what_is_no_list_is_none(content: bytes) -> None:
    """An empty file, another file, half a file."""
    assert layer_list.read(content) is None


@given(JSON)
def test_nothing_makes_it_raise(said: object) -> None:
    """Whatever JSON it is, the answer is a list or none."""
    listed = layer_list.read(json.dumps(said).encode())

    assert listed is None or listed.width >= 0
