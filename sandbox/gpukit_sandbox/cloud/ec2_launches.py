"""RunInstances: from a request to instances, through every rule of EC2, the quotas and the capacity of the zone."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from moto.backends import get_backend
from moto.ec2.models.instances import Reservation

from gpukit_sandbox.cloud import ec2_launch_rules
from gpukit_sandbox.cloud.ec2_capacity import find_reservation, free_instances, open_reservation_for
from gpukit_sandbox.cloud.ec2_instances import CardInterface, CloudInstance, free_addresses, require_address
from gpukit_sandbox.cloud.ec2_placement import find_group
from gpukit_sandbox.cloud.ec2_quota_use import require_vcpus
from gpukit_sandbox.cloud.ec2_templates import resolve_template
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, World, new_id

LAUNCHED_BY_AWS: Final = "_launched-by"


def backend_of(region: str) -> Any:
    """Return moto's EC2 of a region."""
    return get_backend("ec2")[ACCOUNT_ID][region]


def live_instances(region: str) -> Iterator[Any]:
    """Yield the instances of a region that are not terminated."""
    regions = get_backend("ec2")[ACCOUNT_ID]
    if region in regions.keys():  # noqa: SIM118 - `in` asks for known regions, not for made ones
        for reservation in regions[region].reservations.values():
            for instance in reservation.instances:
                if instance.state != "terminated":
                    yield instance


@action("ec2", "RunInstances")
def run_instances(call: ApiCall) -> dict[str, Any]:
    """Launch instances. Raises what EC2 raises, DryRunOperation last."""
    low, high = int(call.params.get("MinCount") or 0), int(call.params.get("MaxCount") or 0)
    if low < 1 or high < low:
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({low}) for parameter minCount is invalid: it must be at least 1 and at most maxCount ({high}).",
        )
    token = call.params.get("ClientToken")
    known = call.world.table(call.region, "_client-tokens")
    if token and token in known:
        previous = backend_of(call.region).reservations.get(known[token])
        if previous is not None:
            return _shown(previous)
    request = resolve_template(call.world, call.region, call.params)
    plan = ec2_launch_rules.check_launch(call.world, call.region, request, count=high)
    if call.params.get("DryRun"):
        raise AwsError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
    count = high if low == high else max(low, min(high, _affordable(call, plan, high)))
    reservation = launch(
        call.world, call.region, request, plan, count=count, capacity=call.environ.get("gpukit.faults")
    )
    if token:
        known[token] = reservation.id
    return _shown(reservation)


def launch(
    world: World,
    region: str,
    request: Mapping[str, Any],
    plan: "ec2_launch_rules.LaunchPlan",
    *,
    count: int,
    capacity: Any,
) -> Reservation:
    """
    Make the instances of a request that passed the rules: all of them, or none.

    `capacity` is the switchboard that may say that a zone has none left. Raises the refusals of quota, reservation, address and capacity.
    """
    backend = backend_of(region)
    reserved = _claim_reservation(world, region, request, plan, count)
    if reserved is None:
        require_vcpus(world, region, plan.instance_type, count, spot=plan.market == "spot")
        _require_capacity(capacity, region, plan.instance_type, plan.subnet.availability_zone, count)
    _require_network_interfaces(world, region, backend, plan, count)
    _require_storage(world, region, backend, plan, count)
    reservation = Reservation(new_id("r"), owner_id=ACCOUNT_ID)
    tags = _tags_by_kind(request)
    addresses = {subnet_id: free_addresses(backend, subnet) for subnet_id, subnet in plan.subnets.items()}
    # Draw every address before anything is made: a launch is whole or not at all.
    drawn = [[_draw(interface, addresses, plan) for interface in plan.interfaces] for _ in range(count)]
    vpc = backend.get_vpc(plan.subnet.vpc_id)
    hostnames = bool(getattr(vpc, "enable_dns_hostnames", False))
    backend.reservations[reservation.id] = reservation
    for index in range(count):
        instance = CloudInstance(backend, request=request, image=plan.image, subnet=plan.subnet, launch_index=index)
        reservation.instances.append(instance)
        instance.security_groups = list(plan.interfaces[0].groups)
        if reserved is not None:
            instance.capacity_reservation_id = reserved["CapacityReservationId"]
        for interface, address in zip(plan.interfaces, drawn[index], strict=True):
            made = interface.existing or CardInterface(
                backend,
                plan.subnets[interface.subnet_id],
                address=address,
                groups=list(interface.groups),
                settings=interface.settings,
                hostnames=hostnames,
            )
            backend.enis[made.id] = made
            instance.attach(made)
            if tags.get("network-interface"):
                made.add_tags(tags["network-interface"])
        if tags.get("instance"):
            instance.add_tags(tags["instance"])
        if plan.template_tags:
            instance.add_tags(plan.template_tags)
        _add_volumes(backend, instance, plan, tags.get("volume", {}))
        if plan.instance_profile is not None:
            backend.associate_iam_instance_profile(
                instance_id=instance.id, iam_instance_profile_arn=plan.instance_profile
            )
    return reservation


def require_zone_capacity(call: ApiCall, instance_type: str, zone: str, count: int) -> None:
    """Raise InsufficientInstanceCapacity when a fault says that the zone has not that many left."""
    _require_capacity(call.environ.get("gpukit.faults"), call.region, instance_type, zone, count)


def _require_capacity(capacity: Any, region: str, instance_type: str, zone: str, count: int) -> None:
    left = capacity.capacity_left(instance_type, zone) if capacity is not None else None
    if left is None:
        return
    running = sum(
        1
        for each in live_instances(region)
        if each.instance_type == instance_type and each.availability_zone == zone and not each.capacity_reservation_id
    )
    if running + count > left:
        raise AwsError(
            "InsufficientInstanceCapacity",
            f"We currently do not have sufficient {instance_type} capacity in the Availability Zone you requested ({zone}). Our system will be working on "
            "provisioning additional capacity.",
        )


def _claim_reservation(
    world: World, region: str, request: Mapping[str, Any], plan: "ec2_launch_rules.LaunchPlan", count: int
) -> dict[str, Any] | None:
    """Return the reservation that the launch falls into; None for on-demand and Spot. Raises ReservationCapacityExceeded."""
    short = AwsError(
        "ReservationCapacityExceeded",
        "The requested reservation does not have sufficient compatible and available capacity for this request.",
    )
    if plan.reservation_id is not None:
        record = find_reservation(world, region, plan.reservation_id)
        if free_instances(region, record) < count:
            raise short
        return record
    if plan.reservation_group:
        for identifier in plan.reservation_group:
            record = find_reservation(world, region, identifier)
            fits = (
                record["State"] == "active"
                and record["InstanceType"] == plan.instance_type
                and record["AvailabilityZone"] == plan.subnet.availability_zone
            )
            if fits and free_instances(region, record) >= count:
                return record
        if plan.reservation_preference == "capacity-reservations-only":
            raise short
        return None
    if plan.market is not None or plan.reservation_preference == "none":
        return None
    group_name = (request.get("Placement") or {}).get("GroupName")
    group = find_group(world, region, group_name)["GroupArn"] if group_name else None
    tenancy = (request.get("Placement") or {}).get("Tenancy") or "default"
    found = open_reservation_for(
        world,
        region,
        instance_type=plan.instance_type,
        zone=plan.subnet.availability_zone,
        tenancy=tenancy,
        group_arn=group,
    )
    if found is not None and free_instances(region, found) >= count:
        return found
    if plan.reservation_preference == "capacity-reservations-only":
        raise short
    return None


def _affordable(call: ApiCall, plan: "ec2_launch_rules.LaunchPlan", high: int) -> int:
    """Return how many of the wanted instances a short capacity gives, for a request with a range."""
    if plan.reservation_id is not None:
        return min(high, free_instances(call.region, find_reservation(call.world, call.region, plan.reservation_id)))
    faults = call.environ.get("gpukit.faults")
    left = faults.capacity_left(plan.instance_type, plan.subnet.availability_zone) if faults is not None else None
    return high if left is None else min(high, left)


def _require_network_interfaces(
    world: World, region: str, backend: Any, plan: "ec2_launch_rules.LaunchPlan", count: int
) -> None:
    from gpukit_sandbox.cloud.quotas import quota

    limit = quota(world, region, "vpc", "network-interfaces")
    if len(backend.enis) + count * sum(1 for each in plan.interfaces if each.existing is None) > limit:
        raise AwsError(
            "NetworkInterfaceLimitExceeded",
            f"You have reached the maximum number of network interfaces in the Region ({limit:.0f}).",
        )


def _require_storage(world: World, region: str, backend: Any, plan: "ec2_launch_rules.LaunchPlan", count: int) -> None:
    from gpukit_sandbox.cloud.quotas import quota

    for volume_type in ("gp3", "gp2"):
        wanted = count * sum(each.size_gib for each in plan.volumes if each.volume_type == volume_type)
        if not wanted:
            continue
        standing = sum(int(each.size) for each in backend.volumes.values() if each.volume_type == volume_type)
        limit = quota(world, region, "ebs", f"{volume_type}-tib")
        if standing + wanted > limit * 1024:
            raise AwsError(
                "VolumeLimitExceeded",
                f"You have exceeded your maximum {volume_type} storage limit of {limit:.0f} TiB in this region.",
            )


def _draw(interface: Any, addresses: dict[str, Iterator[str]], plan: "ec2_launch_rules.LaunchPlan") -> str | None:
    if interface.existing is not None or interface.kind == "efa-only":
        return None
    if interface.settings.get("PrivateIpAddress"):
        return str(interface.settings["PrivateIpAddress"])
    return require_address(addresses[interface.subnet_id], plan.subnets[interface.subnet_id])


def _add_volumes(backend: Any, instance: Any, plan: "ec2_launch_rules.LaunchPlan", tags: dict[str, str]) -> None:
    from moto.ec2.models.block_device import BlockDeviceType

    for device in plan.volumes:
        volume = backend.create_volume(
            size=device.size_gib,
            zone_name=plan.subnet.availability_zone,
            snapshot_id=None,
            encrypted=device.encrypted,
            kms_key_id=device.kms_key_id,
            volume_type=device.volume_type,
            iops=device.iops,
            throughput=device.throughput,
        )
        # What backend.attach_volume does, without its search through every instance.
        from moto.ec2.models.elastic_block_store import VolumeAttachment

        volume.attachment = VolumeAttachment(volume, instance, device.name, "attached")
        volume.attachment.delete_on_termination = device.delete_on_termination
        block = BlockDeviceType(
            volume_id=volume.id,
            status="in-use",
            size=device.size_gib,
            attach_time=str(instance.launch_time),
            delete_on_termination=device.delete_on_termination,
        )
        instance.block_device_mapping[device.name] = block
        if tags:
            volume.add_tags(tags)


def _tags_by_kind(request: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for specification in request.get("TagSpecifications") or []:
        kind = found.setdefault(specification.get("ResourceType", ""), {})
        kind.update({tag["Key"]: tag.get("Value", "") for tag in specification.get("Tags") or []})
    return found


def _shown(reservation: Reservation) -> dict[str, Any]:
    return {"ReservationId": reservation.id, "OwnerId": ACCOUNT_ID, "Groups": [], "Instances": reservation.instances}
