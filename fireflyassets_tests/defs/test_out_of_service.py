"""Campaigns that a location can't work on: shown with their reason, and never asked for."""

import logging
from pathlib import Path

import pytest

from fireflyassets.adapters.files import FileCatalogue
from fireflyassets.definitions import build_definitions
from fireflyassets.defs import names
from fireflyassets.defs.loaded import LoadedCatalogue
from fireflyassets_tests.adapters.project_folder import ProjectFolder
from fireflyassets_tests.defs.location import ports
from fireflyassets_tests.floor import floor
from fireflyassets_tests.front_door import FixedCatalogue, config

PSD = "campaigns/acme/spring-launch/1080x1080.psd"


def test_a_quarantined_campaign_is_shown_with_its_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the catalogue and in the log; the other customer's assets are there as ever."""
    ProjectFolder(tmp_path).write(PSD, b"hello")
    catalogue = FileCatalogue(tmp_path)

    with caplog.at_level(logging.WARNING, "fireflyassets"):
        defs = build_definitions(
            catalogue.campaigns(), ports(floor(catalogue=catalogue)), catalogue.quarantined()
        )

    specs = {spec.key: spec for spec in defs.resolve_all_asset_specs()}
    shown = specs[names.asset_key("acme", "spring-launch", "template")]
    assert shown.description is not None
    assert shown.description.startswith("**Out of service.** campaigns/acme/spring-launch/")
    assert "not a PSD" in shown.description
    assert "not a PSD" in str(shown.metadata["out_of_service"])
    assert names.asset_key("acme", "spring-launch", "deliveries") not in specs
    assert names.asset_key("bolt", "relaunch", "deliveries") in specs
    (line,) = [one.getMessage() for one in caplog.records if one.name.startswith("fireflyassets")]
    assert line.startswith("Quarantined campaigns/acme/spring-launch/campaign.yaml: ")


def test_a_file_without_a_campaign_breaks_no_location(tmp_path: Path) -> None:
    """A bad rate card or a folder that is no name is logged alone."""
    project = ProjectFolder(tmp_path)
    project.write("rates/bad.yaml", "[")
    project.write("campaigns/bolt/Not A Name/campaign.yaml", "[")
    catalogue = FileCatalogue(tmp_path)

    defs = build_definitions(
        catalogue.campaigns(), ports(floor(catalogue=catalogue)), catalogue.quarantined()
    )

    assert len(catalogue.quarantined()) == 2
    assert {spec.key.path[0] for spec in defs.resolve_all_asset_specs()} == {"acme", "bolt"}


def test_a_campaign_that_has_no_assets_here_yet_waits_with_its_reason() -> None:
    """A request for assets that are not in the location would fail the tick for everybody."""
    known = FixedCatalogue(config(), config(customer="bolt"))
    loaded = LoadedCatalogue(known, ["acme/spring-launch"])

    assert list(loaded.campaigns()) == ["acme/spring-launch"]
    assert loaded.campaign("bolt", "spring-launch")
    assert "restart the code server" in str(loaded.fault("bolt/spring-launch"))
    assert loaded.fault("acme/spring-launch") is None
    assert loaded.fault("acme/nothing") == "its file is gone"
