"""What a scraper is told by the API's process."""

from fireflyassets.api.metrics import Exposition
from fireflyassets.core import metric
from fireflyassets.core.tally import Tally
from fireflyassets_tests.stages.test_watch import Scene


def test_own_counts_and_fresh_gauges_stand_in_one_text() -> None:
    """Each request looks anew; the gauges are not among what the process sends."""
    scene, counts = Scene(), Tally()
    exposition = Exposition(counts, scene.watch, scene.clock)
    counts.add(metric.ACCEPTED, customer="acme")
    assert "fireflyassets_queue_depth 0\n" in exposition.text()

    scene.world.queued("one")
    text = exposition.text()

    assert "fireflyassets_queue_depth 1\n" in text
    assert 'fireflyassets_jobs_accepted_total{customer="acme"} 1\n' in text
    assert {one.metric.name for one in counts.taken()} == {"jobs_accepted"}
