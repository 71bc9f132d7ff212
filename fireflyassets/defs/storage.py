# pyright: standard
"""Dagster's storage: SQLite in DAGSTER_HOME, or Postgres where a URL names one.

Belongs here: the choice, which ``dagster.yaml`` hands to every process of ours. Does not: how
Postgres is used (``event_log.py``), nor what is stored; the ledger is the truth.
"""

import importlib
from typing import Any, Final, Self

from dagster import StringSource
from dagster._config.config_schema import UserConfigSchema
from dagster._core.storage.base_storage import DagsterStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from dagster._serdes import ConfigurableClass, ConfigurableClassData

from fireflyassets.core.errors import UnusableConfiguration
from fireflyassets.settings import Settings

_SCHEME: Final = "postgresql+psycopg2://"
"""SQLAlchemy 2.1 would take a bare ``postgresql://`` for the other driver."""
_SPOKEN: Final = ("postgresql://", "postgres://", _SCHEME)


class ChosenStorage(DagsterStorage, ConfigurableClass):
    """What ``dagster.yaml`` names; it is never made itself, but one of the two is."""

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        """Return what it is configured by: the folder of SQLite's files."""
        return {"folder": StringSource}

    @classmethod
    def from_config_value(  # pyright: ignore[reportIncompatibleMethodOverride] - as Dagster's own.
        cls, inst_data: ConfigurableClassData | None, config_value: dict[str, Any]
    ) -> DagsterStorage | Self:
        """Return the storage that the settings ask for."""
        chosen = Settings().pg_url
        if chosen is None:
            return DagsterSqliteStorage.from_local(config_value["folder"], inst_data)
        return pooled(chosen.get_secret_value(), inst_data)


def pooled(url: str, inst_data: ConfigurableClassData | None = None) -> DagsterStorage:
    """Return a storage in Postgres that keeps its connections open.

    Raises:
        UnusableConfiguration: *url* names no Postgres, or the package for it is not installed.
    """
    scheme = next((one for one in _SPOKEN if url.startswith(one)), None)
    if scheme is None:
        raise UnusableConfiguration(f"FIREFLYASSETS_PG_URL does not begin with {_SPOKEN[0]}")
    try:
        batched: Any = importlib.import_module("fireflyassets.defs.event_log")
    except ModuleNotFoundError as missing:
        raise UnusableConfiguration(
            f"FIREFLYASSETS_PG_URL is set and {missing.name} is missing: "
            "install fireflyassets[postgres]."
        ) from missing
    return batched.PooledStorage(_SCHEME + url.removeprefix(scheme), inst_data)
