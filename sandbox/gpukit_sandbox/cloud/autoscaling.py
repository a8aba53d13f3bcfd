"""
Auto Scaling groups: those of node groups and those of users. A group launches from a launch template, spread evenly over the zones of its subnets.

Written here, and not left to moto, because its instances have to go through the same rules, quotas and reservations as any other launch.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gpukit_sandbox.cloud import hardware
from gpukit_sandbox.cloud.ec2_capacity import find_reservation
from gpukit_sandbox.cloud.ec2_launch_rules import check_architecture, check_launch, find_image, find_subnet
from gpukit_sandbox.cloud.ec2_launches import backend_of, launch, live_instances
from gpukit_sandbox.cloud.ec2_templates import find_template, find_version, resolve_template
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, World, arn, new_id

KIND: Final = "auto-scaling-groups"
_SOURCE: Final = "Auto Scaling API reference, CreateAutoScalingGroup; Auto Scaling User Guide, launch templates"


def bad(message: str) -> AwsError:
    """Return Auto Scaling's refusal."""
    return AwsError("ValidationError", message)


@rule("autoscaling", "CreateAutoScalingGroup", source=_SOURCE)
def group_is_well_formed(call: ApiCall) -> None:
    """A free name, sizes in order, a source of instances, and places that exist."""
    params = call.params
    name = params.get("AutoScalingGroupName", "")
    table = call.world.table(call.region, KIND)
    if ":" in name:
        raise bad("Group names may not contain a colon.")
    if name in table:
        raise AwsError(
            "AlreadyExists",
            f"AutoScalingGroup by this name already exists - A group with the name {name} already exists",
        )
    if len(table) >= quota(call.world, call.region, "autoscaling", "groups"):
        raise AwsError("LimitExceeded", "You have reached the limit of Auto Scaling groups.", status=400)
    _check_sizes(params.get("MinSize"), params.get("MaxSize"), params.get("DesiredCapacity"))
    sources = [
        each
        for each in ("LaunchConfigurationName", "LaunchTemplate", "MixedInstancesPolicy", "InstanceId")
        if params.get(each)
    ]
    if len(sources) != 1:
        raise bad(
            "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy parameter."
        )
    if (
        not params.get("VPCZoneIdentifier")
        and not params.get("AvailabilityZones")
        and not params.get("AvailabilityZoneIds")
    ):
        raise bad("At least one Availability Zone or VPC Subnet is required.")
    _check_subnets(call, params.get("VPCZoneIdentifier"), params.get("AvailabilityZones"))
    for each in params.get("Tags") or []:
        if str(each.get("Key", "")).startswith("aws:"):
            raise bad("Tag keys may not start with aws:.")
    for period in ("DefaultCooldown", "HealthCheckGracePeriod"):
        if params.get(period) is not None and int(params[period]) < 0:
            raise bad(f"{period} may not be negative.")


@rule("autoscaling", "CreateAutoScalingGroup", "UpdateAutoScalingGroup", source=_SOURCE)
def template_can_launch(call: ApiCall) -> None:
    """Auto Scaling checks the launch template when the group is made, even with size 0: it must name a type and an image that go together."""
    spec = _template_of(call.params)
    if not spec:
        return
    subnets = [each for each in (call.params.get("VPCZoneIdentifier") or "").split(",") if each]
    if call.operation == "UpdateAutoScalingGroup" and not subnets:
        group = call.world.table(call.region, KIND).get(call.params.get("AutoScalingGroupName", ""))
        subnets = list(group["_subnets"]) if group else []
    try:
        check_template(call.world, call.region, spec, subnets)
    except AwsError as problem:
        if problem.code == "ValidationError":
            raise
        raise bad(f"You must use a valid fully-formed launch template. {problem.message}") from problem


def check_template(world: World, region: str, spec: Mapping[str, Any], subnets: Sequence[str]) -> None:
    """Refuse a template that no launch could use: the look that Auto Scaling takes before the first instance."""
    template = find_template(world, region, spec)
    data = find_version(template, spec.get("Version"))["LaunchTemplateData"]
    backend = backend_of(region)
    if not data.get("ImageId"):
        raise AwsError(
            "ValidationError",
            "You must use a valid fully-formed launch template. The request must contain the parameter ImageId",
        )
    image = find_image(backend, data["ImageId"])
    if not data.get("InstanceType") and not data.get("InstanceRequirements"):
        return
    if data.get("InstanceType"):
        check_architecture(data["InstanceType"], image)
    interfaces = data.get("NetworkInterfaces") or []
    if interfaces and (data.get("SecurityGroupIds") or data.get("SecurityGroups")):
        raise AwsError(
            "InvalidParameterCombination",
            "Network interfaces and an instance-level security groups may not be specified on the same request",
        )
    if any(each.get("NetworkInterfaceId") for each in interfaces):
        raise AwsError(
            "ValidationError",
            "Network interface IDs can't be specified in the launch template of an Auto Scaling group.",
        )
    if any(each.get("SubnetId") for each in interfaces) and subnets:
        raise AwsError(
            "ValidationError",
            "Subnets of the group and of the launch template's network interfaces can't be given together.",
        )
    if subnets:
        request = resolve_template(world, region, {"LaunchTemplate": dict(spec), "SubnetId": subnets[0]})
        offering = [
            each
            for each in subnets
            if find_subnet(backend, each).availability_zone
            in hardware.zones_offering(region, data.get("InstanceType", ""))
        ]
        if offering:
            request = resolve_template(world, region, {"LaunchTemplate": dict(spec), "SubnetId": offering[0]})
            try:
                check_launch(world, region, request, count=1)
            except AwsError as problem:
                # Capacity is looked at when an instance is launched, not when the group is made.
                if not problem.code.startswith(
                    ("ReservationCapacity", "InvalidCapacityReservationState", "Insufficient")
                ):
                    raise


@action("autoscaling", "CreateAutoScalingGroup")
def create_auto_scaling_group(call: ApiCall) -> dict[str, Any]:
    """Make a group and launch its instances; a failed launch is an activity, not an error of this call."""
    params = call.params
    subnets = [each.strip() for each in (params.get("VPCZoneIdentifier") or "").split(",") if each.strip()]
    if not subnets:
        backend = backend_of(call.region)
        subnets = [
            subnet.id
            for zones in backend.subnets.values()
            for subnet in zones.values()
            if str(subnet.default_for_az).lower() == "true"
            and subnet.availability_zone in (params.get("AvailabilityZones") or [])
        ]
    group = make_group(
        call,
        name=params["AutoScalingGroupName"],
        spec=_template_of(params),
        overrides=_overrides_of(params),
        subnets=subnets,
        sizes=(
            int(params["MinSize"]),
            int(params["MaxSize"]),
            int(params["MinSize"] if params.get("DesiredCapacity") is None else params["DesiredCapacity"]),
        ),
        tags=[
            {**each, "ResourceId": params["AutoScalingGroupName"], "ResourceType": "auto-scaling-group"}
            for each in params.get("Tags") or []
        ],
        request=params,
    )
    scale(call, group)
    return {}


def make_group(
    call: ApiCall,
    *,
    name: str,
    spec: Mapping[str, Any] | None,
    overrides: Sequence[str],
    subnets: Sequence[str],
    sizes: tuple[int, int, int],
    tags: Sequence[Mapping[str, Any]],
    request: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """
    Put a group without instances into the world.

    `overrides` are instance types in order of preference; `extra` is what a node group adds to each launch.
    """
    backend = backend_of(call.region)
    request = request or {}
    group: dict[str, Any] = {
        "AutoScalingGroupName": name,
        "AutoScalingGroupARN": arn(
            "autoscaling", call.region, f"autoScalingGroup:{new_id('g', 32)[2:]}:autoScalingGroupName/{name}"
        ),
        "MinSize": sizes[0],
        "MaxSize": sizes[1],
        "DesiredCapacity": sizes[2],
        "DefaultCooldown": int(request.get("DefaultCooldown") or 300),
        "AvailabilityZones": sorted({find_subnet(backend, each).availability_zone for each in subnets}),
        "LoadBalancerNames": [],
        "TargetGroupARNs": [],
        "HealthCheckType": request.get("HealthCheckType") or "EC2",
        "HealthCheckGracePeriod": int(request.get("HealthCheckGracePeriod") or 0),
        "CreatedTime": call.world.now(),
        "SuspendedProcesses": [],
        "VPCZoneIdentifier": ",".join(subnets),
        "EnabledMetrics": [],
        "Tags": [dict(each) for each in tags],
        "TerminationPolicies": request.get("TerminationPolicies") or ["Default"],
        "NewInstancesProtectedFromScaleIn": bool(request.get("NewInstancesProtectedFromScaleIn")),
        "ServiceLinkedRoleARN": f"arn:aws:iam::{ACCOUNT_ID}:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling",
        "LaunchTemplate": _shown_spec(call, spec) if spec else None,
        "_spec": dict(spec) if spec else None,
        "_overrides": list(overrides),
        "_subnets": list(subnets),
        "_extra": dict(extra or {}),
        "_activities": [],
    }
    call.world.table(call.region, KIND)[name] = group
    return group


def scale(call: ApiCall, group: dict[str, Any]) -> AwsError | None:
    """Bring a group to its desired size. Returns the error of the launch that failed, also kept as an activity; None when all went well."""
    members = members_of(call.region, group)
    surplus = len(members) - int(group["DesiredCapacity"])
    if surplus > 0:
        end_instances(call.region, [each.id for each in members[-surplus:]])
        _note(call, group, f"Terminated {surplus} EC2 instance(s)", "Successful")
        return None
    missing = -surplus
    if missing == 0 or group["_spec"] is None:
        return None
    problem: AwsError | None = None
    for instance_type in group["_overrides"] or [None]:
        # The type before may have given some of them.
        missing = int(group["DesiredCapacity"]) - len(members_of(call.region, group))
        problem = _launch_missing(call, group, instance_type, missing)
        if problem is None:
            _note(call, group, f"Launching {missing} new EC2 instance(s)", "Successful")
            return None
        if problem.code not in ("InsufficientInstanceCapacity", "Unsupported"):
            break
    if problem is not None:
        _note(
            call,
            group,
            f"Launching {missing} new EC2 instance(s)",
            "Failed",
            f"{problem.message} Launching EC2 instance failed. ({problem.code})",
        )
    return problem


def members_of(region: str, group: Mapping[str, Any]) -> list[Any]:
    """Return the living instances of a group."""
    return [
        each
        for each in live_instances(region)
        if getattr(each, "auto_scaling_group", None) == group["AutoScalingGroupName"]
    ]


def end_instances(region: str, identifiers: Sequence[str]) -> None:
    """Terminate instances of a group."""
    wanted = set(identifiers)
    for each in list(live_instances(region)):
        if each.id in wanted:
            each.terminate()


def delete_group(call: ApiCall, name: str) -> None:
    """End a group's instances and forget it."""
    group = call.world.table(call.region, KIND).pop(name, None)
    if group is not None:
        end_instances(call.region, [each.id for each in members_of(call.region, group)])


_SHORT: Final = ("InsufficientInstanceCapacity", "ReservationCapacityExceeded")
"""What is short may still give some: a group takes what there is and tries again for the rest. Source: Auto Scaling User Guide, troubleshooting."""


def _launch_as_many(call: ApiCall, group: Mapping[str, Any], request: Mapping[str, Any], count: int) -> None:
    """Launch `count` instances, or as many as there are and then raise the refusal of the next; halves find that number in few tries."""
    try:
        plan = check_launch(call.world, call.region, request, count=count)
        reservation = launch(
            call.world, call.region, request, plan, count=count, capacity=call.environ.get("gpukit.faults")
        )
    except AwsError as problem:
        if count == 1 or problem.code not in _SHORT:
            raise
        _launch_as_many(call, group, request, count // 2)
        _launch_as_many(call, group, request, count - count // 2)
        return
    for each in reservation.instances:
        each.auto_scaling_group = group["AutoScalingGroupName"]
        # AWS's own tag: a request may not set it, so it is set past the check.
        each.add_tags({"aws:autoscaling:groupName": group["AutoScalingGroupName"]})


def _launch_missing(call: ApiCall, group: dict[str, Any], instance_type: str | None, missing: int) -> AwsError | None:
    try:
        for subnet_id, count in _spread(call, group, instance_type, missing):
            _launch_as_many(call, group, _request(call, group, instance_type, subnet_id), count)
    except AwsError as problem:
        return problem
    return None


def _spread(call: ApiCall, group: Mapping[str, Any], instance_type: str | None, missing: int) -> list[tuple[str, int]]:
    """Return how many instances go into which subnet: evenly over the zones that offer the type and, with a reservation, its zone alone."""
    backend = backend_of(call.region)
    by_zone: dict[str, str] = {}
    for each in group["_subnets"]:
        by_zone.setdefault(find_subnet(backend, each).availability_zone, each)
    request = _request(call, group, instance_type, group["_subnets"][0])
    target = ((request.get("CapacityReservationSpecification") or {}).get("CapacityReservationTarget") or {}).get(
        "CapacityReservationId"
    )
    if target and target.startswith("cr-"):
        zone = find_reservation(call.world, call.region, target)["AvailabilityZone"]
        by_zone = {name: subnet for name, subnet in by_zone.items() if name == zone} or by_zone
    offered = {
        name: subnet
        for name, subnet in by_zone.items()
        if name in hardware.zones_offering(call.region, request.get("InstanceType") or "")
    }
    usable = sorted((offered or by_zone).items())
    share, rest = divmod(missing, len(usable))
    return [
        (subnet, share + (1 if place < rest else 0))
        for place, (_, subnet) in enumerate(usable)
        if share + (1 if place < rest else 0)
    ]


def _request(call: ApiCall, group: Mapping[str, Any], instance_type: str | None, subnet_id: str) -> dict[str, Any]:
    asked: dict[str, Any] = {"LaunchTemplate": dict(group["_spec"]), "SubnetId": subnet_id}
    if instance_type:
        asked["InstanceType"] = instance_type
    request = resolve_template(call.world, call.region, asked)
    extra = group["_extra"]
    for key, value in extra.items():
        if key == "TagSpecifications":
            request[key] = [*(request.get(key) or []), *value]
        elif key == "DefaultGroups":
            if request.get("NetworkInterfaces"):
                request["NetworkInterfaces"] = [
                    {**each, "Groups": each.get("Groups") or value} for each in request["NetworkInterfaces"]
                ]
            elif not request.get("SecurityGroupIds"):
                request["SecurityGroupIds"] = list(value)
        elif not request.get(key):
            request[key] = value
    tags = [
        {"Key": each["Key"], "Value": each.get("Value", "")} for each in group["Tags"] if each.get("PropagateAtLaunch")
    ]
    request["TagSpecifications"] = [
        *(request.get("TagSpecifications") or []),
        {"ResourceType": "instance", "Tags": tags},
    ]
    return request


@action("autoscaling", "DescribeAutoScalingGroups")
def describe_auto_scaling_groups(call: ApiCall) -> dict[str, Any]:
    """Return groups with their instances."""
    wanted = call.params.get("AutoScalingGroupNames")
    groups = [each for name, each in call.world.table(call.region, KIND).items() if not wanted or name in wanted]
    for each in call.params.get("Filters") or []:
        name, values = str(each.get("Name", "")), each.get("Values") or []
        if name.startswith("tag:"):
            groups = [
                group
                for group in groups
                if any(tag["Key"] == name[4:] and tag.get("Value") in values for tag in group["Tags"])
            ]
        elif name == "tag-key":
            groups = [group for group in groups if any(tag["Key"] in values for tag in group["Tags"])]
    return {"AutoScalingGroups": [shown(call.region, each) for each in groups]}


@action("autoscaling", "DescribeAutoScalingInstances")
def describe_auto_scaling_instances(call: ApiCall) -> dict[str, Any]:
    """Return the instances that groups hold."""
    wanted = call.params.get("InstanceIds")
    found = []
    for group in call.world.table(call.region, KIND).values():
        found += [
            {**each, "AutoScalingGroupName": group["AutoScalingGroupName"]}
            for each in shown(call.region, group)["Instances"]
        ]
    return {"AutoScalingInstances": [each for each in found if not wanted or each["InstanceId"] in wanted]}


@action("autoscaling", "DescribeScalingActivities")
def describe_scaling_activities(call: ApiCall) -> dict[str, Any]:
    """Return what groups did, newest first."""
    wanted = call.params.get("AutoScalingGroupName")
    found = [
        each
        for name, group in call.world.table(call.region, KIND).items()
        if wanted in (None, name)
        for each in group["_activities"]
    ]
    return {"Activities": sorted(found, key=lambda each: each["StartTime"], reverse=True)}


@action("autoscaling", "UpdateAutoScalingGroup")
def update_auto_scaling_group(call: ApiCall) -> dict[str, Any]:
    """Change a group and bring it to its size."""
    group, params = _find(call), call.params
    low = int(params["MinSize"]) if params.get("MinSize") is not None else group["MinSize"]
    high = int(params["MaxSize"]) if params.get("MaxSize") is not None else group["MaxSize"]
    desired = (
        int(params["DesiredCapacity"])
        if params.get("DesiredCapacity") is not None
        else min(max(group["DesiredCapacity"], low), high)
    )
    _check_sizes(low, high, desired)
    spec = _template_of(params)
    if spec:
        group["_spec"], group["LaunchTemplate"] = dict(spec), _shown_spec(call, spec)
    if params.get("VPCZoneIdentifier"):
        _check_subnets(call, params["VPCZoneIdentifier"], None)
        group["_subnets"] = params["VPCZoneIdentifier"].split(",")
        group["VPCZoneIdentifier"] = params["VPCZoneIdentifier"]
        group["AvailabilityZones"] = sorted(
            {find_subnet(backend_of(call.region), each).availability_zone for each in group["_subnets"]}
        )
    for key in (
        "DefaultCooldown",
        "HealthCheckType",
        "HealthCheckGracePeriod",
        "TerminationPolicies",
        "NewInstancesProtectedFromScaleIn",
    ):
        if params.get(key) is not None:
            group[key] = params[key]
    group |= {"MinSize": low, "MaxSize": high, "DesiredCapacity": desired}
    scale(call, group)
    return {}


@action("autoscaling", "SetDesiredCapacity")
def set_desired_capacity(call: ApiCall) -> dict[str, Any]:
    """Change the desired size within the bounds."""
    group, desired = _find(call), int(call.params["DesiredCapacity"])
    if not group["MinSize"] <= desired <= group["MaxSize"]:
        raise bad(
            f"New SetDesiredCapacity value {desired} is outside of the bounds {group['MinSize']} to {group['MaxSize']} of the AutoScalingGroup."
        )
    group["DesiredCapacity"] = desired
    scale(call, group)
    return {}


@action("autoscaling", "DeleteAutoScalingGroup")
def delete_auto_scaling_group(call: ApiCall) -> dict[str, Any]:
    """Delete an empty group, or any with ForceDelete."""
    group = _find(call)
    if members_of(call.region, group) and not call.params.get("ForceDelete"):
        raise AwsError(
            "ResourceInUse",
            "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) still in the group.",
        )
    delete_group(call, group["AutoScalingGroupName"])
    return {}


@action("autoscaling", "TerminateInstanceInAutoScalingGroup")
def terminate_instance(call: ApiCall) -> dict[str, Any]:
    """End one instance of a group; unless the desired size goes down with it, another takes its place."""
    for group in call.world.table(call.region, KIND).values():
        for each in members_of(call.region, group):
            if each.id == call.params["InstanceId"]:
                each.terminate()
                if call.params.get("ShouldDecrementDesiredCapacity"):
                    group["DesiredCapacity"] = max(group["DesiredCapacity"] - 1, group["MinSize"])
                scale(call, group)
                return {
                    "Activity": group["_activities"][-1]
                    if group["_activities"]
                    else _activity(call, group, "Terminating EC2 instance", "InProgress", "")
                }
    raise bad(f"Instance Id not found - No managed instance found for instance ID: {call.params['InstanceId']}")


@action("autoscaling", "CreateOrUpdateTags")
def create_or_update_tags(call: ApiCall) -> dict[str, Any]:
    """Set tags of groups."""
    for each in call.params.get("Tags") or []:
        group = call.world.table(call.region, KIND).get(each.get("ResourceId", ""))
        if group is None:
            raise bad(f"AutoScalingGroup name not found - {each.get('ResourceId')}")
        group["Tags"] = [tag for tag in group["Tags"] if tag["Key"] != each["Key"]] + [dict(each)]
    return {}


@action("autoscaling", "DeleteTags")
def delete_tags(call: ApiCall) -> dict[str, Any]:
    """Remove tags of groups."""
    for each in call.params.get("Tags") or []:
        group = call.world.table(call.region, KIND).get(each.get("ResourceId", ""))
        if group is not None:
            group["Tags"] = [tag for tag in group["Tags"] if tag["Key"] != each["Key"]]
    return {}


@action("autoscaling", "DescribeTags")
def describe_tags(call: ApiCall) -> dict[str, Any]:
    """Return the tags of groups."""
    return {"Tags": [tag for group in call.world.table(call.region, KIND).values() for tag in group["Tags"]]}


def shown(region: str, group: Mapping[str, Any]) -> dict[str, Any]:
    """Return a group as Auto Scaling describes it."""
    described = {key: value for key, value in group.items() if not key.startswith("_") and value is not None}
    described["Instances"] = [
        {
            "InstanceId": each.id,
            "InstanceType": each.instance_type,
            "AvailabilityZone": each.availability_zone,
            "LifecycleState": "InService",
            "HealthStatus": "Healthy",
            "ProtectedFromScaleIn": group["NewInstancesProtectedFromScaleIn"],
            "LaunchTemplate": group.get("LaunchTemplate"),
        }
        for each in members_of(region, group)
    ]
    return described


def _find(call: ApiCall) -> dict[str, Any]:
    name = call.params.get("AutoScalingGroupName", "")
    group = call.world.table(call.region, KIND).get(name)
    if group is None:
        raise bad(f"AutoScalingGroup name not found - AutoScalingGroup '{name}' not found")
    found: dict[str, Any] = group
    return found


def _check_sizes(low: Any, high: Any, desired: Any) -> None:
    if low is None or high is None:
        raise bad("MinSize and MaxSize are required.")
    if int(low) < 0 or int(high) < 0:
        raise bad("Sizes may not be negative.")
    if int(high) < int(low):
        raise bad(f"Max bound, {high}, must be greater than or equal to min bound, {low}")
    if desired is not None and not int(low) <= int(desired) <= int(high):
        raise bad(f"Desired capacity:{desired} must be between the specified min size:{low} and max size:{high}")


def _check_subnets(call: ApiCall, identifiers: str | None, zones: Sequence[str] | None) -> None:
    backend = backend_of(call.region)
    found = []
    for each in (identifiers or "").split(","):
        if each.strip():
            if not re.fullmatch(r"subnet-[0-9a-f]+", each.strip()):
                raise bad(f"The subnet ID '{each}' is malformed")
            try:
                found.append(find_subnet(backend, each.strip()))
            except AwsError as problem:
                raise bad(f"The subnet ID '{each}' does not exist") from problem
    if found and zones and {each.availability_zone for each in found} != set(zones):
        raise bad("The availability zones of the specified subnets and the Auto Scaling group do not match")
    if len({each.vpc_id for each in found}) > 1:
        raise bad("The subnets must be in one VPC.")
    known = {zone.name for zone in backend.zones.get(call.region, ())}
    for each in zones or ():
        if each not in known:
            raise bad(f"Invalid availability zones: [{each}]")


def _template_of(params: Mapping[str, Any]) -> dict[str, Any] | None:
    found = params.get("LaunchTemplate")
    if not found:
        found = ((params.get("MixedInstancesPolicy") or {}).get("LaunchTemplate") or {}).get(
            "LaunchTemplateSpecification"
        )
    return dict(found) if found else None


def _overrides_of(params: Mapping[str, Any]) -> list[str]:
    overrides = ((params.get("MixedInstancesPolicy") or {}).get("LaunchTemplate") or {}).get("Overrides") or []
    return [each["InstanceType"] for each in overrides if each.get("InstanceType")]


def _shown_spec(call: ApiCall, spec: Mapping[str, Any]) -> dict[str, Any]:
    template = find_template(call.world, call.region, spec)
    return {
        "LaunchTemplateId": template["LaunchTemplateId"],
        "LaunchTemplateName": template["LaunchTemplateName"],
        "Version": str(spec.get("Version") or "$Default"),
    }


def _note(call: ApiCall, group: dict[str, Any], what: str, status: str, message: str = "") -> None:
    group["_activities"] = [*group["_activities"][-49:], _activity(call, group, what, status, message)]


def _activity(call: ApiCall, group: Mapping[str, Any], what: str, status: str, message: str) -> dict[str, Any]:
    return {
        "ActivityId": new_id("a", 32)[2:],
        "AutoScalingGroupName": group["AutoScalingGroupName"],
        "Description": what,
        "Cause": f"At {call.world.now():%Y-%m-%dT%H:%M:%SZ} the desired capacity is {group['DesiredCapacity']}.",
        "StartTime": call.world.now(),
        "EndTime": call.world.now(),
        "StatusCode": status,
        "StatusMessage": message,
        "Progress": 100,
    }
