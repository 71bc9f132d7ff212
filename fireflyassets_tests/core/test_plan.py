"""What a plan binds: the lock over a campaign's documents."""

from dataclasses import replace

import pytest

from fireflyassets.core.campaign import Campaign, load
from fireflyassets.core.plan import lock_of
from fireflyassets_tests.front_door import config

WHOLE = load(config(), {"1080x1080": "0" * 64}, actions={"grade.atn": "1" * 64})


@pytest.mark.parametrize(
    "changed",
    [
        replace(WHOLE, actions={"grade.atn": "2" * 64}),
        replace(WHOLE, actions={}),
        replace(WHOLE, templates={"1080x1080": "2" * 64}),
    ],
)
def test_a_lock_changes_with_any_document(changed: Campaign) -> None:
    """A file of recorded actions counts as a template does: what is made of a job changes."""
    assert lock_of(changed) != lock_of(WHOLE)


def test_a_lock_stays_while_the_documents_do() -> None:
    """Whatever else the campaign's file says: its version tells that."""
    assert lock_of(replace(WHOLE, config=config(title="Another"))) == lock_of(WHOLE)
