"""EC2 placement groups: create, describe, delete, and what may not be deleted."""

import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import World, arn, new_id

KIND: Final = "placement-groups"
MAX_PARTITIONS: Final = 7
"""Source: EC2 API reference, CreatePlacementGroup; botocore ec2 model, PartitionCount."""
_PLACEMENT_DOC: Final = "EC2 User Guide, Placement groups; EC2 API reference, error codes"


def tags_of(params: Mapping[str, Any], resource_type: str) -> list[dict[str, str]]:
    """Return the tags that a request asks for a kind of resource. Raises AwsError for AWS's own prefix and for more than 50."""
    tags: list[dict[str, str]] = []
    for specification in params.get("TagSpecifications") or []:
        if specification.get("ResourceType") == resource_type:
            tags += [
                {"Key": tag.get("Key", ""), "Value": tag.get("Value", "")} for tag in specification.get("Tags") or []
            ]
    return tags


def find_group(world: World, region: str, name_or_id: str) -> dict[str, Any]:
    """Return the placement group with that name, id or ARN. Raises InvalidPlacementGroup.Unknown."""
    for group in world.table(region, KIND).values():
        if name_or_id in (group["GroupName"], group["GroupId"], group["GroupArn"]):
            found: dict[str, Any] = group
            return found
    raise AwsError("InvalidPlacementGroup.Unknown", f"The placement group '{name_or_id}' is unknown.")


@rule("ec2", "CreatePlacementGroup", source=_PLACEMENT_DOC)
def placement_group_is_well_formed(call: ApiCall) -> None:
    """A name, a strategy, partitions only with `partition`, at most seven, and spread levels only with `spread`."""
    params = call.params
    name = params.get("GroupName")
    if not name:
        raise AwsError("MissingParameter", "The request must contain the parameter groupName")
    if len(name) > 255 or not name.isascii():
        raise AwsError("InvalidParameterValue", "Placement group names are at most 255 ASCII characters.")
    strategy = params.get("Strategy")
    if not strategy:
        raise AwsError("MissingParameter", "The request must contain the parameter strategy")
    partitions = params.get("PartitionCount")
    if partitions is not None:
        if strategy != "partition":
            raise AwsError("InvalidParameterCombination", "PartitionCount is only valid with the partition strategy.")
        if not 1 <= int(partitions) <= MAX_PARTITIONS:
            raise AwsError(
                "InvalidParameterValue",
                f"Value ({partitions}) for parameter partitionCount is invalid. It must be between 1 and {MAX_PARTITIONS}.",
            )
    if params.get("SpreadLevel") and strategy != "spread":
        raise AwsError("InvalidParameterCombination", "SpreadLevel is only valid with the spread strategy.")


@rule("ec2", "CreatePlacementGroup", source=_PLACEMENT_DOC)
def placement_group_name_is_free(call: ApiCall) -> None:
    """Names are unique in an account and Region."""
    if any(group["GroupName"] == call.params["GroupName"] for group in call.world.table(call.region, KIND).values()):
        raise AwsError(
            "InvalidPlacementGroup.Duplicate", f"The placement group '{call.params['GroupName']}' already exists."
        )
    if len(call.world.table(call.region, KIND)) >= quota(call.world, call.region, "ec2", "placement-groups"):
        raise AwsError(
            "PlacementGroupLimitExceeded",
            "You have reached the limit on the number of placement groups that you can have.",
        )


@action("ec2", "CreatePlacementGroup")
def create_placement_group(call: ApiCall) -> dict[str, Any]:
    """Make the group; it is available at once."""
    name, strategy = call.params["GroupName"], call.params["Strategy"]
    group: dict[str, Any] = {
        "GroupName": name,
        "GroupId": new_id("pg"),
        "GroupArn": arn("ec2", call.region, f"placement-group/{name}"),
        "State": "available",
        "Strategy": strategy,
        "Tags": tags_of(call.params, "placement-group"),
    }
    if strategy == "partition":
        group["PartitionCount"] = int(call.params.get("PartitionCount") or 2)
    if strategy == "spread":
        group["SpreadLevel"] = call.params.get("SpreadLevel") or "rack"
    call.world.table(call.region, KIND)[group["GroupId"]] = group
    return {"PlacementGroup": group}


@action("ec2", "DescribePlacementGroups")
def describe_placement_groups(call: ApiCall) -> dict[str, Any]:
    """Return the groups by name, id and filter. Raises InvalidPlacementGroup.Unknown for a name that is not there."""
    wanted = [*(call.params.get("GroupNames") or []), *(call.params.get("GroupIds") or [])]
    groups: Iterable[dict[str, Any]] = (
        [find_group(call.world, call.region, name) for name in wanted]
        if wanted
        else call.world.table(call.region, KIND).values()
    )
    fields = {
        "group-name": "GroupName",
        "group-arn": "GroupArn",
        "state": "State",
        "strategy": "Strategy",
        "spread-level": "SpreadLevel",
    }
    return {"PlacementGroups": [group for group in groups if matches(group, call.params.get("Filters"), fields)]}


@action("ec2", "DeletePlacementGroup")
def delete_placement_group(call: ApiCall) -> dict[str, Any]:
    """Delete an empty group. Raises InvalidPlacementGroup.InUse while instances or active reservations are in it."""
    from gpukit_sandbox.cloud.ec2_capacity import reservations_in_group
    from gpukit_sandbox.cloud.ec2_launches import live_instances

    group = find_group(call.world, call.region, call.params.get("GroupName") or "")
    inside = [
        each.id for each in live_instances(call.region) if getattr(each, "placement_group", "") == group["GroupName"]
    ]
    if inside or reservations_in_group(call.world, call.region, group["GroupArn"]):
        raise AwsError(
            "InvalidPlacementGroup.InUse",
            f"The placement group '{group['GroupName']}' is in use and may not be deleted.",
        )
    del call.world.table(call.region, KIND)[group["GroupId"]]
    return {}


def matches(record: Mapping[str, Any], filters: Iterable[Mapping[str, Any]] | None, fields: Mapping[str, str]) -> bool:
    """
    Tell whether a record passes EC2 filters: all names, any value, `*` and `?` as wildcards.

    Raises InvalidParameterValue for a filter name that this kind does not have.
    """
    for each in filters or ():
        name, values = str(each.get("Name", "")), [str(value) for value in each.get("Values") or []]
        tags = {tag["Key"]: tag.get("Value", "") for tag in record.get("Tags") or []}
        if name.startswith("tag:"):
            found = [tags[name[4:]]] if name[4:] in tags else []
        elif name == "tag-key":
            found = list(tags)
        elif name == "tag-value":
            found = list(tags.values())
        elif name in fields:
            value = record.get(fields[name])
            found = (
                [("true" if value else "false") if isinstance(value, bool) else str(value)] if value is not None else []
            )
        else:
            raise AwsError("InvalidParameterValue", f"The filter '{name}' is invalid")
        if not any(fnmatch.fnmatchcase(one, pattern) for one in found for pattern in values):
            return False
    return True
