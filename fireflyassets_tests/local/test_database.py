"""The stack's own Postgres: made once, kept over a stop, ended with the stack."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest

from fireflyassets.local import access, database, services
from fireflyassets.local.folder import StateFolder
from fireflyassets.local.stack import Stack, Task, stopped_at_the_end
from fireflyassets_tests.services import accepts, free_port


@pytest.fixture
def root() -> Iterator[Path]:
    """Yield a folder that other users may enter, as the checkout of a project is."""
    path = Path(tempfile.mkdtemp(prefix="fa-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.full
def test_the_stack_keeps_its_database_over_a_stop(root: Path) -> None:
    """The second start finds what the first has written, and nothing listens after a stop."""
    port = free_port()

    _during(root, port, "create table runs (id int)", "insert into runs values (7)")
    after_first = accepts(port)
    found = _during(root, port, "select id from runs")

    assert (after_first, found, accepts(port)) == (False, [(7,)], False)


def _during(root: Path, port: int, *statements: str) -> list[tuple[object, ...]]:
    """Start the database alone, say *statements*, stop it; return what the last one answered."""
    folder = StateFolder(root / "state")
    folder.prepare(needed_bytes=0)
    doors = access.Access(dict.fromkeys(access.LISTENERS, 1) | {"postgres": port}, {})
    made = services.Composition(
        folder=folder,
        access=doors,
        environment={"PATH": "/usr/bin:/bin"},
        project=root,
        module="none",
        postgres=True,
    )
    alone = [
        phase
        for phase in services.phases(made)
        if {one.name for one in phase} & {"database", "postgres"}
    ]
    assert isinstance(alone[0][0], Task)
    stack = Stack(folder, doors, lambda _: None)
    with stopped_at_the_end(stack):
        stack.start(tuple(alone))
        connection = psycopg2.connect(database.url(port))
        connection.autocommit = True
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            found = cursor.fetchall() if cursor.description else []
        connection.close()
    return found
