"""Where in the stack file somebody turns to use less of a limit."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gpukit.checks.rule import CheckContext

_BY_PREFIX: Final = (
    ("subnet-addresses", "network.cidr"),
    ("natgw-az", "network.nat_gateways"),
    ("eip", "network.nat_gateways"),
    ("sg-rules", "network.ports"),
    ("sg-per-eni", "network.security_groups"),
    ("cidr-per-vpc", "network"),
    ("vpcs-per-region", "network"),
    ("routes", "network"),
    ("subnets-per-vpc", "network"),
    ("eks-public-cidr", "access.public_endpoint_cidrs"),
    ("lt-tags", "tags"),
    ("fsx-", "storage"),
    ("efs-", "storage"),
)


def path_of_limit(line_id: str, context: "CheckContext") -> str:
    """
    Return the key path of what uses most of a limit; `pools` where several pools do.

    A line of one pool or store (`userdata/train`, `fsx-efa-conn/scratch`) leads to it.
    """
    limit_id, _, name = line_id.partition("/")
    if limit_id == "userdata":
        return f"pools.{name}.boot"
    if limit_id == "fsx-efa-conn":
        return f"storage.{name}"
    for prefix, path in _BY_PREFIX:
        if line_id.startswith(prefix):
            return path
    if limit_id.startswith("vcpu-"):
        code = context.catalog.limit(limit_id).quota_code if _is_known(limit_id, context) else limit_id[5:]
        users = {pool.name for pool, group in context.node_groups() if group.capacity.quota == code}
        return f"pools.{users.pop()}" if len(users) == 1 else "pools"
    pools = context.plan.all_pools
    return f"pools.{pools[0].name}" if len(pools) == 1 else "pools"


def _is_known(limit_id: str, context: "CheckContext") -> bool:
    return any(row.id == limit_id for row in context.catalog.limits())
