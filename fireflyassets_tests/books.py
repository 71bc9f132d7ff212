"""Two books held against each other: what the floor's vendors billed, and what the ledger says.

Belongs here: the promise that they agree, call by call. Does not: the floor itself.
"""

from decimal import Decimal

from fireflyassets.core.job import JobRow
from fireflyassets.core.money import FOR_A_RESULT, Cause, Cost
from fireflyassets.core.status import ENDED
from fireflyassets.ports.entries import Attempt, History, Operation
from fireflyassets_tests.floor import Floor

ZERO = Decimal(0)


def books_agree(here: Floor) -> None:
    """Each billed call stands in one row of the true cause, each row for a call, each job's sums.

    A call whose answer was lost has no id here: it must have a send of its family for itself that
    is unknown, or that is booked by its own name.
    """
    histories = _histories(here)
    for vendor in (here.images.vendor, here.documents.vendor):
        named = [
            row.vendor_id
            for history in histories.values()
            for send in history.attempts
            for row in _rows_of(history, send)
            if send.family is vendor.family and row.vendor_id == send.vendor_id
        ]
        silent = set(vendor.billed) - set(named)
        nameless = [
            send
            for history in histories.values()
            for send in history.attempts
            if send.family is vendor.family
            and send.vendor_id is None
            and (send.is_unknown or _rows_of(history, send))
        ]
        assert sorted(named) == sorted(set(vendor.billed) - silent)
        assert len(silent) <= len(nameless)
    for row, history in histories.items():
        _history_agrees(history)
        if row.status in ENDED:
            assert Cost(row.cost_actual or ZERO, row.cost_possible or ZERO) == history.cost


def _histories(here: Floor) -> dict[JobRow, History]:
    """Return the history of every job of every campaign."""
    return {
        row: here.ledger.history(row.job_id)
        for campaign in here.shop.catalogue.campaigns().values()
        for row in here.ledger.campaign_jobs(campaign.config.customer, campaign.config.campaign)
    }


def _rows_of(history: History, send: Attempt) -> list[Operation]:
    """Return the operation rows that name a send."""
    key = (send.step, send.generation, send.n)
    return [row for row in history.operations if (row.step, row.generation, row.n) == key]


def _history_agrees(history: History) -> None:
    """Each send with an id has its row, no send two, and the cause is that of its fate."""
    assert sum(len(_rows_of(history, send)) for send in history.attempts) == len(history.operations)
    for send in history.attempts:
        rows = _rows_of(history, send)
        made = history.steps.get((send.step, send.generation))
        if made is not None and made.n == send.n:
            assert [row.cause for row in rows] in ([send.cause], [Cause.CANCELLED_LATE])
            assert rows[0].operations == made.operations
        else:
            assert len(rows) <= 1
            assert not {row.cause for row in rows} & FOR_A_RESULT
        if send.vendor_id is not None:
            assert [row.vendor_id for row in rows] == [send.vendor_id]
    bound = {(step, generation, made.n) for (step, generation), made in history.steps.items()}
    assert bound <= {(row.step, row.generation, row.n) for row in history.operations}
