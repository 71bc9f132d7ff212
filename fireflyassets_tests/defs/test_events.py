"""What people see of a long recipe. Here: previews, models, sums. Not here: short ones."""

import dagster as dg

from fireflyassets.core.stage import Stage
from fireflyassets.defs import events
from fireflyassets.limiter.virtual_time import run
from fireflyassets.wave.reports import Made
from fireflyassets.wave.reuse import retold
from fireflyassets_tests.floor import Floor
from fireflyassets_tests.stages.test_long_recipe import ASPECTS, LONG, ordered, studio

MANIFEST_FIRST = [LONG[1], LONG[0], *LONG[2:]]


def worked() -> tuple[Floor, str]:
    """Run one job of the long recipe, its list of layers first."""

    async def scenario() -> tuple[Floor, str]:
        here = studio(*MANIFEST_FIRST)
        job = ordered(here)
        await here.work([job])
        return here, job

    return run(scenario)


def shown(made: Made) -> dict[str, object]:
    """Return the metadata that a report is shown with."""
    with dg.DagsterInstance.ephemeral() as instance:
        event = events.of(made, instance, api_url="http://api")
    return {name: value.value for name, value in event.metadata.items()}


def test_a_list_of_layers_has_no_preview_and_hides_no_model() -> None:
    """Only pictures are previewed; the model is that of the first picture that one has made."""
    here, job = worked()
    (made,) = [one for one in here.reports if isinstance(one, Made) and one.stage is Stage.GENERATE]

    seen = shown(made)

    assert [one.step for one in made.results] == ["probe", "art", "subject", "wide"]
    preview = str(seen["preview"])
    assert f"{job}/art)" in preview
    assert "probe" not in preview
    assert seen["model"] == "image3"
    assert "probe" in str(seen["files"])


def test_each_aspect_is_previewed_once() -> None:
    """Composites and what is made of them share an aspect; their operations add up."""
    here, _ = worked()
    (made,) = [one for one in here.reports if isinstance(one, Made) and one.stage is Stage.COMPOSE]

    seen = shown(made)

    assert [str(seen["preview"]).count(f"![{aspect}]") for aspect in ASPECTS] == [1, 1]
    assert seen["operations"] == 2.5


def test_a_long_recipe_is_told_again_as_it_was_told() -> None:
    """From the ledger the same steps come as from the wave."""
    here, job = worked()
    (campaign,) = here.shop.catalogue.campaigns().values()

    again = retold(here.ledger, here.objects, campaign, here.row(job))

    told = [{one.step for one in made.results} for made in here.reports if isinstance(made, Made)]
    assert [{one.step for one in made.results} for made in again if isinstance(made, Made)] == told
