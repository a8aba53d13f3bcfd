"""What a plan takes for granted in its account, and the sandbox's cloud gets before `up`: reservations, images."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterable
from typing import Any, Final

from gpukit.plan import NodeGroupPlan, Plan
from gpukit_sandbox.errors import PartFailed

TIMEOUT_SECONDS: Final = 30.0
_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""The cloud is on this machine: a proxy of the user's must not be asked for it."""


def list_reservations(plan: Plan) -> list[dict[str, Any]]:
    """Return the reservations and Capacity Blocks that the plan targets by id, each large enough for all groups."""
    found: dict[str, dict[str, Any]] = {}
    for group in _groups(plan):
        capacity = group.capacity
        if capacity.reservation_id is None:
            continue
        entry = found.setdefault(
            capacity.reservation_id,
            {
                "id": capacity.reservation_id,
                "instance_type": group.instance_type,
                "instances": 0,
                "availability_zone": group.availability_zone,
                "region": plan.region,
                "capacity_block": capacity.mode == "capacity-block",
                "starts": capacity.starts,
                "ends": capacity.ends,
            },
        )
        entry["instances"] += group.max_instances
    return [found[name] for name in sorted(found)]


def list_images(plan: Plan) -> list[dict[str, Any]]:
    """Return the images that the plan pins by id: the user's own. Amazon's, pinned by name, the cloud has already."""
    return [
        {
            "region": plan.region,
            "id": image.ami_id,
            "name": f"{image.name}, pinned as {image.ami_id}",
            "owner": image.ami_owner,
            "architecture": image.architecture,
            "root_gib": image.gib,
        }
        for image in plan.images
        if image.ami_id is not None
    ]


def put_into_cloud(plan: Plan, endpoint: str) -> list[str]:
    """
    Put what the plan takes for granted into the cloud at `endpoint`; return a line for each reservation that is new.

    What is there already stays: a second `up` must not give back capacity that instances use. Raises PartFailed.
    """
    told = []
    present = _present_reservations(plan, endpoint)
    for reservation in list_reservations(plan):
        if reservation["id"] in present:
            continue
        _post(endpoint, "reservations", reservation)
        told.append(_tell_reservation(**reservation))
    for image in list_images(plan):
        _post(endpoint, "images", image)
    return told


def _tell_reservation(
    *, id: str, instances: int, instance_type: str, availability_zone: str, capacity_block: bool, **_dates: Any
) -> str:
    kind = "Capacity Block" if capacity_block else "reservation"
    return f"bought before: {kind} {id}, {instances} x {instance_type} in {availability_zone}"


def _groups(plan: Plan) -> Iterable[NodeGroupPlan]:
    return (group for pool in plan.all_pools for group in pool.node_groups)


def _present_reservations(plan: Plan, endpoint: str) -> set[str]:
    wanted = [reservation["id"] for reservation in list_reservations(plan)]
    if not wanted:
        return set()
    import boto3

    client = boto3.client(
        "ec2",
        region_name=plan.region,
        endpoint_url=endpoint,
        aws_access_key_id="sandbox",
        aws_secret_access_key="sandbox",
    )
    pages = client.get_paginator("describe_capacity_reservations").paginate()
    return {item["CapacityReservationId"] for page in pages for item in page["CapacityReservations"]}


def _post(endpoint: str, what: str, body: dict[str, Any]) -> None:
    filled = {key: value for key, value in body.items() if value is not None}
    request = urllib.request.Request(
        f"{endpoint}/_gpukit/{what}",
        data=json.dumps(filled).encode(),
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    try:
        with _OPENER.open(request, timeout=TIMEOUT_SECONDS):
            return
    except urllib.error.HTTPError as error:
        why = error.read().decode(errors="replace")[:500]
        raise PartFailed(
            f"the sandbox's cloud refuses {what[:-1]} {filled.get('id') or filled.get('name')}",
            why=why,
            fix="compare type, zone and dates in the stack file with what was bought",
        ) from error
    except OSError as error:
        raise PartFailed(
            f"the sandbox's cloud at {endpoint} does not answer", why=str(error), fix="gpukit sandbox down; then again"
        ) from error
