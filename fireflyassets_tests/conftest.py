"""Real local services that tests of several folders share.

Here: fixtures that start a program once for a session. Not here: starting it (``services.py``),
fakes of our ports, and fixtures that only one folder needs.
"""

from collections.abc import Iterator

import pytest

from fireflyassets_tests.services import HOST, own_ministack, own_postgres, own_redis


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest: a worker that came to them last would leave the other one idle."""
    items.sort(key=lambda item: item.get_closest_marker("whole") is None)


@pytest.fixture(scope="session")
def ministack() -> Iterator[str]:
    """Yield the endpoint URL of an embedded AWS, started once for the session.

    The state is shared by all tests: name tables, queues and buckets uniquely, or reset it with
    ``POST /_ministack/reset``.
    """
    with own_ministack() as service:
        yield f"http://{HOST}:{service.port}"


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Yield the URL of a real Redis server, started once for the session, without persistence."""
    with own_redis() as service:
        yield f"redis://{HOST}:{service.port}/0"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Yield the URL of a real Postgres, started once for the session."""
    with own_postgres() as url:
        yield url
