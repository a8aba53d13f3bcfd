"""Where an instance is launched: the reservation target, in the words of launch template and instance alike."""

from typing import Any

from gpukit.plan import CapacityPlan


def render_reservation_target(capacity: CapacityPlan) -> dict[str, Any] | None:
    """Return the capacity reservation specification, or None where nothing is targeted."""
    if capacity.reservation_id is not None:
        target = {"capacity_reservation_id": capacity.reservation_id}
    elif capacity.reservation_group_arn is not None:
        target = {"capacity_reservation_resource_group_arn": capacity.reservation_group_arn}
    else:
        return None
    return {"capacity_reservation_target": target}
