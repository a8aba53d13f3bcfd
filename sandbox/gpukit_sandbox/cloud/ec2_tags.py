"""EC2 tags on what the cloud keeps itself: placement groups, reservations, launch templates. moto knows the tags of the rest."""

from collections.abc import Iterator
from typing import Any, Final

from moto.ec2.models import ec2_backends

from gpukit_sandbox.cloud import ec2_capacity, ec2_placement, ec2_templates
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

_OWN: Final = {
    ec2_placement.KIND: ("placement-group", "GroupId"),
    ec2_capacity.KIND: ("capacity-reservation", "CapacityReservationId"),
    ec2_templates.KIND: ("launch-template", "LaunchTemplateId"),
}
MAX_TAGS: Final = 50


@action("ec2", "CreateTags")
def create_tags(call: ApiCall) -> dict[str, Any]:
    """Add or overwrite tags; on our own records here, on the rest in moto. Raises TagLimitExceeded beyond 50."""
    tags = {str(tag.get("Key", "")): str(tag.get("Value", "")) for tag in call.params.get("Tags") or []}
    own, others = _split(call)
    for record in own:
        merged = {**_tags(record), **tags}
        if len(merged) > MAX_TAGS:
            raise AwsError("TagLimitExceeded", f"More than {MAX_TAGS} tags specified.")
        record["Tags"] = _listed(merged)
    if others and not own:
        call.moto()
    elif others:
        ec2_backends[ACCOUNT_ID][call.region].create_tags(others, tags)
    return {}


@action("ec2", "DeleteTags")
def delete_tags(call: ApiCall) -> dict[str, Any]:
    """Take tags off; without tags all of them. A stated value must be the one that stands."""
    wanted = call.params.get("Tags") or []
    own, others = _split(call)
    for record in own:
        left = _tags(record)
        for tag in wanted:
            key, value = str(tag.get("Key", "")), tag.get("Value")
            if value is None or left.get(key) == value:
                left.pop(key, None)
        record["Tags"] = _listed(left if wanted else {})
    if others and not own:
        call.moto()
    elif others:
        ec2_backends[ACCOUNT_ID][call.region].delete_tags(
            others, {str(t.get("Key", "")): t.get("Value") for t in wanted}
        )
    return {}


@action("ec2", "DescribeTags")
def describe_tags(call: ApiCall) -> dict[str, Any]:
    """Return moto's tags and those of our own records."""
    answer = dict(call.moto())
    found = list(answer.get("Tags") or [])
    for kind, identifier, record in _records(call):
        for key, value in _tags(record).items():
            row = {"ResourceType": kind, "ResourceId": identifier, "Key": key, "Value": value}
            if all(_fits(row, each) for each in call.params.get("Filters") or []):
                found.append(row)
    return {**answer, "Tags": found}


def _split(call: ApiCall) -> tuple[list[dict[str, Any]], list[str]]:
    wanted = [str(each) for each in call.params.get("Resources") or []]
    own = {identifier: record for _kind, identifier, record in _records(call)}
    return [own[each] for each in wanted if each in own], [each for each in wanted if each not in own]


def _records(call: ApiCall) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for table, (kind, member) in _OWN.items():
        for record in call.world.table(call.region, table).values():
            if isinstance(record, dict) and member in record:
                yield kind, str(record[member]), record


def _tags(record: dict[str, Any]) -> dict[str, str]:
    return {str(tag["Key"]): str(tag.get("Value", "")) for tag in record.get("Tags") or []}


def _listed(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]


def _fits(row: dict[str, str], wanted: dict[str, Any]) -> bool:
    name, values = str(wanted.get("Name", "")), [str(v) for v in wanted.get("Values") or []]
    if name.startswith("tag:"):
        return row["Key"] == name[4:] and row["Value"] in values
    member = {"resource-id": "ResourceId", "resource-type": "ResourceType", "key": "Key", "value": "Value"}.get(name)
    return member is None or row[member] in values
