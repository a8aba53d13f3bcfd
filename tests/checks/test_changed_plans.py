"""Rules that guard plans which did not come out of gpukit's own decisions: each plan here is changed after planning."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gpukit.finding import Finding, Severity
from gpukit.plan import NetworkInterfacePlan, NotBuilt, Plan
from gpukit.planning import PlanResult

EFA_POOL = "region: us-east-1\npools:\n  train: {instance_type: p5en.48xlarge, nodes: 2, zones: [us-east-1a]}\n"
CLOSED = EFA_POOL + "network: {egress: endpoints}\nstorage:\n  scratch: {kind: lustre}\n"

RunRule = Callable[..., list[Finding]]
PlanText = Callable[[str], PlanResult]


def _plan(result: PlanResult) -> Plan:
    assert result.plan is not None
    return result.plan


def _with_group(plan: Plan, **changes: Any) -> Plan:
    pool = plan.pools[0]
    group = replace(pool.node_groups[0], **changes)
    return replace(plan, pools=(replace(pool, node_groups=(group,)),))


def _interface(card: int, device: int, kind: str) -> NetworkInterfacePlan:
    return NetworkInterfacePlan(
        network_card=card, device_index=device, interface_type=kind, takes_address=kind != "efa-only"
    )


def test_a_section_that_is_not_built_is_a_warning_in_the_plans_own_words(
    plan_text: PlanText, run_rule: RunRule
) -> None:
    result = plan_text(EFA_POOL)
    plan = replace(_plan(result), not_built=(NotBuilt(section="queues", says="queues are shown only"),))
    (finding,) = run_rule("GK1015", result, plan)

    assert (finding.path, finding.severity, finding.problem) == (
        "queues",
        Severity.WARNING,
        "queues are shown only",
    )


@pytest.mark.parametrize(
    ("size", "told"),
    [pytest.param(12_288, False, id="fills-what-is-free"), pytest.param(12_289, True, id="one-byte-more")],
)
def test_boot_hooks_over_the_free_user_data_are_refused(
    size: int, told: bool, plan_text: PlanText, run_rule: RunRule
) -> None:
    text = f"region: us-east-1\npools:\n  train:\n    instance_type: g6e.xlarge\n    boot:\n      before_join: [{{name: big, run: {'x' * size}}}]\n"

    assert bool(run_rule("GK1031", plan_text(text))) is told


@pytest.mark.parametrize("missing", ["s3", "ecr.api", "ecr.dkr", "sts", "ec2", "eks", "logs", "ssm", "fsx"])
def test_a_closed_network_without_a_needed_endpoint_is_refused(
    missing: str, plan_text: PlanText, run_rule: RunRule
) -> None:
    result = plan_text(CLOSED)
    plan = _plan(result)
    kept = tuple(name for name in plan.network.endpoints if name != missing)
    (finding,) = run_rule("GK3005", result, replace(plan, network=replace(plan.network, endpoints=kept)))

    assert finding.problem == f"the network is closed and has no endpoint for {missing}"


def test_the_endpoints_that_gpukit_plans_are_complete(plan_text: PlanText, run_rule: RunRule) -> None:
    assert run_rule("GK3005", plan_text(CLOSED)) == []


def test_many_interfaces_in_a_public_subnet_are_refused(plan_text: PlanText, run_rule: RunRule) -> None:
    """Public report: terraform-aws-eks#3533."""
    result = plan_text(EFA_POOL)
    plan = _plan(result)
    public = next(subnet.name for subnet in plan.network.subnets if subnet.role == "public")

    assert run_rule("GK3007", result) == []
    assert [f.severity for f in run_rule("GK3007", result, _with_group(plan, subnets=(public,), subnet=public))] == [
        Severity.ERROR
    ]


@pytest.mark.parametrize(
    ("instance_type", "layout", "problem"),
    [
        pytest.param(
            "p5en.48xlarge",
            [(0, 0, "efa-only")],
            "the primary interface cannot be efa-only: it carries the node's address",
            id="efa-only-primary",
        ),
        pytest.param(
            "p5en.48xlarge",
            [(1, 0, "interface")],
            "the primary interface must be card 0, device 0",
            id="primary-on-card-1",
        ),
        pytest.param("p6-b300.48xlarge", [(0, 0, "efa")], "card 0 takes no EFA", id="p6-b300-card-0-copied-from-p5"),
        pytest.param("p6e-gb200.36xlarge", [(0, 0, "efa")], "card 0 takes no EFA", id="p6e-gb200-card-0"),
        pytest.param(
            "p5en.48xlarge",
            [(0, 0, "interface"), (16, 0, "efa-only")],
            "there is no network card 16; the type has 16",
            id="a-card-too-many",
        ),
        pytest.param(
            "p5en.48xlarge",
            [(0, 0, "interface"), (1, 0, "efa-only"), (1, 1, "efa-only")],
            "card 1 has 2 EFA interfaces, and takes one",
            id="two-efa-on-one-card",
        ),
        pytest.param(
            "p5en.48xlarge",
            [(0, 0, "interface"), (1, 0, "efa-only"), (1, 0, "interface")],
            "card 1, device 0 is used 2 times",
            id="a-device-twice",
        ),
        pytest.param(
            "p5.48xlarge",
            [(0, 0, "interface"), (1, 0, "efa-only"), (1, 1, "interface"), (1, 2, "interface")],
            "card 1 holds 2 interfaces, and 3 are laid out",
            id="more-than-the-card-holds",
        ),
        pytest.param(
            "p6e-gb300r.36xlarge",
            [(0, 0, "interface"), (1, 0, "efa-only")],
            "card 1 holds 0 interfaces, and 1 are laid out",
            id="gb300r-has-nothing-beyond-card-0",
        ),
    ],
)
def test_a_layout_that_the_type_refuses_is_refused(
    instance_type: str, layout: list[tuple[int, int, str]], problem: str, plan_text: PlanText, run_rule: RunRule
) -> None:
    """Public reports: terraform-aws-eks#2182 and #3653, parallelcluster PR#6066, eksctl#7520, aws-k8s-tester PR#531."""
    result = plan_text(EFA_POOL)
    interfaces = tuple(_interface(*item) for item in layout)
    plan = _with_group(_plan(result), instance_type=instance_type, network_interfaces=interfaces)

    assert f"train-1 on {instance_type}: {problem}" in [finding.problem for finding in run_rule("GK3008", result, plan)]


def test_efa_without_its_security_group_is_refused(plan_text: PlanText, run_rule: RunRule) -> None:
    result = plan_text(EFA_POOL)
    plan = _plan(result)

    assert run_rule("GK3009", result) == []
    assert len(run_rule("GK3009", result, replace(plan, network=replace(plan.network, efa=False)))) == 1


def test_lustre_without_its_ports_is_refused(plan_text: PlanText, run_rule: RunRule) -> None:
    result = plan_text(CLOSED)
    plan = _plan(result)

    assert run_rule("GK4011", result) == []
    assert len(run_rule("GK4011", result, replace(plan, network=replace(plan.network, lustre=False)))) == 1


def test_a_line_of_the_bill_without_a_price_is_unknown_and_never_zero(plan_text: PlanText, run_rule: RunRule) -> None:
    result = plan_text(EFA_POOL)
    plan = _plan(result)
    unpriced = tuple(replace(line, unit_usd_per_hour=None, hourly_usd=None, monthly_usd=None) for line in plan.costs)
    findings = run_rule("GK7002", result, replace(plan, costs=unpriced))

    assert {finding.severity for finding in findings} == {Severity.UNKNOWN}
    assert "pools.train" in {finding.path for finding in findings}


@pytest.mark.parametrize(
    ("store", "advice"),
    [
        pytest.param("{kind: efs}", "state `gib`", id="by-what-is-stored"),
        pytest.param("{kind: efs, gib: 100, backup_days: 7}", "leave room for it in the budget", id="backups"),
    ],
)
def test_what_depends_on_use_is_no_missing_row_of_a_table(
    store: str, advice: str, plan_text: PlanText, run_rule: RunRule
) -> None:
    (finding,) = run_rule("GK7002", plan_text(f"{EFA_POOL}storage:\n  home: {store}\n"))

    assert finding.path == "storage.home"
    assert finding.fix.startswith(advice)


def test_an_update_with_surge_on_reserved_nodes_is_refused(plan_text: PlanText, run_rule: RunRule) -> None:
    """Public reports: nebius PR#1091 and karpenter#2409."""
    text = EFA_POOL.replace(
        "zones: [us-east-1a]",
        "capacity: {mode: reserved, reservations: [{id: cr-0123456789abcdef0, nodes: 2, availability_zone: us-east-1a}]}",
    )
    result = plan_text(text)
    plan = _plan(result)
    surging = replace(plan.pools[0].node_groups[0].update, surge=1)

    assert run_rule("GK2027", result) == []
    assert [f.problem for f in run_rule("GK2027", result, _with_group(plan, update=surging))] == [
        "the update starts 1 node(s) beyond the reserved ones"
    ]
