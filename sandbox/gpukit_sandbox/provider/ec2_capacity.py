"""Capacity reservations and Capacity Blocks."""

from typing import Any, ClassVar

from gpukit_sandbox.provider.ec2_network import Ec2Resource
from gpukit_sandbox.provider.resource import applies
from gpukit_sandbox.provider.tagging import ec2_tags
from gpukit_sandbox.provider.values import Properties
from gpukit_sandbox.provider.world import Calls

_OVER = ("status:cancelled", "status:expired")


class CapacityReservation(Ec2Resource):
    """An on-demand capacity reservation."""

    token = "aws:ec2/capacityReservation:CapacityReservation"
    create_call, id_from = "create_capacity_reservation", "CapacityReservation.CapacityReservationId"
    read_call, read_args, item = (
        "describe_capacity_reservations",
        {"CapacityReservationIds": ["{id}"]},
        "CapacityReservations[0]",
    )
    gone = ("InvalidCapacityReservationId.NotFound", *_OVER)
    delete_call, delete_args = "cancel_capacity_reservation", {"CapacityReservationId": "{id}"}
    renames: ClassVar = {"instanceCount": "TotalInstanceCount", "arn": "CapacityReservationArn"}
    tagging = ec2_tags("capacity-reservation")
    status, ready, failed = (
        "State",
        ("active", "scheduled", "assessing", "pending"),
        ("failed", "payment-failed", "unsupported"),
    )
    defaults: ClassVar = {"endDateType": "unlimited", "instanceMatchCriteria": "open", "tenancy": "default"}

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """The count is called differently on the way in and on the way out."""
        return {**super().create_params(calls, inputs), "InstanceCount": int(inputs["instanceCount"])}

    def not_modelled(self, calls: Calls, inputs: Properties) -> list[tuple[str, str]]:
        """The count is carried by `create_params`."""
        return super().not_modelled(calls, {k: v for k, v in inputs.items() if k != "instanceCount"})

    @applies("instanceCount", "endDate", "endDateType", on_create=False)
    def modify(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change size or end."""
        change: dict[str, Any] = {
            "InstanceCount": int(new["instanceCount"]),
            "EndDateType": new.get("endDateType", "unlimited"),
        }
        if new.get("endDate"):
            change["EndDate"] = new["endDate"]
        calls.call("ec2", "modify_capacity_reservation", CapacityReservationId=resource_id, **change)


class CapacityBlockReservation(Ec2Resource):
    """A Capacity Block, bought by an offering. AWS does not sell it back: deleting only forgets it."""

    token = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
    create_call, id_from = "purchase_capacity_block", "CapacityReservation.CapacityReservationId"
    read_call, read_args, item = (
        "describe_capacity_reservations",
        {"CapacityReservationIds": ["{id}"]},
        "CapacityReservations[0]",
    )
    gone = ("InvalidCapacityReservationId.NotFound", *_OVER)
    renames: ClassVar = {
        "instanceCount": "TotalInstanceCount",
        "createdDate": "CreateDate",
        "arn": "CapacityReservationArn",
    }
    handles = frozenset({"timeouts"})
    tagging = ec2_tags("capacity-reservation")
    status, ready, failed = (
        "State",
        ("active", "scheduled", "payment-pending"),
        ("failed", "payment-failed", "expired", "cancelled"),
    )
