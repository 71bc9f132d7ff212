"""Dagster's storage as every process of ours opens it: chosen by one setting, pooled."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import psycopg2
import pytest
from sqlalchemy.exc import ProgrammingError

from fireflyassets.adapters.clock import SystemClock
from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets_tests.defs.location import CAMPAIGN, CUSTOMER, DELIVERIES, location
from fireflyassets_tests.floor import floor

PROJECT = Path(__file__).parents[2]
Opened = Callable[[str | None], dg.DagsterInstance]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Return what opens the instance of the project's own ``dagster.yaml``, on a URL or none."""
    shutil.copyfile(PROJECT / "dagster.yaml", tmp_path / "dagster.yaml")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))

    def opens(url: str | None) -> dg.DagsterInstance:
        if url is None:
            monkeypatch.delenv("FIREFLYASSETS_PG_URL", raising=False)
        else:
            monkeypatch.setenv("FIREFLYASSETS_PG_URL", url)
        return dg.DagsterInstance.get()

    return opens


def test_without_a_url_runs_and_events_are_files(opened: Opened, tmp_path: Path) -> None:
    """The default needs no server: what is written is found again in the folder."""
    with opened(None) as instance:
        instance.add_dynamic_partitions("jobs", ["one"])
    with opened(None) as instance:
        assert instance.get_dynamic_partitions("jobs") == ["one"]
    assert list(tmp_path.rglob("*.db"))


def test_a_url_of_something_else_is_refused(opened: Opened) -> None:
    """A typing error never falls back to files that nobody looks at; no secret is told."""
    with pytest.raises(UnusableConfiguration) as refused:
        opened("mysql://user:hidden@host/database")

    assert "hidden" not in str(refused.value)


@pytest.mark.full
def test_writes_share_a_connection(opened: Opened, postgres_url: str) -> None:
    """Fifty events open no fifty connections: Dagster's own storage opens one or two for each."""
    with opened(postgres_url) as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization("warm_up"))
        before = _sessions(postgres_url)
        for number in range(50):
            instance.report_runless_asset_event(
                dg.AssetMaterialization("pictures", partition=str(number))
            )

        assert len(instance.get_materialized_partitions(dg.AssetKey("pictures"))) == 50
        # Two of them are the looks themselves.
        assert _sessions(postgres_url) - before <= 6


@pytest.mark.full
def test_a_wave_is_shown_from_postgres(opened: Opened, postgres_url: str) -> None:
    """A wave that the dispatcher asked for is materialized job by job, as on files."""
    here = floor(clock=SystemClock())
    with opened(postgres_url) as instance, location(here) as made:
        made.instance = instance
        jobs = here.order(3)
        (request,) = made.dispatch()

        result = made.run(request)

        assert result.success
        assert made.materialized(DELIVERIES) >= set(jobs)
        assert result.dagster_run.tags["fireflyassets/customer"] == CUSTOMER
        assert result.dagster_run.tags["fireflyassets/campaign"] == CAMPAIGN


@pytest.mark.full
def test_events_are_written_together_and_in_order(opened: Opened, postgres_url: str) -> None:
    """Two hundred partitions take few transactions, and each asset shows its own last one."""
    with opened(postgres_url) as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization("warm_up"))
        before = _commits(postgres_url)
        for number in range(200):
            asset = "even" if number % 2 == 0 else "odd"
            instance.report_runless_asset_event(
                dg.AssetMaterialization(asset, partition=f"{number:03}")
            )
        for asset, last in (("even", "198"), ("odd", "199")):
            key = dg.AssetKey(asset)
            told = instance.fetch_materializations(key, limit=200).records
            assert [one.partition_key for one in told] == sorted(
                (str(one.partition_key) for one in told), reverse=True
            )
            latest = instance.get_latest_materialization_event(key)
            assert latest is not None
            assert latest.asset_materialization is not None
            assert latest.asset_materialization.partition == last

        assert _commits(postgres_url) - before < 100


@pytest.mark.full
def test_other_processes_see_an_event_though_nothing_follows(
    opened: Opened, postgres_url: str
) -> None:
    """What waits to be written does not wait for the next event of a job that takes minutes."""
    with opened(postgres_url) as writer, opened(postgres_url) as reader:
        writer.report_runless_asset_event(dg.AssetMaterialization("lonely"))

        for _ in range(100):
            if reader.get_latest_materialization_event(dg.AssetKey("lonely")):
                break
            threading.Event().wait(0.1)
        assert reader.get_latest_materialization_event(dg.AssetKey("lonely"))


@pytest.mark.full
def test_what_could_not_be_written_is_told_and_kept(opened: Opened, postgres_url: str) -> None:
    """A database that refuses for a while loses no event: the writer hears of it and goes on."""
    with opened(postgres_url) as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization("kept", partition="before"))
        assert instance.get_materialized_partitions(dg.AssetKey("kept")) == {"before"}
        _say(postgres_url, "alter table event_logs rename to event_logs_away")
        instance.report_runless_asset_event(dg.AssetMaterialization("kept", partition="while"))
        with pytest.raises(ProgrammingError):
            instance.get_materialized_partitions(dg.AssetKey("kept"))
        _say(postgres_url, "alter table event_logs_away rename to event_logs")

        assert instance.get_materialized_partitions(dg.AssetKey("kept")) == {"before", "while"}


def _say(url: str, statement: str) -> None:
    connection = psycopg2.connect(url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(statement)
    connection.close()


def _commits(url: str) -> int:
    """Return how many transactions the database has committed."""
    return _number(url, "xact_commit")


def _sessions(url: str) -> int:
    """Return how many connections the database has ever had."""
    return _number(url, "sessions")


def _number(url: str, column: str) -> int:
    connection = psycopg2.connect(url)
    with connection.cursor() as cursor:
        cursor.execute(f"select {column} from pg_stat_database where datname = current_database()")  # noqa: S608 - ours.
        found = cursor.fetchone()
    connection.close()
    assert found is not None
    return int(found[0])
