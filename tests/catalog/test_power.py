"""Power of a node: from a known server, or from its parts."""

import pytest

from gpukit.catalog import Catalog
from gpukit.catalog.power import choose_power_rule, estimate_node_power


@pytest.mark.parametrize(
    ("name", "kw", "kind"),
    [
        pytest.param("p4d.24xlarge", 6.5, "vendor-maximum", id="DGX A100"),
        pytest.param("p5.48xlarge", 10.2, "vendor-maximum", id="DGX H100"),
        pytest.param("p5.4xlarge", 1.275, "estimate", id="an eighth of DGX H100"),
        pytest.param("p6-b200.48xlarge", 14.3, "vendor-maximum", id="DGX B200"),
        pytest.param("p6e-gb200.36xlarge", 6.667, "estimate", id="an eighteenth of a rack"),
        pytest.param("g5.xlarge", 0.48, "estimate", id="parts of g5.xlarge"),
    ],
)
def test_power_of_a_node(name: str, kw: float, kind: str, catalog: Catalog) -> None:
    row = catalog.node_power(name)

    assert row is not None
    assert (pytest.approx(kw, abs=0.0005), kind) == (row.kw, row.kind)
    assert row.basis


def test_power_is_more_than_its_gpus_and_not_much_more_for_large_ones(catalog: Catalog) -> None:
    for row in catalog.instance_types():
        power = catalog.node_power_kw(row.name)
        tdp = catalog.gpu_model(row.gpu_model).tdp_w
        if power is None or tdp is None:
            continue
        gpus_kw = row.gpu_count * tdp / 1000
        assert power.value > gpus_kw, row.name
        # With small GPUs most of the power is the processors', so the upper bound holds for large ones only.
        if row.gpu_count >= 4 and tdp >= 300:
            assert power.value < 2.5 * gpus_kw, row.name


def test_the_overhead_matches_the_servers_that_are_known(catalog: Catalog) -> None:
    """The rule by parts would be wrong by less than a fifth where a vendor states the maximum."""
    parts = next(rule for rule in catalog.power_rules() if rule.method == "parts")
    for name in ("p4d.24xlarge", "p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge"):
        instance = catalog.instance_type(name)
        derived = estimate_node_power(instance, catalog.gpu_model(instance.gpu_model), parts, ())
        stated = catalog.node_power(name)

        assert derived is not None
        assert stated is not None
        assert derived.kw == pytest.approx(stated.kw, rel=0.2)


def test_every_rule_names_types_and_servers_that_exist(catalog: Catalog) -> None:
    names = {row.name for row in catalog.instance_types()}
    systems = {row.system for row in catalog.server_power()}
    for rule in catalog.power_rules():
        assert set(rule.applies_to) <= names | {"*"}, rule.id
        if rule.method == "server-share":
            assert rule.system in systems, rule.id


def test_a_rule_by_name_wins_over_the_rule_for_all(catalog: Catalog) -> None:
    by_name = choose_power_rule("p5.48xlarge", catalog.power_rules())
    for_all = choose_power_rule("anything.else", catalog.power_rules())

    assert by_name is not None
    assert for_all is not None
    assert (by_name.id, for_all.id) == ("dgx-h100", "parts")


def test_power_is_told_with_its_basis(catalog: Catalog) -> None:
    fact = catalog.node_power_kw("p5en.48xlarge")

    assert fact is not None
    assert fact.unit == "kW"
    assert fact.doubts.startswith("vendor-maximum: DGX H200 (8 x H200), 10200 W")
