"""The demo's course where a service goes away: the dead one is named, and no URL's query."""

from pathlib import Path

import httpx
import pytest

from fireflyassets.core.errors import ServiceDown
from fireflyassets.local import demo
from fireflyassets.local.access import Access
from fireflyassets.local.folder import StateFolder
from fireflyassets.local.stack import Stack, stopped_at_the_end
from fireflyassets_tests.local.programs import DYING_LATER, SLEEPER, service


def test_service_that_stops_answering_before_it_is_dead_is_named(tmp_path: Path) -> None:
    """A killed process refuses connections a moment before its parent can see that it ended."""
    stack = Stack(StateFolder(tmp_path), Access({}, {}), lambda _: None)
    with stopped_at_the_end(stack):
        stack.start(
            (
                (
                    service(tmp_path, SLEEPER, name="api"),
                    service(tmp_path, DYING_LATER, name="aws"),
                ),
            )
        )

        with pytest.raises(ServiceDown, match=r"^aws died \(exit code 3\)"):
            demo._insist_for_a_while(stack)


def test_wrong_status_is_said_with_what_was_asked() -> None:
    request = httpx.Request("GET", "http://127.0.0.1:5000/_twin/calls?X-Amz-Signature=abc")
    error = httpx.HTTPStatusError("", request=request, response=httpx.Response(404))

    assert demo._asked(error) == "127.0.0.1:5000/_twin/calls was answered 404"
