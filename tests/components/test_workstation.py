"""One GPU instance: nobody gets in, nothing is lost, and it stops by itself."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import plans
import pytest
from gpukit_components.network import NetworkBuild
from gpukit_components.workstation import GpuWorkstation, WorkstationBuild, idle_alarm_periods
from recorder import Recorder

from gpukit.images.workstation import render_workstation_user_data
from gpukit.plan import CapacityPlan, Plan

PLAN = plans.workstation_plan()
BUILD = WorkstationBuild(plan=PLAN, ami_id="ami-0123456789abcdef0", vpc_id="vpc-1", subnet_id="subnet-1")


def _build(recorded: Callable[..., Recorder], plan: Plan = PLAN, **changes: Any) -> Recorder:
    return recorded(lambda: GpuWorkstation.from_plan("box", replace(BUILD, plan=plan, **changes)))


def _with(**changes: Any) -> Plan:
    assert PLAN.workstation is not None
    return replace(PLAN, workstation=replace(PLAN.workstation, **changes))


def _on(capacity: CapacityPlan) -> Plan:
    group = replace(PLAN.pools[0].node_groups[0], capacity=capacity)
    return replace(PLAN, pools=(replace(PLAN.pools[0], node_groups=(group,)),))


def test_workstation_has_no_inbound_rule_no_public_address_and_no_key_pair(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded)

    assert made.one("SecurityGroup").inputs["ingress"] == []
    instance = made.one("Instance").inputs
    assert instance["associatePublicIpAddress"] is False
    assert "keyName" not in instance


def test_workstation_requires_imdsv2(recorded: Callable[..., Recorder]) -> None:
    options = _build(recorded).one("Instance").inputs["metadataOptions"]

    assert (options["httpTokens"], options["httpPutResponseHopLimit"]) == ("required", 1)


def test_both_volumes_are_encrypted_with_one_key(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded)

    root, data = made.one("Instance").inputs["rootBlockDevice"], made.one("Volume").inputs
    assert root["encrypted"] is data["encrypted"] is True
    assert root["kmsKeyId"] == data["kmsKeyId"] == "arn:aws:mock:us-east-1:111122223333:box-key"


@pytest.mark.parametrize("protect", [True, False], ids=["protected", "free"])
def test_data_volume_and_its_key_are_kept_exactly_as_the_plan_says(
    recorded: Callable[..., Recorder], protect: bool
) -> None:
    made = _build(recorded, replace(PLAN, protect=protect))

    for kind in ("Volume", "Key"):
        resource = made.one(kind)
        assert (resource.protect, resource.retain_on_delete) == (protect, protect), kind


def test_workstation_without_data_volume_attaches_nothing(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, _with(data_volume_gib=0))

    assert made.of("Volume") == made.of("VolumeAttachment") == []
    assert "vol-" not in made.one("Instance").inputs["userData"]


def test_power_off_stops_the_instance_and_does_not_end_it(recorded: Callable[..., Recorder]) -> None:
    assert _build(recorded).one("Instance").inputs["instanceInitiatedShutdownBehavior"] == "stop"


def test_alarm_stops_an_idle_instance_half_an_hour_after_its_own_timer(recorded: Callable[..., Recorder]) -> None:
    alarm = _build(recorded).one("MetricAlarm").inputs

    assert alarm["alarmActions"] == ["arn:aws:automate:us-east-1:ec2:stop"]
    assert alarm["dimensions"] == {"InstanceId": "box-instance-id"}
    assert alarm["period"] * alarm["evaluationPeriods"] == (60 + 30) * 60
    assert alarm["treatMissingData"] == "notBreaching"


@pytest.mark.parametrize(
    ("minutes", "periods"),
    [
        pytest.param(1, 7, id="rounded-up"),
        pytest.param(60, 18, id="default"),
        pytest.param(100_000, 288, id="one-day-is-the-most"),
    ],
)
def test_alarm_waits_whole_periods_within_a_day(minutes: int, periods: int) -> None:
    """CloudWatch refuses 86,700 s with a period below one hour."""
    assert idle_alarm_periods(minutes) == periods


def test_idle_stop_that_is_switched_off_makes_neither_timer_nor_alarm(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, _with(idle_stop_minutes=0))

    assert made.of("MetricAlarm") == []
    assert "gpukit-idle" not in made.one("Instance").inputs["userData"]


def test_sessions_are_the_only_right_of_the_instance(recorded: Callable[..., Recorder]) -> None:
    (attached,) = _build(recorded).of("RolePolicyAttachment")

    assert attached.inputs["policyArn"] == "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"


def test_capacity_block_instance_names_market_and_reservation(recorded: Callable[..., Recorder]) -> None:
    block = CapacityPlan(mode="capacity-block", reservation_id="cr-0123456789abcdef0", market_type="capacity-block")
    instance = _build(recorded, _on(block)).one("Instance").inputs

    assert instance["instanceMarketOptions"] == {"marketType": "capacity-block"}
    target = instance["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": "cr-0123456789abcdef0"}


def test_spot_instance_stops_when_it_is_taken_back(recorded: Callable[..., Recorder]) -> None:
    """EC2 refuses a persistent spot request that terminates on interruption."""
    spot = CapacityPlan(mode="spot", eks_capacity_type="SPOT", max_usd_per_hour=0.5)

    assert _build(recorded, _on(spot)).one("Instance").inputs["instanceMarketOptions"] == {
        "marketType": "spot",
        "spotOptions": {
            "spotInstanceType": "persistent",
            "instanceInterruptionBehavior": "stop",
            "maxPrice": "0.5",
        },
    }


def test_workstation_makes_its_own_network_where_none_is_given(recorded: Callable[..., Recorder]) -> None:
    network = NetworkBuild(plan=PLAN.network, region="us-east-1", tags=plans.TAGS)
    made = _build(recorded, network=network, vpc_id=None, subnet_id=None)

    assert made.one("Instance").inputs["subnetId"] == "box-gpu-us-east-1a-id"
    assert made.one("Vpc").inputs["cidrBlock"] == "10.0.0.0/16"


def test_new_instance_comes_after_the_old_one_has_given_the_volume_back(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded)

    assert made.one("Instance").delete_before_replace is True
    assert made.one("VolumeAttachment").delete_before_replace is True


def test_user_data_is_the_images_own_for_this_data_volume_and_boot_log(recorded: Callable[..., Recorder]) -> None:
    wanted = render_workstation_user_data(
        PLAN, PLAN.pools[0], plans.AMI_IMAGE, volume_id="vol-0123456789abcdef0", log_group="/gpukit/ml-test/boot"
    )
    made = _build(recorded)

    assert made.one("Instance").inputs["userData"] == wanted
    assert made.one("LogGroup").inputs["name"] == "/gpukit/ml-test/boot"
