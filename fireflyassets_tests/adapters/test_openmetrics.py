"""The text that a scraper reads, and the port it reads it on."""

import httpx

from fireflyassets.adapters import openmetrics
from fireflyassets.adapters.metrics_server import MetricsServer
from fireflyassets.core import metric
from fireflyassets.core.tally import Tally


def test_counters_gauges_and_histograms_are_told_as_the_format_wants() -> None:
    """Names with units, totals, cumulative buckets, sum and count, and an end."""
    tally = Tally()
    for seconds in (0.2, 0.2, 40.0, 9000.0):
        tally.observe(metric.END_TO_END, seconds, customer="acme")
    tally.set(metric.DEAD, 3)
    tally.add(metric.ACCEPTED, 2, customer='a"b\\c')

    lines = openmetrics.text(tally.totals()).splitlines()

    assert lines[-1] == "# EOF"
    assert "# TYPE fireflyassets_dlq_depth gauge" in lines
    assert "fireflyassets_dlq_depth 3" in lines
    assert 'fireflyassets_jobs_accepted_total{customer="a\\"b\\\\c"} 2' in lines
    name = "fireflyassets_end_to_end_seconds"
    assert f"# UNIT {name} seconds" in lines
    assert [line for line in lines if line.startswith(f"{name}_bucket")][1:3] == [
        f'{name}_bucket{{customer="acme",le="0.25"}} 2',
        f'{name}_bucket{{customer="acme",le="0.5"}} 2',
    ]
    assert f'{name}_bucket{{customer="acme",le="60.0"}} 3' in lines
    assert f'{name}_bucket{{customer="acme",le="+Inf"}} 4' in lines
    assert f'{name}_count{{customer="acme"}} 4' in lines
    assert f'{name}_sum{{customer="acme"}} 9040.4' in lines


def test_the_port_answers_one_path_and_survives_what_it_tells() -> None:
    """`/metrics` has the text; another path is none; a failure is told and ends nothing."""
    answers = ["one", None, "two"]

    def told() -> str:
        text = answers.pop(0)
        if text is None:
            raise RuntimeError("a bug")
        return text

    server = MetricsServer(told, host="127.0.0.1", port=0)
    url = f"http://127.0.0.1:{server.port}"
    try:
        with httpx.Client(trust_env=False) as client:
            first = client.get(f"{url}/metrics")
            assert (first.status_code, first.text) == (200, "one")
            assert first.headers["content-type"].startswith("application/openmetrics-text")
            assert client.get(f"{url}/v1/jobs").status_code == 404
            assert client.get(f"{url}/metrics").status_code == 503
            assert client.get(f"{url}/metrics").text == "two"
    finally:
        server.close()
