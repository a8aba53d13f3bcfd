"""The levels of Kueue's topology: cooling zone, then NVLink rack or network layers, then host."""

from typing import Any, Final

from gpukit.plan import Plan, PoolPlan

KUEUE_API: Final = "kueue.x-k8s.io/v1beta2"
"""Storage version of Kueue's objects. Source: Kueue v0.17.0, config/components/crd."""
COOLING_ZONE_LABEL: Final = "gpukit/cooling-zone"
RACK_LABEL: Final = "gpukit/rack"
HOST_LABEL: Final = "kubernetes.io/hostname"
POOL_LABEL: Final = "gpukit/pool"
NETWORK_LABEL: Final = "topology.k8s.aws/network-node-layer-{layer}"
NETWORK_LAYERS: Final = 3
"""Network layers that every type with a topology reports. A type with a fourth is placed by the first three.

Source: EC2 User Guide, "Amazon EC2 topology", 2026-08."""


def topology_name(pool: PoolPlan) -> str:
    """Return the name of a pool's topology."""
    return f"{pool.name}-topology"


def topology_levels(pool: PoolPlan) -> tuple[str, ...]:
    """
    Return the node labels of a pool's topology, widest first.

    Every node of the pool must carry all of them: a node without one is invisible to Kueue. Rack-scale types stand by
    rack, as NVLink ends there; others by network layer.
    """
    racks = all(group.rack for group in pool.node_groups) and bool(pool.node_groups)
    middle = (RACK_LABEL,) if racks else tuple(NETWORK_LABEL.format(layer=n) for n in range(1, NETWORK_LAYERS + 1))
    zone = (COOLING_ZONE_LABEL,) if pool.cooling_zone else ()
    return (*zone, *middle, HOST_LABEL)


def render_topologies(plan: Plan) -> list[dict[str, Any]]:
    """Return one Topology for each GPU pool."""
    return [
        {
            "apiVersion": KUEUE_API,
            "kind": "Topology",
            "metadata": {"name": topology_name(pool)},
            "spec": {"levels": [{"nodeLabel": label} for label in topology_levels(pool)]},
        }
        for pool in plan.pools
    ]
