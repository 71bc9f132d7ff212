"""The tables as CloudWatch takes them, and that a number reaches an alarm and the alarm its topic.

The embedded AWS looks at no period and no label, and can't divide: windows are proven in
`fireflyassets_tests/core/test_alarm`, here the wiring alone.
"""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from fireflyassets.adapters.aws import clients
from fireflyassets.adapters.aws.alarms import Account, dashboard, definitions
from fireflyassets.adapters.aws.metrics import CloudWatchSink
from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core import metric
from fireflyassets.core.alarm import ALARMS, Alarm, Share, Urgency
from fireflyassets.core.metric import METRICS
from fireflyassets.core.plots import PLOTS
from fireflyassets.core.tally import Tally
from fireflyassets_tests.aws_clients import aws_environment
from fireflyassets_tests.contracts.stores import unique

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient

TOPICS = {one: f"arn:aws:sns:eu-west-1:000000000000:{one}" for one in Urgency}
ACCOUNT = Account("fireflyassets", "eu-west-1", TOPICS, timedelta(minutes=10))
MEASURED = [one for one in ALARMS if one.has_source]


def by_name() -> dict[str, Any]:
    """Return the definitions by the names of their alarms."""
    return {one["AlarmName"].partition("-")[2]: one for one in definitions(ACCOUNT)}


def test_every_alarm_that_is_measured_is_made_and_no_other() -> None:
    """No alarm is made on a number that nobody measures."""
    assert set(by_name()) == {one.name for one in MEASURED}
    assert "export_watermark" not in by_name()


@pytest.mark.parametrize("one", MEASURED, ids=lambda one: one.name)
def test_a_definition_says_what_the_table_says(one: Alarm) -> None:
    """M of N, the threshold, missing data, who is called, and the runbook."""
    made = by_name()[one.name]

    assert (made["DatapointsToAlarm"], made["EvaluationPeriods"]) == (one.bad, one.of)
    assert made["TreatMissingData"] == one.missing
    assert made["AlarmActions"] == made["OKActions"] == [TOPICS[one.urgency]]
    assert one.runbook in made["AlarmDescription"]
    assert made["Threshold"] == one.threshold * (600 if one.of_baseline else 1)
    if isinstance(one.signal, Share):
        part, whole, share = made["Metrics"]
        assert part["MetricStat"]["Metric"]["MetricName"] == one.signal.part.name
        assert whole["MetricStat"]["Metric"]["MetricName"] == one.signal.whole.name
        assert part["MetricStat"]["Period"] == one.period.total_seconds()
        assert f"whole >= {one.signal.minimum:g}" in share["Expression"]
    else:
        assert made["MetricName"] == one.signal.metric.name
        assert made["Period"] == one.period.total_seconds()
        assert made.get("Statistic", made.get("ExtendedStatistic")) == one.signal.statistic


def test_an_alarm_is_judged_by_sums_over_all_labels() -> None:
    """What an alarm reads is kept without labels, or its alarm would find nothing."""
    assert [one.name for one in MEASURED if any(() not in m.rollups for m in one.metrics)] == []


def test_botocore_takes_every_definition() -> None:
    """Each is a request that the service's own description allows."""
    client = get_session().create_client(
        "cloudwatch", region_name="eu-west-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    shape = client.meta.service_model.operation_model("PutMetricAlarm").input_shape
    for one in definitions(ACCOUNT):
        assert not ParamValidator().validate(one, shape).has_errors()


def test_the_dashboard_draws_every_plot_by_labels_that_are_kept() -> None:
    """A search or a line asks for a set of labels that its metric is rolled up by."""
    widgets = json.loads(dashboard(ACCOUNT))["widgets"]

    assert [widget["properties"]["title"] for widget in widgets] == [one.title for one in PLOTS]
    for plot in PLOTS:
        for drawn in plot.drawn:
            assert drawn.metric in METRICS
            asked = drawn.by or tuple(name for name, _ in drawn.only)
            assert asked in drawn.metric.rollups, (plot.title, drawn.metric.name)
    for dimension in ("customer", "endpoint", "credential"):
        assert any(dimension in drawn.by for plot in PLOTS for drawn in plot.drawn)


@pytest.fixture
def cloudwatch(ministack: str) -> "Iterator[CloudWatchClient]":
    """Yield a client of the embedded AWS."""
    with aws_environment(ministack):
        client = clients.cloudwatch()
    yield client
    client.close()


@pytest.mark.stack
def test_a_number_reaches_its_alarm_and_the_alarm_its_topic(
    cloudwatch: "CloudWatchClient", ministack: str
) -> None:
    """What the sink sends turns the alarm of the table on, and SNS hands it to a queue."""
    with aws_environment(ministack):
        session = get_session()
        sns, sqs = session.create_client("sns"), session.create_client("sqs")
    topics = {one: sns.create_topic(Name=unique(one))["TopicArn"] for one in Urgency}
    queue = sqs.create_queue(QueueName=unique("paged"))["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]
    sns.subscribe(TopicArn=topics[Urgency.PAGE], Protocol="sqs", Endpoint=arn["QueueArn"])
    namespace = unique("metrics")
    account = Account(namespace, "eu-west-1", topics, timedelta(minutes=10))
    for one in definitions(account):
        cloudwatch.put_metric_alarm(**one)
    cloudwatch.put_dashboard(DashboardName=namespace, DashboardBody=dashboard(account))

    tally = Tally()
    tally.set(metric.DEAD, 3)
    CloudWatchSink(lambda: cloudwatch, namespace).send(tally.taken(), at=SystemClock().now())

    told = heard(sqs, queue)
    for client in (sns, sqs):
        client.close()
    assert told["AlarmName"] == f"{namespace}-dlq_depth"
    assert told["NewStateValue"] == "ALARM"


def heard(sqs: Any, queue: str) -> dict[str, Any]:  # noqa: ANN401 - boto3 without stubs.
    """Return the first alarm that a queue gets within 15 seconds."""
    give_up_at = time.monotonic() + 15
    while time.monotonic() < give_up_at:
        answer = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=2)
        for message in answer.get("Messages", []):
            told: dict[str, Any] = json.loads(json.loads(message["Body"])["Message"])
            return told
    raise AssertionError("No alarm was heard.")


@pytest.mark.stack
def test_percentiles_can_be_told_from_what_is_sent(cloudwatch: "CloudWatchClient") -> None:
    """Values come with their counts, so that a p95 is that of all jobs."""
    namespace, tally = unique("metrics"), Tally()
    for seconds in [1.0] * 90 + [100.0] * 10:
        tally.observe(metric.END_TO_END, seconds, customer="acme")
    now = SystemClock().now()
    CloudWatchSink(lambda: cloudwatch, namespace).send(tally.taken(), at=now)

    acme = [{"Name": "customer", "Value": "acme"}]
    one = {"Namespace": namespace, "MetricName": "end_to_end", "Dimensions": acme}
    answer = cloudwatch.get_metric_data(
        MetricDataQueries=[
            {"Id": "p95", "MetricStat": {"Metric": one, "Period": 60, "Stat": "p95"}},
            {"Id": "p50", "MetricStat": {"Metric": one, "Period": 60, "Stat": "p50"}},
        ],
        StartTime=now - timedelta(minutes=2),
        EndTime=now + timedelta(minutes=2),
    )
    assert [result["Values"] for result in answer["MetricDataResults"]] == [[100.0], [1.0]]
