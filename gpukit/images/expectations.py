"""What a healthy node of a pool looks like: the file that `node_check.py` compares it with."""

from typing import Any

from gpukit.plan import ImagePlan, NodeGroupPlan, PoolPlan

EFA_LATE_SECONDS = 120
"""How long the check waits for EFA devices and GPUs that come late. Own judgement: both are seen within a minute."""


def expect_node(
    *,
    pool: PoolPlan,
    group: NodeGroupPlan | None,
    image: ImagePlan,
    lustre: bool = False,
    local_nvme: int | None = None,
) -> dict[str, Any]:
    """
    Return what `node_check.py` expects, as JSON values with sorted keys.

    `local_nvme` is the number of instance-store disks; left out, it is the catalogue's. Where that does not know it
    either it is None, and is not checked.
    """
    instance_type = group.instance_type if group is not None else pool.instance_type
    efa = group.efa_interfaces if group is not None else pool.efa_interfaces_per_node
    return {
        "cuda": pool.gpus_per_node > 0,
        "driver": image.components.get("driver", ""),
        "efa_interfaces": efa,
        "gpu_model": pool.gpu_model or "",
        "gpus": pool.gpus_per_node,
        "instance_type": instance_type,
        "late_seconds": EFA_LATE_SECONDS,
        "local_nvme": local_nvme if local_nvme is not None else _count_local_nvme(instance_type),
        "lustre": lustre,
    }


def _count_local_nvme(instance_type: str) -> int | None:
    from gpukit.catalog import load_catalog

    catalog = load_catalog()
    return catalog.instance_type(instance_type).local_nvme_count if catalog.has_instance_type(instance_type) else None
