"""
The network layout of every instance type: one readable golden each, and AWS's own data held against all of them.

`make golden` (pytest --update-golden) rewrites the goldens; the diff is reviewed like code.
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpukit.catalog import load_catalog
from gpukit.decide.interfaces import lay_out_network_interfaces

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "network_layout"
TYPES = sorted(row.name for row in load_catalog().instance_types() if load_catalog().network_cards(row.name))

NOT_IN_THE_DUMP = ("p2.", "p3.", "p6e-", "trn2u.")
"""Retired types, and rack-scale types that DescribeInstanceTypes did not answer for when moto's dump was made."""
IN_THE_DUMP = [name for name in TYPES if not name.startswith(NOT_IN_THE_DUMP)]


def _render(instance_type: str) -> str:
    catalog = load_catalog()
    row = catalog.instance_type(instance_type)
    lines = [f"{instance_type}: {len(catalog.network_cards(instance_type))} network card(s)"]
    for efa in (False, True) if row.supports_efa else (False,):
        layout = lay_out_network_interfaces(instance_type, efa=efa, catalog=catalog)
        lines.append(f"\n{'with' if efa else 'without'} EFA: {len(layout)} interface(s)")
        lines += [
            f"  card {item.network_card:>2}  device {item.device_index}  {item.interface_type:<9}"
            f"  {'address' if item.takes_address else 'no address'}"
            for item in layout
        ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("instance_type", TYPES)
def test_the_layout_of_a_type_is_its_golden(instance_type: str, request: pytest.FixtureRequest) -> None:
    file = GOLDEN / f"{instance_type}.txt"
    made = _render(instance_type)
    if request.config.getoption("--update-golden"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(made, encoding="utf-8")

    assert file.is_file(), f"{file.name} is missing: run `make golden` and review it"
    assert made == file.read_text(encoding="utf-8"), "the layout changed: run `make golden` and review the diff"


def test_no_golden_is_left_of_a_type_that_is_gone() -> None:
    assert sorted(file.stem for file in GOLDEN.glob("*.txt")) == TYPES


@cache
def _dump() -> dict[str, Any]:
    """Return the answer of DescribeInstanceTypes as moto ships it."""
    moto = pytest.importorskip("moto")
    folder = Path(moto.__file__).parent / "ec2" / "resources"
    packed = folder / "instance_types.json.gz"
    text = gzip.decompress(packed.read_bytes()) if packed.is_file() else (folder / "instance_types.json").read_bytes()
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize("instance_type", IN_THE_DUMP)
def test_a_layout_fits_what_the_api_says_of_the_type(instance_type: str) -> None:
    network = _dump()[instance_type]["NetworkInfo"]
    cards = {card["NetworkCardIndex"]: card for card in network["NetworkCards"]}
    layout = lay_out_network_interfaces(instance_type, efa=bool(network.get("EfaSupported")), catalog=load_catalog())
    efa = [item for item in layout if item.is_efa]
    most = network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)

    assert {item.network_card for item in layout} <= set(cards)
    assert len(efa) == most
    for index, card in cards.items():
        assert sum(item.network_card == index for item in layout) <= card["MaximumNetworkInterfaces"]
    assert len(layout) <= network["MaximumNetworkInterfaces"]
