"""What the sandbox account has that no API call makes: reservations bought before, quotas, extra images. From `DIR/seed.json` and the endpoint."""

from typing import Any

from gpukit_sandbox.cloud.admin import route
from gpukit_sandbox.cloud.faults import Faults
from gpukit_sandbox.cloud.state import World


def apply(seed: dict[str, Any], world: World) -> None:
    """Put everything of a seed file into the world; what is there already stays."""
    from gpukit_sandbox.cloud import ec2_capacity

    for reservation in seed.get("reservations", []):
        ec2_capacity.seed_reservation(world, reservation)


@route("POST", "/reservations")
def _seed_reservation(request: dict[str, Any], world: World, _faults: Faults) -> Any:
    from gpukit_sandbox.cloud import ec2_capacity

    return ec2_capacity.seed_reservation(world, request)
