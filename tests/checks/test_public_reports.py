"""
Public reports, each a claim: the input that failed for somebody is refused, the corrected one accepted.

Numbers are those of the projects named in each docstring. Reports about preview, destroy and health are tested where
those live.
"""

from collections.abc import Callable
from typing import Any

import pytest

from gpukit.catalog import load_catalog
from gpukit.finding import Severity
from gpukit.judge import Judgement
from gpukit.plan import Plan
from gpukit.planning import PlanResult

JudgeText = Callable[..., Judgement]
PlanText = Callable[[str], PlanResult]
RESERVATION = "{id: cr-0123456789abcdef0, nodes: 16, availability_zone: us-east-1a}"


def _pool(**keys: str) -> str:
    settings = {"instance_type": "p5en.48xlarge", "nodes": "16", "zones": "[us-east-1a]"} | keys
    inside = "".join(f"    {key}: {value}\n" for key, value in settings.items() if value)
    return f"region: us-east-1\npools:\n  train:\n{inside}"


def _errors(judged: Judgement) -> set[str]:
    return {finding.code for finding in judged.findings if finding.severity is Severity.ERROR}


def _plan(result: PlanResult) -> Plan:
    assert result.plan is not None
    return result.plan


def test_reservation_pool_makes_no_placement_group(plan_text: PlanText) -> None:
    """eksctl#7949: a hidden group split the reservation, 11 of 16 launched."""
    plan = _plan(plan_text(_pool(zones="", capacity=f"{{mode: reserved, reservations: [{RESERVATION}]}}")))

    assert [(g.placement_group, g.owns_placement_group) for g in plan.pools[0].node_groups] == [(None, False)]


@pytest.mark.parametrize(
    ("efa", "placement_group", "owned"),
    [
        pytest.param("true", "none", False, id="efa-without-group"),
        pytest.param("true", "auto", True, id="efa-with-group"),
        pytest.param("false", "auto", False, id="neither"),
    ],
)
def test_efa_and_placement_group_are_independent_inputs(
    efa: str, placement_group: str, owned: bool, plan_text: PlanText
) -> None:
    """terraform-aws-eks#3661, PR#3730, PR#3588."""
    plan = _plan(plan_text(_pool(efa=efa, placement_group=placement_group)))

    assert plan.pools[0].efa is (efa == "true")
    assert plan.pools[0].node_groups[0].owns_placement_group is owned


def test_a_placement_group_that_exists_is_used_by_its_name(plan_text: PlanText) -> None:
    """terraform-aws-eks PR#3588: the given group's name was ignored."""
    plan = _plan(plan_text(_pool(placement_group="fast")))

    assert (plan.pools[0].node_groups[0].placement_group, plan.pools[0].node_groups[0].owns_placement_group) == (
        "fast",
        False,
    )


def test_a_reservations_group_must_be_the_pools(judge_text: JudgeText, plan_text: PlanText) -> None:
    """aws-parallelcluster#4215."""
    held = RESERVATION.replace("}", ", placement_group: theirs}")
    wrong = _pool(zones="", placement_group="mine", capacity=f"{{mode: reserved, reservations: [{held}]}}")
    right = _pool(zones="", capacity=f"{{mode: reserved, reservations: [{held}]}}")

    assert "GK2012" in _errors(judge_text(wrong))
    assert _errors(judge_text(right)) == set()
    assert _plan(plan_text(right)).pools[0].node_groups[0].placement_group == "theirs"


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        pytest.param({"nodes": "{min: 1, max: 16}"}, "GK2010", id="min-differs-from-max"),
        pytest.param({"placement_group": "fast"}, "GK2011", id="placement-group"),
    ],
)
def test_capacity_block_rules(keys: dict[str, str], code: str, judge_text: JudgeText) -> None:
    """aws-parallelcluster PR#5817 and PR#5833."""
    block = {"zones": "", "capacity": f"{{mode: capacity-block, reservations: [{RESERVATION}]}}"}

    assert code in _errors(judge_text(_pool(**(block | keys))))
    assert _errors(judge_text(_pool(**block))) == set()


def test_no_spot_for_a_type_that_is_sold_in_blocks_only(judge_text: JudgeText) -> None:
    """aws-parallelcluster PR#5833."""
    zone = "cooling_zones: {liquid: {method: liquid, racks: 1}}\n"
    keys = {"instance_type": "", "ultraserver": "u-p6e-gb200x72", "nodes": "18", "zones": "", "cooling_zone": "liquid"}

    assert "GK2013" in _errors(judge_text(zone + _pool(**keys, capacity="{mode: spot}")))
    assert "GK2013" not in _errors(judge_text(zone + _pool(**keys, capacity="{mode: capacity-block}")))


@pytest.mark.parametrize(
    ("word", "known"),
    [
        pytest.param("capacity-block", True, id="capacity-block"),
        pytest.param("reserved", True, id="reserved"),
        pytest.param("spot", True, id="spot"),
        pytest.param("on-demand", True, id="on-demand"),
        pytest.param("block", False, id="anything-else"),
    ],
)
def test_the_capacity_mode_is_one_of_four_words(word: str, known: bool, judge_text: JudgeText) -> None:
    """karpenter#6519 and #3324, skypilot#3039 and #3687, dstack#1155."""
    judged = judge_text(_pool(capacity=f"{{mode: {word}}}"))
    told = [finding for finding in judged.findings if finding.path.endswith("capacity.mode")]

    assert (told == []) is known
    if not known:
        assert "did you mean `capacity-block`?" in told[0].fix or "capacity-block" in told[0].problem


def test_reserved_capacity_ignores_the_vcpu_quota(judge_text: JudgeText) -> None:
    """skypilot PR#3937: quota 0 on demand blocked reserved nodes."""
    zero = "limits: {L-417A185B: 0}\n"
    reserved = _pool(zones="", capacity=f"{{mode: reserved, reservations: [{RESERVATION}]}}")

    assert "GK2040" not in _errors(judge_text(zero + reserved))


def test_the_launch_template_and_the_node_group_both_carry_the_block(plan_text: PlanText) -> None:
    """terraform-provider-aws#40876."""
    plan = _plan(plan_text(_pool(zones="", capacity=f"{{mode: capacity-block, reservations: [{RESERVATION}]}}")))
    capacity = plan.pools[0].node_groups[0].capacity

    assert (capacity.market_type, capacity.eks_capacity_type, capacity.reservation_id) == (
        "capacity-block",
        "CAPACITY_BLOCK",
        "cr-0123456789abcdef0",
    )


def test_efa_on_a_type_without_it_is_refused_instead_of_falling_to_tcp(judge_text: JudgeText) -> None:
    """skypilot#10055: a node without EFA ran a job over TCP about 100 times slower, without a sign."""
    assert "GK2022" in _errors(judge_text(_pool(instance_type="g6e.xlarge", efa="true")))
    assert _errors(judge_text(_pool(instance_type="g6e.8xlarge", efa="true"))) == set()


def test_nodes_of_one_fabric_stay_in_one_zone(judge_text: JudgeText, plan_text: PlanText) -> None:
    """skypilot#10056."""
    assert "GK2020" in _errors(judge_text(_pool(zones="[us-east-1a, us-east-1c]")))
    assert {g.availability_zone for g in _plan(plan_text(_pool(zones=""))).pools[0].node_groups} == {"us-east-1a"}


def test_what_is_not_known_of_an_accelerator_is_no_pass(judge_text: JudgeText) -> None:
    """aicr#531, PR#640: a check was skipped for GB200 and yet passed."""
    judged = judge_text("images: {own: {ami_id: ami-0123456789abcdef0}}\n" + _pool(image="own", nodes="1", efa=""))

    assert {f.severity for f in judged.findings if f.code == "GK5006"} == {Severity.UNKNOWN}


def test_secondary_cards_take_no_address_by_default(plan_text: PlanText) -> None:
    """dstack#1804, #2270, PR#3865: all cards took addresses until none was left."""
    plan = _plan(plan_text(_pool(instance_type="p5.48xlarge")))

    assert plan.pools[0].addresses_per_node == 1
    assert plan.pools[0].efa_interfaces_per_node == 32


def test_pools_above_the_quota_are_caught_before_anything_is_made(judge_text: JudgeText) -> None:
    """aws-parallelcluster#1375 and #1115; skypilot#502 and #1450: the quota's code is named."""
    judged = judge_text("limits: {L-417A185B: 1000}\n" + _pool())
    told = [finding for finding in judged.findings if finding.code == "GK2040"]

    assert [f.severity for f in told] == [Severity.ERROR]
    assert "3,072 of 1,000 vCPUs (L-417A185B)" in told[0].problem
    assert "L-417A185B" in told[0].fix


def test_more_than_30_node_groups_are_refused(judge_text: JudgeText) -> None:
    """2i2c-org/infrastructure#7374, eksctl#3974, containers-roadmap#2272."""

    def pools(count: int) -> str:
        inside = "".join(f"  p{n}: {{instance_type: g6e.xlarge}}\n" for n in range(count))
        return "region: us-east-1\nlimits: {L-DB2E81BA: 100000}\npools:\n" + inside

    assert "GK2040" in _errors(judge_text(pools(31)))
    assert "GK2040" not in _errors(judge_text(pools(20)))


def test_a_subnet_too_small_for_its_nodes_is_refused(judge_text: JudgeText) -> None:
    """nvidia-terraform-modules PR#17."""
    assert "GK3001" in _errors(judge_text("network: {cidr: 10.0.0.0/24}\n" + _pool()))
    assert "GK3001" not in _errors(judge_text("network: {cidr: 10.0.0.0/16}\n" + _pool()))


def test_an_unknown_combination_of_driver_and_image_is_refused(judge_text: JudgeText) -> None:
    """parallelcluster#6015, #4324, #6653."""
    wrong = "images: {own: {framework: pytorch, driver: '470'}}\n" + _pool(image="own")

    assert "GK5001" in _errors(judge_text(wrong))
    assert _errors(judge_text(wrong.replace(", driver: '470'", ""))) == set()


def test_an_image_that_moves_is_refused(judge_text: JudgeText) -> None:
    """pulumi-eks#88: do not fetch the newest image on each run."""
    wrong = "images: {own: {framework: pytorch, container: 'nvcr.io/nvidia/pytorch:latest'}}\n" + _pool(image="own")

    assert "GK5002" in _errors(judge_text(wrong))
    assert "GK5002" not in _errors(judge_text(wrong.replace(":latest", ":25.08-py3")))


def test_every_image_of_a_plan_is_resolved_to_one_exact_release(plan_text: PlanText) -> None:
    """aws-cdk#7273: a moving parameter replaced all nodes with an empty diff; pulumi-eks#1526: the AMI type is explicit."""
    plan = _plan(plan_text(_pool()))
    (image,) = [image for image in plan.images if image.name == plan.pools[0].image]

    assert image.ami_type == "AL2023_x86_64_NVIDIA"
    assert image.release_version or image.ami_id or image.ami_name


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        pytest.param("gib: 4800, throughput_tier: 125, efa: true", "GK4001", id="a-sixteenth-of-the-efa-minimum"),
        pytest.param("deployment_type: PERSISTENT_1, gib: 2400, efa: true", "GK4003", id="efa-on-persistent-1"),
    ],
)
def test_lustre_with_efa_takes_larger_steps_and_persistent_2(keys: str, code: str, judge_text: JudgeText) -> None:
    """awsome PR#1124, terraform-provider-aws#40381, aws-fsx-csi-driver PR#402."""
    right = "gib: 38400, throughput_tier: 125, efa: true"

    assert code in _errors(judge_text(_pool() + f"storage:\n  scratch: {{kind: lustre, {keys}}}\n"))
    assert _errors(judge_text(_pool() + f"storage:\n  scratch: {{kind: lustre, {right}}}\n")) == set()


def test_an_hourly_and_a_monthly_cap_stop_a_plan_that_costs_more(judge_text: JudgeText) -> None:
    """skypilot#8766 and #7837, parallelcluster#3205."""
    for cap in ("hourly_usd: 100", "monthly_usd: 100000"):
        assert "GK7001" in _errors(judge_text(f"budget: {{{cap}}}\n" + _pool()))
    assert "GK7001" not in _errors(judge_text("budget: {hourly_usd: 5000, monthly_usd: 3000000}\n" + _pool()))


def test_cooling_methods_are_the_four_words_of_the_field(judge_text: JudgeText) -> None:
    """netbox#22447, PR#22517."""

    def zone(method: Any) -> str:
        return f"cooling_zones: {{hall: {{method: {method}}}}}\n" + _pool(cooling_zone="hall")

    for method in ("air", "liquid", "hybrid", "immersion"):
        assert _errors(judge_text(zone(method))) == set()
    assert "GK1003" in _errors(judge_text(zone("water")))


def test_removing_one_node_is_an_edit_that_needs_nothing_else(judge_text: JudgeText) -> None:
    """awsome PR#1011, magic_castle#58."""
    assert _errors(judge_text(_pool(nodes="15"))) == set()


def test_replacing_nodes_of_fixed_capacity_after_one_alarm_is_warned_of(judge_text: JudgeText) -> None:
    """containers-roadmap#2763, #2555, #2567."""
    text = "health: {repair: replace}\n" + _pool(
        zones="", capacity=f"{{mode: reserved, reservations: [{RESERVATION}]}}"
    )

    assert "GK1035" in {finding.code for finding in judge_text(text).findings}
    assert "GK1035" not in {f.code for f in judge_text(text.replace("replace}", "taint}")).findings}


@pytest.mark.parametrize("instance_type", [row.name for row in load_catalog().instance_types() if row.supports_efa])
def test_the_planned_layout_of_every_efa_type_is_legal(instance_type: str, plan_text: PlanText, run_rule: Any) -> None:
    """terraform-aws-eks#2182 and #3653, parallelcluster PR#6066, eksctl#7520, aws-k8s-tester PR#531."""
    result = plan_text(f"region: us-east-1\npools:\n  train: {{instance_type: {instance_type}, nodes: 2, efa: true}}\n")

    assert run_rule("GK3008", result) == []
