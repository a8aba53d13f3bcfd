"""Find the AMI of each node group, and try its launch with DryRun: AWS checks everything and starts nothing."""

from collections.abc import Iterator
from typing import Any, Final

from gpukit.plan import ImagePlan, NodeGroupPlan, Plan
from gpukit.preflight.account import Account, Refused
from gpukit.preflight.answers import unknown_because
from gpukit.preflight.probe import ProbeResult, Verdict

ACTIONS = ("ec2:DescribeImages",)
DRY_RUN_ACTION = "ec2:RunInstances"
"""Asked with DryRun only. IAM cannot allow the dry run alone, so the printed policy leaves it out."""

_FIXES: Final = {
    "VcpuLimitExceeded": "raise the vCPU quota of the type's family",
    "MaxSpotInstanceCountExceeded": "raise the spot quota of the type's family",
    "InstanceLimitExceeded": "raise the quota of the type's family",
    "Unsupported": "use a zone that offers the type",
    "InvalidAMIID.NotFound": "use an image that this account can see in this region",
    "InvalidAMIID.Unavailable": "use an image that is available",
    "InvalidParameterCombination": "change what the message names: these settings exclude each other",
    "InvalidParameterValue": "change the value that the message names",
    "InvalidCapacityReservationId.NotFound": "check the reservation's id, account and region",
    "InvalidCapacityReservationState": "name a reservation that is active",
    "ReservationCapacityExceeded": "the reservation is full: lower the nodes, or free instances",
    "InvalidSubnetID.NotFound": "check the subnet's id and region",
    "InsufficientFreeAddressesInSubnet": "use a larger subnet",
    "NetworkInterfaceLimitExceeded": "raise the quota of network interfaces (L-DF5E4CA3)",
    "InvalidPlacementGroup.Unknown": "name a placement group that exists, or `auto`",
    "OptInRequired": "opt in to the region or Local Zone",
    "Blocked": "ask AWS Support: the account may not launch",
    "PendingVerification": "wait: AWS verifies the account for this region",
}
"""EC2's error code -> what to do. Source: EC2 API Reference, "Error codes for the Amazon EC2 API"."""
_NOT_A_NO: Final = frozenset({"VPCIdNotSpecified", "MissingInput", "DefaultVpcDoesNotExist", "PendingVerification"})
"""The launch could not be tried, which says nothing about the plan."""


def ask_images(account: Account, plan: Plan, found: dict[str, str]) -> Iterator[ProbeResult]:
    """Yield one answer for each image; the AMI ids are put into `found` under the image's name."""
    roots = {
        image.name: min(
            (group.root_gib for pool in plan.all_pools for group in pool.node_groups if group.image == image.name),
            default=0,
        )
        for image in plan.images
    }
    for image in plan.images:
        path = f"images.{image.name}"
        question = f"is the AMI of image {image.name} there"
        which = _which(image)
        if which is None:
            yield _image_result(
                path,
                question,
                Verdict.UNKNOWN,
                "the plan names a release, and no AMI by id or name",
                "EKS resolves the release itself",
            )
            continue
        try:
            images = account.ask("ec2", "DescribeImages", **which).get("Images", [])
        except Refused as refused:
            if "NotFound" in refused.code or "Malformed" in refused.code:
                images = []
            else:
                yield unknown_because(refused, probe="image", path=path, question=question)
                continue
        if not images:
            yield _image_result(
                path,
                question,
                Verdict.FAIL,
                f"{image.ami_id or image.ami_name} cannot be seen in {account.region}",
                "use one that this account can see",
            )
            continue
        newest = max(images, key=lambda item: str(item.get("CreationDate", "")))
        found[image.name] = str(newest["ImageId"])
        yield _judge_image(newest, image, roots[image.name], path, question)


def _which(image: ImagePlan) -> dict[str, Any] | None:
    """Return how to find the image: by id, by name, or by the name that belongs to its EKS release; None if unknown."""
    if image.ami_id is not None:
        return {"ImageIds": [image.ami_id]}
    name, owner = image.ami_name, image.ami_owner
    if name is None and image.release_version is not None:
        from gpukit.images.manifest import load_manifest

        for row in load_manifest().amis:
            if (row.release_version, row.ami_type) == (image.release_version, image.ami_type) and row.ami_name:
                name, owner = row.ami_name, row.ami_owner
    return {"Owners": [owner or "amazon"], "Filters": [{"Name": "name", "Values": [name]}]} if name else None


def _judge_image(found: dict[str, Any], image: ImagePlan, root_gib: int, path: str, question: str) -> ProbeResult:
    sizes = [
        item["Ebs"]["VolumeSize"]
        for item in found.get("BlockDeviceMappings", [])
        if "VolumeSize" in item.get("Ebs", {})
    ]
    if found.get("State") != "available":
        return _image_result(
            path, question, Verdict.FAIL, f"its state is {found.get('State')}", "use one that is available"
        )
    if found.get("Architecture") != image.architecture:
        return _image_result(
            path,
            question,
            Verdict.FAIL,
            f"it is for {found.get('Architecture')}, and nodes are {image.architecture}",
            "use one of the nodes' architecture",
        )
    if sizes and root_gib and max(sizes) > root_gib:
        return _image_result(
            path,
            question,
            Verdict.FAIL,
            f"its snapshot has {max(sizes)} GiB, and the root volume {root_gib}",
            f"set `root_volume.gib` to at least {max(sizes)}",
        )
    return _image_result(path, question, Verdict.PASS, f"{found['ImageId']}, {found.get('Name', '')}".rstrip(", "), "")


def _image_result(path: str, question: str, verdict: Verdict, answer: str, fix: str) -> ProbeResult:
    return ProbeResult(
        probe="image", path=path, question=question, verdict=verdict, answer=answer, fix=fix, action=ACTIONS[0]
    )


def ask_launches(account: Account, plan: Plan, images: dict[str, str]) -> Iterator[ProbeResult]:
    """Yield what EC2 says to the launch of each node group with DryRun; groups that launch alike are asked once."""
    alike: dict[str, list[NodeGroupPlan]] = {}
    for pool in plan.all_pools:
        for group in pool.node_groups:
            key = repr((group.pool, group.opens, launch_parameters(plan, group, images.get(group.image, ""))))
            alike.setdefault(key, []).append(group)
    for groups in alike.values():
        group = groups[0]
        path = f"pools.{group.pool}"
        more = f" (and of {len(groups) - 1} more like it)" if len(groups) > 1 else ""
        question = f"would a node of {group.name}{more} launch"
        if group.image not in images:
            yield _launch_result(
                path, question, Verdict.UNKNOWN, "its AMI is not known", "see the answer about the image"
            )
        elif group.opens is not None:
            yield _launch_result(
                path, question, Verdict.UNKNOWN, f"its block opens on {group.opens}", "run it again on that day"
            )
        else:
            yield _try(account, plan, group, images[group.image], path, question)


def _try(account: Account, plan: Plan, group: NodeGroupPlan, ami: str, path: str, question: str) -> ProbeResult:
    try:
        account.ask("ec2", "RunInstances", **launch_parameters(plan, group, ami))
    except Refused as refused:
        if refused.code == "DryRunOperation":
            return _launch_result(path, question, Verdict.PASS, "yes", "")
        if refused.denied:
            return _launch_result(
                path, question, Verdict.UNKNOWN, f"this principal may not call {DRY_RUN_ACTION}",
                "run it as the principal that deploys; the reading policy leaves launching out on purpose",
            )  # fmt: skip
        if refused.code in _NOT_A_NO or refused.throttled:
            return unknown_because(refused, probe="launch", path=path, question=question)
        fix = _FIXES.get(refused.code, "change what the message names")
        return _launch_result(path, question, Verdict.FAIL, f"{refused.code}: {refused.message[:200]}", fix)
    return _launch_result(path, question, Verdict.UNKNOWN, "EC2 gave no answer to the dry run", "run it again")


def launch_parameters(plan: Plan, group: NodeGroupPlan, ami: str) -> dict[str, Any]:
    """
    Return RunInstances with what the group's launch template holds, for one instance and with DryRun.

    In a network that is still to be made, EC2 is asked in the account's default VPC and without interfaces: type, zone,
    image, volume, market and reservation are still tried.
    """
    parameters: dict[str, Any] = {
        "DryRun": True,
        "MinCount": 1,
        "MaxCount": 1,
        "ImageId": ami,
        "InstanceType": group.instance_type,
        "MetadataOptions": {"HttpTokens": "required"},
        "BlockDeviceMappings": [
            {
                "DeviceName": "/dev/xvda",
                "Ebs": {"VolumeSize": group.root_gib, "VolumeType": group.root_volume.volume_type, "Encrypted": True}
                | ({"Iops": group.root_volume.iops} if group.root_volume.iops else {})
                | ({"Throughput": group.root_volume.throughput_mb_s} if group.root_volume.throughput_mb_s else {}),
            }
        ],
    }
    if group.capacity.market_type:
        parameters["InstanceMarketOptions"] = {"MarketType": group.capacity.market_type}
    target: dict[str, str] = {}
    if group.capacity.reservation_id:
        target = {"CapacityReservationId": group.capacity.reservation_id}
    elif group.capacity.reservation_group_arn:
        target = {"CapacityReservationResourceGroupArn": group.capacity.reservation_group_arn}
    if target:
        parameters["CapacityReservationSpecification"] = {"CapacityReservationTarget": target}
    placement: dict[str, str] = {}
    if group.placement_group and not group.owns_placement_group:
        placement["GroupName"] = group.placement_group
    subnets = {subnet.name: subnet.existing_id for subnet in plan.network.subnets}
    subnet_id = subnets.get(group.subnet)
    if subnet_id is not None:
        parameters["NetworkInterfaces"] = [
            {
                "NetworkCardIndex": item.network_card,
                "DeviceIndex": item.device_index,
                "InterfaceType": item.interface_type,
                "SubnetId": subnet_id,
                "DeleteOnTermination": True,
            }
            for item in group.network_interfaces
        ]
    elif group.availability_zone:
        placement["AvailabilityZone"] = group.availability_zone
    if placement:
        parameters["Placement"] = placement
    return parameters


def _launch_result(path: str, question: str, verdict: Verdict, answer: str, fix: str) -> ProbeResult:
    return ProbeResult(
        probe="launch", path=path, question=question, verdict=verdict, answer=answer, fix=fix, action=DRY_RUN_ACTION
    )
