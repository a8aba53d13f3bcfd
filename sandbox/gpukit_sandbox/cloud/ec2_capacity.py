"""
Capacity Reservations and Capacity Blocks: each has a type, a zone, a size and dates, and an instance counts against the one it was launched into.

A reservation that was bought before is seeded with `seed_reservation`; `CreateCapacityReservation` and `PurchaseCapacityBlock` make new ones.
"""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from gpukit.catalog import load_catalog
from gpukit_sandbox.cloud import hardware
from gpukit_sandbox.cloud.ec2_placement import find_group, matches, tags_of
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, DEFAULT_REGION, World, arn, new_id

KIND: Final = "capacity-reservations"
BLOCKS: Final = "capacity-blocks"
OFFERS: Final = "_capacity-block-offers"

MAX_BLOCK_INSTANCES: Final = 64
DAY_STEP_HOURS: Final = 24
WEEK_STEP_HOURS: Final = 168
LAST_HOURS_IN_DAYS: Final = 336
MAX_BLOCK_HOURS: Final = 4368
"""1 to 14 days in days, then 21 to 182 days in weeks. Source: botocore ec2 model, CapacityDurationHours; EC2 User Guide, Capacity Blocks."""
BLOCK_LEAD_WEEKS: Final = 8
_BLOCK_DOC: Final = "EC2 User Guide, Capacity Blocks for ML; botocore ec2 model, DescribeCapacityBlockOfferings"
_RESERVATION_DOC: Final = (
    "EC2 API reference, CreateCapacityReservation; EC2 User Guide, On-Demand Capacity Reservations"
)

_FILTERS: Final = {
    "instance-type": "InstanceType",
    "owner-id": "OwnerId",
    "instance-platform": "InstancePlatform",
    "availability-zone": "AvailabilityZone",
    "tenancy": "Tenancy",
    "outpost-arn": "OutpostArn",
    "state": "State",
    "end-date-type": "EndDateType",
    "instance-match-criteria": "InstanceMatchCriteria",
    "placement-group-arn": "PlacementGroupArn",
    "start-date": "StartDate",
    "end-date": "EndDate",
}


def find_reservation(world: World, region: str, identifier: str) -> dict[str, Any]:
    """Return the reservation with that id, its state as of now. Raises InvalidCapacityReservationId.{Malformed,NotFound}."""
    if not identifier.startswith("cr-"):
        raise AwsError("InvalidCapacityReservationId.Malformed", f"The ID '{identifier}' is not valid.")
    record = world.table(region, KIND).get(identifier)
    if record is None:
        raise AwsError(
            "InvalidCapacityReservationId.NotFound", f"The capacity reservation ID '{identifier}' does not exist."
        )
    age(world, record)
    found: dict[str, Any] = record
    return found


def age(world: World, record: dict[str, Any]) -> None:
    """Bring the state of a reservation up to the present: scheduled, active, expired."""
    if record["State"] in ("cancelled", "failed", "expired"):
        return
    now = world.now()
    if record.get("EndDate") and record["EndDate"] <= now:
        record["State"] = "expired"
    elif record.get("StartDate") and record["StartDate"] > now:
        record["State"] = "scheduled"
    else:
        record["State"] = "active"


def free_instances(region: str, record: Mapping[str, Any]) -> int:
    """Return how many instances of a reservation are not in use."""
    from gpukit_sandbox.cloud.ec2_launches import live_instances

    # A stopped instance gives its place back. Source: EC2 User Guide, using Capacity Reservations.
    used = sum(
        1
        for each in live_instances(region)
        if getattr(each, "capacity_reservation_id", None) == record["CapacityReservationId"]
        and each.state not in ("stopped", "stopping")
    )
    return int(record["TotalInstanceCount"]) - used


def reservations_in_group(world: World, region: str, group_arn: str) -> list[str]:
    """Return the ids of active reservations that were created in a placement group."""
    found = []
    for identifier, record in world.table(region, KIND).items():
        age(world, record)
        if record.get("PlacementGroupArn") == group_arn and record["State"] in ("active", "scheduled", "pending"):
            found.append(identifier)
    return found


def open_reservation_for(
    world: World, region: str, *, instance_type: str, zone: str, tenancy: str, group_arn: str | None
) -> dict[str, Any] | None:
    """Return an active open reservation with a free instance that a launch without a target falls into; None without one."""
    for record in world.table(region, KIND).values():
        age(world, record)
        if (
            record["State"] == "active"
            and record["InstanceMatchCriteria"] == "open"
            and record["InstanceType"] == instance_type
            and record["AvailabilityZone"] == zone
            and record["Tenancy"] == tenancy
            and record.get("PlacementGroupArn") in (None, group_arn)
            and record["ReservationType"] == "default"
            and free_instances(region, record) > 0
        ):
            found: dict[str, Any] = record
            return found
    return None


def seed_reservation(world: World, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """
    Put a reservation or Capacity Block into the world as if it had been bought; one with the same id is replaced.

    Keys: `id`, `instance_type`, `instances`, `availability_zone` are needed; `capacity_block` (false), `starts`, `ends` (dates), `region`,
    `match` (targeted), `platform`, `placement_group`. Raises AwsError when type or zone do not exist. Returns the record.
    """
    zone = str(wanted["availability_zone"])
    region = str(wanted.get("region") or _region_of_zone(zone))
    instance_type = str(wanted["instance_type"])
    if hardware.describe_type(instance_type) is None:
        raise AwsError("InvalidParameterValue", f"Invalid value '{instance_type}' for InstanceType.")
    is_block = bool(wanted.get("capacity_block", False))
    return _new_record(
        world,
        region,
        identifier=str(wanted["id"]),
        instance_type=instance_type,
        zone=zone,
        count=int(wanted["instances"]),
        platform=str(wanted.get("platform") or "Linux/UNIX"),
        start=_date(wanted.get("starts")) or world.now() - timedelta(minutes=1),
        end=_date(wanted.get("ends")) or (world.now() + timedelta(days=14) if is_block else None),
        match="targeted" if is_block else str(wanted.get("match") or "targeted"),
        reservation_type="capacity-block" if is_block else "default",
        group_arn=find_group(world, region, str(wanted["placement_group"]))["GroupArn"]
        if wanted.get("placement_group")
        else None,
    )


@rule("ec2", "CreateCapacityReservation", source=_RESERVATION_DOC)
def reservation_is_well_formed(call: ApiCall) -> None:
    """A type that the zone offers, a platform, a count, an end date exactly with EndDateType limited, and not in the past."""
    params = call.params
    zone = params.get("AvailabilityZone") or _zone_name(call.region, params.get("AvailabilityZoneId"))
    if not zone:
        raise AwsError(
            "MissingParameter", "The request must contain the parameter AvailabilityZone or AvailabilityZoneId"
        )
    instance_type = params.get("InstanceType", "")
    if hardware.describe_type(instance_type) is None:
        raise AwsError("InvalidParameterValue", f"Invalid value '{instance_type}' for InstanceType.")
    if zone not in zone_names(call.region):
        raise AwsError("InvalidParameterValue", f"Invalid availability zone: [{zone}]")
    if zone not in hardware.zones_offering(call.region, instance_type):
        raise AwsError(
            "Unsupported",
            f"The requested instance type ({instance_type}) is not supported in the requested Availability Zone ({zone}).",
        )
    if int(params.get("InstanceCount", 0)) < 1:
        raise AwsError("InvalidParameterValue", "InstanceCount must be at least 1.")
    _check_end(call, params.get("EndDateType"), params.get("EndDate"))
    if params.get("PlacementGroupArn"):
        group = find_group(call.world, call.region, params["PlacementGroupArn"])
        if group["Strategy"] != "cluster":
            raise AwsError(
                "InvalidParameterValue", "Capacity Reservations can be created in cluster placement groups only."
            )
        if params.get("Tenancy", "default") != "default":
            raise AwsError(
                "InvalidParameterCombination", "A Capacity Reservation in a placement group must have default tenancy."
            )
    if params.get("EphemeralStorage"):
        raise AwsError("InvalidParameterValue", "EphemeralStorage is deprecated and not supported.")


def _check_end(call: ApiCall, end_type: str | None, end: datetime | None) -> None:
    if end_type == "limited" and end is None:
        raise AwsError("InvalidParameterCombination", "EndDate must be specified when EndDateType is limited.")
    if end is not None and end_type != "limited":
        raise AwsError("InvalidParameterCombination", "EndDate can be specified only when EndDateType is limited.")
    if end is not None and _aware(end) <= call.world.now():
        raise AwsError("InvalidParameterValue", "EndDate must be in the future.")


@rule(
    "ec2",
    "CreateCapacityReservation",
    source="EC2 User Guide: a Capacity Reservation counts toward the On-Demand quota of its family",
)
def reservation_is_within_quota(call: ApiCall) -> None:
    """The vCPUs of a reservation count against the On-Demand quota whether they run or not."""
    from gpukit_sandbox.cloud.ec2_quota_use import require_vcpus

    require_vcpus(
        call.world,
        call.region,
        call.params["InstanceType"],
        int(call.params["InstanceCount"]),
        spot=False,
        code="InstanceLimitExceeded",
    )


@action("ec2", "CreateCapacityReservation")
def create_capacity_reservation(call: ApiCall) -> dict[str, Any]:
    """Reserve on-demand capacity; refused when a fault says that the zone has none."""
    from gpukit_sandbox.cloud.ec2_launches import require_zone_capacity

    params = call.params
    zone = params.get("AvailabilityZone") or _zone_name(call.region, params.get("AvailabilityZoneId"))
    require_zone_capacity(call, params["InstanceType"], zone, int(params["InstanceCount"]))
    record = _new_record(
        call.world,
        call.region,
        identifier=new_id("cr"),
        instance_type=params["InstanceType"],
        zone=zone,
        count=int(params["InstanceCount"]),
        platform=params["InstancePlatform"],
        start=_aware(params["StartDate"]) if params.get("StartDate") else call.world.now(),
        end=_aware(params["EndDate"]) if params.get("EndDate") else None,
        match=params.get("InstanceMatchCriteria") or "open",
        reservation_type="default",
        group_arn=params.get("PlacementGroupArn"),
        tenancy=params.get("Tenancy") or "default",
        ebs_optimized=bool(params.get("EbsOptimized")),
        tags=tags_of(params, "capacity-reservation"),
    )
    return {"CapacityReservation": shown(call.region, record)}


@action("ec2", "DescribeCapacityReservations")
def describe_capacity_reservations(call: ApiCall) -> dict[str, Any]:
    """Return reservations by id and filter, with what is free now."""
    wanted = call.params.get("CapacityReservationIds")
    records = (
        [find_reservation(call.world, call.region, each) for each in wanted]
        if wanted
        else list(call.world.table(call.region, KIND).values())
    )
    for record in records:
        age(call.world, record)
    return {
        "CapacityReservations": [
            shown(call.region, each) for each in records if matches(each, call.params.get("Filters"), _FILTERS)
        ]
    }


@action("ec2", "ModifyCapacityReservation")
def modify_capacity_reservation(call: ApiCall) -> dict[str, Any]:
    """Change size, end or matching of an active reservation. Capacity Blocks cannot be changed."""
    record = find_reservation(call.world, call.region, call.params.get("CapacityReservationId", ""))
    if record["ReservationType"] == "capacity-block":
        raise AwsError("OperationNotPermitted", "Capacity Blocks cannot be modified.")
    if record["State"] not in ("active", "scheduled"):
        raise AwsError("InvalidCapacityReservationState", f"The Capacity Reservation is {record['State']}.")
    params = call.params
    if params.get("EndDateType") or params.get("EndDate"):
        _check_end(call, params.get("EndDateType"), params.get("EndDate"))
        record["EndDateType"] = params.get("EndDateType") or record["EndDateType"]
        record["EndDate"] = _aware(params["EndDate"]) if params.get("EndDate") else None
    if params.get("InstanceCount") is not None:
        count, used = int(params["InstanceCount"]), record["TotalInstanceCount"] - free_instances(call.region, record)
        if count < max(used, 1):
            raise AwsError("InvalidParameterValue", f"InstanceCount may not be below the {used} instances in use.")
        grown = count - record["TotalInstanceCount"]
        if grown > 0:
            from gpukit_sandbox.cloud.ec2_launches import require_zone_capacity

            require_zone_capacity(call, record["InstanceType"], record["AvailabilityZone"], grown)
        record["TotalInstanceCount"] = count
    if params.get("InstanceMatchCriteria"):
        record["InstanceMatchCriteria"] = params["InstanceMatchCriteria"]
    return {"Return": True}


@action("ec2", "CancelCapacityReservation")
def cancel_capacity_reservation(call: ApiCall) -> dict[str, Any]:
    """Cancel a reservation: its instances run on as on-demand. A Capacity Block cannot be cancelled."""
    record = find_reservation(call.world, call.region, call.params.get("CapacityReservationId", ""))
    if record["ReservationType"] == "capacity-block":
        raise AwsError("OperationNotPermitted", "Capacity Blocks cannot be canceled.")
    if record["State"] not in ("active", "scheduled", "pending"):
        raise AwsError("InvalidCapacityReservationState", f"The Capacity Reservation is {record['State']}.")
    record["State"] = "cancelled"
    record["_gone"] = True
    return {"Return": True}


@rule("ec2", "DescribeCapacityBlockOfferings", source=_BLOCK_DOC)
def capacity_block_request_is_well_formed(call: ApiCall) -> None:
    """1 to 64 instances; whole days up to 14, whole weeks up to 182 days; a type that is sold so; a start within eight weeks."""
    params = call.params
    hours = int(params.get("CapacityDurationHours", 0))
    if hours < DAY_STEP_HOURS or hours > MAX_BLOCK_HOURS:
        raise AwsError(
            "InvalidParameterValue",
            f"CapacityDurationHours must be between {DAY_STEP_HOURS} and {MAX_BLOCK_HOURS}; it is {hours}.",
        )
    step = DAY_STEP_HOURS if hours <= LAST_HOURS_IN_DAYS else WEEK_STEP_HOURS
    if hours % step:
        raise AwsError(
            "InvalidParameterValue",
            f"CapacityDurationHours of {hours} is invalid: it must be a multiple of {step} hours.",
        )
    instance_type, ultraserver = params.get("InstanceType"), params.get("UltraserverType")
    if bool(instance_type) == bool(ultraserver):
        raise AwsError(
            "InvalidParameterCombination",
            "Specify either InstanceType with InstanceCount or UltraserverType with UltraserverCount.",
        )
    if instance_type:
        _require_block_type(instance_type)
        count = params.get("InstanceCount")
        if count is None:
            raise AwsError("MissingParameter", "The request must contain the parameter InstanceCount")
        if not 1 <= int(count) <= MAX_BLOCK_INSTANCES:
            raise AwsError(
                "InvalidParameterValue", f"InstanceCount must be between 1 and {MAX_BLOCK_INSTANCES}; it is {count}."
            )
        if params.get("UltraserverCount") is not None:
            raise AwsError("InvalidParameterCombination", "UltraserverCount is valid only with UltraserverType.")
    else:
        if not any(each.name == ultraserver for each in load_catalog().ultraservers()):
            raise AwsError("InvalidParameterValue", f"Invalid UltraserverType: {ultraserver}")
        if params.get("InstanceCount") is not None:
            raise AwsError("InvalidParameterCombination", "InstanceCount is valid only with InstanceType.")
        if int(params.get("UltraserverCount") or 1) < 1:
            raise AwsError("InvalidParameterValue", "UltraserverCount must be at least 1.")
    start, end = params.get("StartDateRange"), params.get("EndDateRange")
    latest = call.world.now() + timedelta(weeks=BLOCK_LEAD_WEEKS)
    if start and _aware(start) > latest:
        raise AwsError("InvalidParameterValue", f"StartDateRange may lie at most {BLOCK_LEAD_WEEKS} weeks ahead.")
    if end and _aware(end) <= call.world.now():
        raise AwsError("InvalidParameterValue", "EndDateRange must be in the future.")
    if start and end and _aware(end) <= _aware(start):
        raise AwsError("InvalidParameterValue", "EndDateRange must be after StartDateRange.")


def _require_block_type(instance_type: str) -> None:
    found = hardware.describe_type(instance_type)
    if found is None:
        raise AwsError("InvalidParameterValue", f"Invalid value '{instance_type}' for InstanceType.")
    if "capacity-block" not in found["SupportedUsageClasses"]:
        raise AwsError(
            "InvalidParameterValue", f"Capacity Blocks are not offered for the instance type {instance_type}."
        )
    if any(
        each.instance_type == instance_type and each.name.startswith("u-") for each in load_catalog().ultraservers()
    ):
        raise AwsError("InvalidParameterValue", f"{instance_type} is sold as UltraServers: specify UltraserverType.")


@action("ec2", "DescribeCapacityBlockOfferings")
def describe_capacity_block_offerings(call: ApiCall) -> dict[str, Any]:
    """Return one offer per zone that has the type, unless a fault took the capacity; each can be purchased."""
    params = call.params
    hours = int(params["CapacityDurationHours"])
    count = int(params.get("InstanceCount") or 0)
    instance_type = params.get("InstanceType")
    if params.get("UltraserverType"):
        server = load_catalog().ultraserver(params["UltraserverType"])
        instance_type, count = (
            server.instance_type,
            int(server.instances or 0) * int(params.get("UltraserverCount") or 1),
        )
    earliest = (
        max(_aware(params["StartDateRange"]), call.world.now()) if params.get("StartDateRange") else call.world.now()
    )
    start = _next_block_start(earliest)
    if params.get("EndDateRange") and start + timedelta(hours=hours) > _aware(params["EndDateRange"]) + timedelta(
        days=1
    ):
        return {"CapacityBlockOfferings": []}
    offers = []
    price = load_catalog().capacity_block_usd_per_hour(params.get("UltraserverType") or instance_type, call.region)
    for zone in sorted(hardware.zones_offering(call.region, str(instance_type))):
        left = (
            call.environ["gpukit.faults"].capacity_left(str(instance_type), zone)
            if "gpukit.faults" in call.environ
            else None
        )
        if left is not None and left < count:
            continue
        units = int(params.get("UltraserverCount") or 1) if params.get("UltraserverType") else count
        fee = float(price.value) * hours * units if price is not None else 0.0
        offer = {
            "CapacityBlockOfferingId": new_id("cb"),
            "InstanceType": instance_type,
            "AvailabilityZone": zone,
            "InstanceCount": count,
            "StartDate": start,
            "EndDate": start + timedelta(hours=hours),
            "CapacityBlockDurationHours": hours,
            "CapacityBlockDurationMinutes": hours * 60,
            "UpfrontFee": f"{fee:.2f}",
            "CurrencyCode": "USD",
            "Tenancy": "default",
        }
        if params.get("UltraserverType"):
            offer |= {"UltraserverType": params["UltraserverType"], "UltraserverCount": units}
        call.world.table(call.region, OFFERS)[str(offer["CapacityBlockOfferingId"])] = offer
        offers.append(offer)
    _forget_old_offers(call)
    return {"CapacityBlockOfferings": offers}


@action("ec2", "PurchaseCapacityBlock")
def purchase_capacity_block(call: ApiCall) -> dict[str, Any]:
    """Buy an offer: a reservation of type capacity-block, scheduled until its start."""
    identifier = call.params.get("CapacityBlockOfferingId", "")
    offer = call.world.table(call.region, OFFERS).get(identifier)
    if offer is None:
        raise AwsError(
            "InvalidCapacityBlockOfferingId.NotFound", f"The Capacity Block offering '{identifier}' does not exist."
        )
    if not call.params.get("InstancePlatform"):
        raise AwsError("MissingParameter", "The request must contain the parameter InstancePlatform")
    record = _new_record(
        call.world,
        call.region,
        identifier=new_id("cr"),
        instance_type=offer["InstanceType"],
        zone=offer["AvailabilityZone"],
        count=offer["InstanceCount"],
        platform=call.params["InstancePlatform"],
        start=offer["StartDate"],
        end=offer["EndDate"],
        match="targeted",
        reservation_type="capacity-block",
        group_arn=None,
        tags=tags_of(call.params, "capacity-reservation"),
    )
    del call.world.table(call.region, OFFERS)[identifier]
    block = call.world.table(call.region, BLOCKS)[record["CapacityBlockId"]]
    return {"CapacityReservation": shown(call.region, record), "CapacityBlocks": [block]}


@action("ec2", "DescribeCapacityBlocks")
def describe_capacity_blocks(call: ApiCall) -> dict[str, Any]:
    """Return the Capacity Blocks of the account."""
    wanted = call.params.get("CapacityBlockIds")
    blocks = []
    for block in call.world.table(call.region, BLOCKS).values():
        if wanted and block["CapacityBlockId"] not in wanted:
            continue
        for identifier in block["CapacityReservationIds"]:
            block["State"] = find_reservation(call.world, call.region, identifier)["State"]
        blocks.append(block)
    fields = {
        "capacity-block-id": "CapacityBlockId",
        "availability-zone": "AvailabilityZone",
        "state": "State",
        "ultraserver-type": "UltraserverType",
    }
    return {"CapacityBlocks": [each for each in blocks if matches(each, call.params.get("Filters"), fields)]}


@action("ec2", "DescribeCapacityBlockStatus")
def describe_capacity_block_status(call: ApiCall) -> dict[str, Any]:
    """Return how much of each Capacity Block is free and in use."""
    found = []
    for block in call.world.table(call.region, BLOCKS).values():
        records = [find_reservation(call.world, call.region, each) for each in block["CapacityReservationIds"]]
        free = sum(free_instances(call.region, each) for each in records)
        found.append(
            {
                "CapacityBlockId": block["CapacityBlockId"],
                "InterconnectStatus": "ok",
                "TotalCapacity": sum(each["TotalInstanceCount"] for each in records),
                "TotalAvailableCapacity": free,
                "TotalUnavailableCapacity": 0,
            }
        )
    return {"CapacityBlockStatuses": found}


def shown(region: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reservation as EC2 describes it."""
    free = free_instances(region, record) if record["State"] in ("active", "scheduled") else 0
    described = {key: value for key, value in record.items() if value is not None and not key.startswith("_")}
    described["AvailableInstanceCount"] = free
    return described


def zone_names(region: str) -> frozenset[str]:
    """Return the names of a region's zones."""
    from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

    return frozenset(zone.name for zone in RegionsAndZonesBackend.zones.get(region, ()))


def zone_ids(region: str) -> frozenset[str]:
    """Return the ids of a region's zones, the same in every account."""
    from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

    return frozenset(zone.zone_id for zone in RegionsAndZonesBackend.zones.get(region, ()))


def _zone_name(region: str, zone_id: str | None) -> str | None:
    from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

    return (
        next((zone.name for zone in RegionsAndZonesBackend.zones.get(region, ()) if zone.zone_id == zone_id), None)
        if zone_id
        else None
    )


def _region_of_zone(zone: str) -> str:
    from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

    for region, zones in RegionsAndZonesBackend.zones.items():
        if any(zone in (each.name, each.zone_id) for each in zones):
            return str(region)
    return DEFAULT_REGION


def _new_record(
    world: World,
    region: str,
    *,
    identifier: str,
    instance_type: str,
    zone: str,
    count: int,
    platform: str,
    start: datetime,
    end: datetime | None,
    match: str,
    reservation_type: str,
    group_arn: str | None,
    tenancy: str = "default",
    ebs_optimized: bool = False,
    tags: list[dict[str, str]] | None = None,
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "CapacityReservationId": identifier,
        "OwnerId": ACCOUNT_ID,
        "CapacityReservationArn": arn("ec2", region, f"capacity-reservation/{identifier}"),
        "InstanceType": instance_type,
        "InstancePlatform": platform,
        "AvailabilityZone": zone,
        "Tenancy": tenancy,
        "TotalInstanceCount": count,
        "EbsOptimized": ebs_optimized,
        "EphemeralStorage": False,
        "State": "active",
        "StartDate": start,
        "EndDate": end,
        "EndDateType": "limited" if end else "unlimited",
        "InstanceMatchCriteria": match,
        "CreateDate": world.now(),
        "ReservationType": reservation_type,
        "PlacementGroupArn": group_arn,
        "Tags": tags or [],
    }
    if reservation_type == "capacity-block":
        record["CapacityBlockId"] = "cb-" + identifier.removeprefix("cr-")
        world.table(region, BLOCKS)[record["CapacityBlockId"]] = {
            "CapacityBlockId": record["CapacityBlockId"],
            "AvailabilityZone": zone,
            "CapacityReservationIds": [identifier],
            "StartDate": start,
            "EndDate": end,
            "CreateDate": world.now(),
            "State": "active",
            "Tags": [],
        }
    age(world, record)
    world.table(region, KIND)[identifier] = record
    return record


def _next_block_start(earliest: datetime) -> datetime:
    # Capacity Blocks begin and end at 11:30 UTC. Source: EC2 User Guide, Capacity Blocks, "How Capacity Blocks work".
    start = earliest.replace(hour=11, minute=30, second=0, microsecond=0)
    return start if start >= earliest else start + timedelta(days=1)


def _forget_old_offers(call: ApiCall) -> None:
    offers = call.world.table(call.region, OFFERS)
    surplus = len(offers) - 200
    for identifier in list(offers)[: max(surplus, 0)]:
        del offers[identifier]


def _aware(value: datetime) -> datetime:
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _date(value: Any) -> datetime | None:
    if value is None or value == "":
        return None
    if isinstance(value, (int, float)) and math.isfinite(value):
        return datetime.fromtimestamp(value, UTC)
    return _aware(datetime.fromisoformat(str(value).replace("Z", "+00:00")))
