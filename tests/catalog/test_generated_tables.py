"""Generated tables are what their script makes of its inputs."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from gpukit.catalog import DATA

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_catalog.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_catalog", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_make_catalog_would_change_nothing(script: ModuleType) -> None:
    stale = [
        name
        for name, text in script.make_tables().items()
        if (DATA / f"{name}.csv").read_text(encoding="utf-8") != text
    ]

    assert stale == [], "run `make catalog` and review the difference"


def test_generated_tables_name_their_generator(script: ModuleType) -> None:
    for name in ("regions", "zones", "instance_offerings", "helper_types", "node_power"):
        first = (DATA / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0]

        assert first.startswith("# Made by scripts/make_catalog.py")


def test_zones_are_matched_to_ids_by_what_they_offer(script: ModuleType) -> None:
    """us-east-1 is shuffled between accounts, so the order of the letters says nothing."""
    zones = {zone["name"]: zone["id"] for zone in script.make_zones("moto") if zone["region"] == "us-east-1"}
    by_name = script._offers("us-east-1", "availability-zone")
    by_id = script._offers("us-east-1", "availability-zone-id")

    assert all(by_name[name] == by_id[zones[name]] for name in by_name)
