"""The long recipe of the examples at the simulator: routed, resumed where it failed, paid once.

Here: the file that users copy, its real templates, real clients, and our bucket played by a small
server. Not here: each kind of step (``stages/test_long_recipe.py``), deaths of processes.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.core.status import Status
from fireflyassets.ports.catalogue import Credential
from fireflyassets_tests.adapters.adobe.conftest import billed, control
from fireflyassets_tests.adapters.adobe.test_recipe_against_twin import SCOPES, Factory, put_up
from fireflyassets_tests.paid_services import size

pytestmark = pytest.mark.stack

PROJECT = Path(__file__).parents[3]
ASPECTS = ("1920x1080", "1080x1080")
PRICE = Decimal("7.5")
"""Half for the picture, one each for list, crop and expand, two for each aspect."""


class Examples(FileCatalogue):
    """The project's own catalogue, with the long recipe in it."""

    def credential(self, name: str, *, customer: str) -> Credential:
        """Return it, with the scopes that the simulator's client has."""
        return replace(super().credential(name, customer=customer), scopes=SCOPES)


@contextmanager
def studio(twin: str, folder: Path) -> Iterator[Factory]:
    """Copy the example as its first lines say, and set a floor up with it."""
    campaigns = folder / "campaigns" / "acme"
    shutil.copytree(PROJECT / "campaigns" / "acme", campaigns)
    shutil.copytree(PROJECT / "rates", folder / "rates")
    shutil.copytree(PROJECT / "limits", folder / "limits")
    shutil.copytree(PROJECT / "credentials", folder / "credentials")
    example = PROJECT / "examples" / "long-recipe"
    (campaigns / "long-recipe").mkdir()
    shutil.copy(example / "campaign.yaml", campaigns / "long-recipe")
    shutil.copy(example / "rates.yaml", folder / "rates" / "long-recipe.yaml")
    shutil.rmtree(campaigns / "spring-launch" / "template")
    (campaigns / "spring-launch" / "campaign.yaml").unlink()
    catalogue = Examples(folder)
    assert list(catalogue.campaigns()) == ["acme/long-recipe"], catalogue.quarantined()
    with put_up(twin, catalogue) as made:
        yield made


@pytest.fixture(autouse=True)
def _faultless(twin: str) -> Iterator[None]:
    yield
    control(twin, "/_twin/faults", method="DELETE")


def test_the_long_recipe_of_the_examples(twin: str, tmp_path: Path) -> None:
    """Eight calls of both services end in one graded file for each aspect, each billed once."""
    before = len(billed(twin))
    with studio(twin, tmp_path) as made:
        job = made.work()

    row, history = made.here.row(job), made.here.ledger.history(job)
    assert row.status is Status.SUCCEEDED, (row.reason, [one.fault for one in history.attempts])
    assert row.cost_actual == row.cost_estimate == PRICE
    names = {step for step, _ in history.steps}
    assert names == {"art", "probe", "subject", "wide"} | {
        f"{step}.{aspect}" for step in ("layout", "graded") for aspect in ASPECTS
    }
    sizes = {size(made.here.objects.get(key) or b"") for key in row.outputs}
    assert sizes == {(1920, 1080), (1080, 1080)}
    calls = billed(twin)[before:]
    assert sorted(one.vendor_id for one in history.operations) == sorted(
        cast("str", call["job_id"]) for call in calls
    )
    assert sum(Decimal(cast("str", call["operations"])) for call in calls) == PRICE


def test_the_long_recipe_goes_on_where_it_failed(twin: str, tmp_path: Path) -> None:
    """A refusal of the expand ends the turn; the next one keeps art, list and crop, unpaid."""
    exhausted = {
        "kind": "answer",
        "status": 403,
        "body": {"error_code": "access_error"},
        "headers": {"x-access-error": "quota_exhausted"},
    }
    refuse = {"when": {"endpoint": "expand", "nth": 1}, "then": exhausted}
    control(twin, "/_twin/faults", refuse, method="POST")
    before = len(billed(twin))
    with studio(twin, tmp_path) as made:
        job = made.work()
        assert made.here.row(job).status is Status.DLQ
        kept = {step for step, _ in made.here.ledger.history(job).steps}
        assert kept == {"art", "probe", "subject"}
        originals = {one.picture.key for one in made.here.ledger.history(job).steps.values()}
        sent = made.here.ledger.history(job).attempts[0]
        limiter, firefly = made.here.shop.limiter, f"{sent.organisation}#firefly"
        assert limiter.state(firefly).opened_at is not None
        limiter.reset(firefly, by="ops", why="the quota is there again")
        made.again(job)

    row = made.here.row(job)
    assert row.status is Status.SUCCEEDED, row.reason
    assert row.cost_actual == PRICE
    assert originals <= set(made.here.objects.objects)
    assert len(billed(twin)[before:]) == 8
