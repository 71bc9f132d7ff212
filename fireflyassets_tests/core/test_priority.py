"""Priority: which work is wanted first, and that nothing waits for ever."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fireflyassets.core.priority import LEAD, PATIENCE, Priority, wanted_by

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def by(priority: Priority, since: datetime = NOON, deadline: datetime | None = None) -> datetime:
    return wanted_by(priority, due_since=since, deadline=deadline)


def test_of_jobs_that_came_together_the_higher_goes_first() -> None:
    """High before normal before low."""
    assert by(Priority.HIGH) < by(Priority.NORMAL) < by(Priority.LOW)


@given(st.sampled_from(Priority), st.timedeltas(HOUR / 60, 30 * 24 * HOUR))
def test_waiting_overtakes_every_priority(priority: Priority, more: timedelta) -> None:
    """A job that has waited longer than its patience goes before a new one of high priority."""
    since = NOON - PATIENCE[priority] - more
    assert by(priority, since) < by(Priority.HIGH)


@pytest.mark.parametrize("priority", list(Priority))
def test_a_near_deadline_makes_urgent(priority: Priority) -> None:
    """Four hours before it, a campaign is as urgent as a new one of high priority; never less."""
    assert by(priority, deadline=NOON + LEAD) <= by(Priority.HIGH)
    assert by(priority, deadline=NOON + LEAD - HOUR) < by(Priority.HIGH)
    assert by(priority, deadline=NOON + 1000 * HOUR) == by(priority)
