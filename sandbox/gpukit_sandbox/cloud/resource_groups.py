"""Resource groups of Capacity Reservations: a launch may name the group in place of one reservation."""

from typing import Any, Final

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import World, arn

KIND: Final = "resource-groups"
_RESERVATION_POOL: Final = "AWS::EC2::CapacityReservationPool"


def reservations_of_group(world: World, region: str, group_arn: str) -> list[str]:
    """Return the reservation ids of a group. Raises InvalidParameterValue for a group that does not exist."""
    for group in world.table(region, KIND).values():
        if group["GroupArn"] == group_arn:
            return [each.rsplit("/", 1)[-1] for each in group["_members"]]
    raise AwsError("InvalidParameterValue", f"The resource group {group_arn} does not exist.")


@action("resource-groups", "CreateGroup")
def create_group(call: ApiCall) -> dict[str, Any]:
    """Make a group, for Capacity Reservations or by tags."""
    name = call.params["Name"]
    table = call.world.table(call.region, KIND)
    if name in table:
        raise AwsError("BadRequestException", f"Group {name} already exists.")
    if not call.params.get("ResourceQuery") and not call.params.get("Configuration"):
        raise AwsError("BadRequestException", "Either ResourceQuery or Configuration must be specified.")
    table[name] = {
        "GroupArn": arn("resource-groups", call.region, f"group/{name}"),
        "Name": name,
        "Description": call.params.get("Description"),
        "_configuration": call.params.get("Configuration") or [],
        "_query": call.params.get("ResourceQuery"),
        "_tags": dict(call.params.get("Tags") or {}),
        "_members": [],
    }
    return {
        "Group": _shown(table[name]),
        "Tags": table[name]["_tags"],
        "GroupConfiguration": {"Configuration": table[name]["_configuration"], "Status": "UPDATE_COMPLETE"},
    }


@action("resource-groups", "GroupResources")
def group_resources(call: ApiCall) -> dict[str, Any]:
    """Add reservations to a group for them."""
    from gpukit_sandbox.cloud.ec2_capacity import KIND as RESERVATIONS

    group = _find(call)
    if not any(each.get("Type") == _RESERVATION_POOL for each in group["_configuration"]):
        raise AwsError("BadRequestException", "The group has no configuration that resources can be added to.")
    done, failed = [], []
    for each in call.params.get("ResourceArns") or []:
        if each.rsplit("/", 1)[-1] in call.world.table(call.region, RESERVATIONS):
            if each not in group["_members"]:
                group["_members"].append(each)
            done.append(each)
        else:
            failed.append({"ResourceArn": each, "ErrorCode": "RESOURCE_NOT_FOUND", "ErrorMessage": "No such resource."})
    return {"Succeeded": done, "Failed": failed}


@action("resource-groups", "UngroupResources")
def ungroup_resources(call: ApiCall) -> dict[str, Any]:
    """Take resources out of a group."""
    group = _find(call)
    wanted = call.params.get("ResourceArns") or []
    done = [each for each in wanted if each in group["_members"]]
    group["_members"] = [each for each in group["_members"] if each not in wanted]
    return {"Succeeded": done, "Failed": []}


@action("resource-groups", "ListGroupResources")
def list_group_resources(call: ApiCall) -> dict[str, Any]:
    """Return what a group holds."""
    found = [{"ResourceArn": each, "ResourceType": "AWS::EC2::CapacityReservation"} for each in _find(call)["_members"]]
    return {"ResourceIdentifiers": found, "Resources": [{"Identifier": each} for each in found]}


@action("resource-groups", "GetGroup")
def get_group(call: ApiCall) -> dict[str, Any]:
    """Return a group."""
    return {"Group": _shown(_find(call))}


@action("resource-groups", "GetGroupConfiguration")
def get_group_configuration(call: ApiCall) -> dict[str, Any]:
    """Return what a group is for."""
    return {"GroupConfiguration": {"Configuration": _find(call)["_configuration"], "Status": "UPDATE_COMPLETE"}}


@action("resource-groups", "GetTags")
def get_tags(call: ApiCall) -> dict[str, Any]:
    """Return a group's tags."""
    group = _find_by(call, call.params.get("Arn", ""))
    return {"Arn": group["GroupArn"], "Tags": group["_tags"]}


@action("resource-groups", "Tag")
def tag(call: ApiCall) -> dict[str, Any]:
    """Set a group's tags."""
    group = _find_by(call, call.params.get("Arn", ""))
    group["_tags"].update(call.params.get("Tags") or {})
    return {"Arn": group["GroupArn"], "Tags": group["_tags"]}


@action("resource-groups", "Untag")
def untag(call: ApiCall) -> dict[str, Any]:
    """Remove a group's tags."""
    group = _find_by(call, call.params.get("Arn", ""))
    for key in call.params.get("Keys") or []:
        group["_tags"].pop(key, None)
    return {"Arn": group["GroupArn"], "Keys": call.params.get("Keys") or []}


@action("resource-groups", "ListGroups")
def list_groups(call: ApiCall) -> dict[str, Any]:
    """Return every group."""
    groups = [_shown(each) for each in call.world.table(call.region, KIND).values()]
    return {
        "GroupIdentifiers": [{"GroupName": each["Name"], "GroupArn": each["GroupArn"]} for each in groups],
        "Groups": groups,
    }


@action("resource-groups", "DeleteGroup")
def delete_group(call: ApiCall) -> dict[str, Any]:
    """Delete a group; its members stay."""
    group = _find(call)
    del call.world.table(call.region, KIND)[group["Name"]]
    return {"Group": _shown(group)}


def _find(call: ApiCall) -> dict[str, Any]:
    return _find_by(call, str(call.params.get("Group") or call.params.get("GroupName") or ""))


def _find_by(call: ApiCall, wanted: str) -> dict[str, Any]:
    for group in call.world.table(call.region, KIND).values():
        if wanted in (group["Name"], group["GroupArn"]):
            found: dict[str, Any] = group
            return found
    raise AwsError("NotFoundException", f"Cannot find group {wanted}.")


def _shown(group: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in group.items() if not key.startswith("_") and value is not None}
