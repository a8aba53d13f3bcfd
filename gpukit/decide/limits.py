"""
Hold what the plan uses against every quota and hard limit that could stop it.

One line a limit: used, limit, per cent, verdict, quota code, how to raise it. Demand counts pools at their largest
size, because a limit that holds only while a pool is small fails on the day it grows. Over-counting is safe;
under-counting strands nodes. A user's own numbers (from `gpukit preflight --json` or `limits:`) replace the defaults.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from gpukit.decide.limit_demand import Demand, demand_of_everything
from gpukit.plan import ImagePlan, KubernetesPlan, LimitLine, NetworkPlan, PoolPlan, StoragePlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.catalog.rules import Limit

WARNING_PCT: Final = 70.0
"""From here a line is a warning: other things of the account share the limit."""
ERROR_PCT: Final = 100.0
"""Above this AWS refuses."""

_SERVICE_OF_AREA: Final = {
    "vpc": "vpc",
    "ec2": "ec2",
    "ec2-quota": "ec2",
    "eks": "eks",
    "fsx": "fsx",
    "efs": "elasticfilesystem",
    "ebs": "ebs",
    "iam": "iam",
    "autoscaling": "autoscaling",
    "ecr": "ecr",
    "placement": "ec2",
}
"""Area of the limits table -> service code of Service Quotas."""
_SERVICE_OF_PREFIX: Final = {
    "vcpu-": "ec2",
    "eip": "ec2",
    "pg-": "ec2",
    "lt-": "ec2",
    "cb-": "ec2",
    "eks-": "eks",
    "asg-": "autoscaling",
    "fsx-": "fsx",
    "efs-": "elasticfilesystem",
    "ebs-": "ebs",
    "iam-": "iam",
    "ecr-": "ecr",
}
"""Start of a limit's id -> service code of Service Quotas; all others are of the VPC."""


def compute_limits(
    *,
    pools: Sequence[PoolPlan],
    helper_pools: Sequence[PoolPlan],
    network: NetworkPlan,
    storage: Sequence[StoragePlan],
    kubernetes: KubernetesPlan | None,
    catalog: "Catalog",
    own_limits: Mapping[str, float],
    images: Sequence[ImagePlan] = (),
) -> tuple[LimitLine, ...]:
    """
    Return the limits table, sorted by verdict's weight and then id, the heaviest first.

    `own_limits` maps a limit id or a quota code to the account's own value. Verdicts: `fine` under 70 %, `warning` from
    70 %, `error` above 100 %, `unknown` where limit or demand is not known, `not-counted` for vCPUs of reserved and
    Capacity Block nodes. A vCPU quota that the user has not stated is `unknown` when the default does not suffice:
    that default differs by account and grows with its history, so only the account itself can say no.
    """
    demands = demand_of_everything(
        pools=pools,
        helper_pools=helper_pools,
        network=network,
        storage=storage,
        kubernetes=kubernetes,
        images=images,
        catalog=catalog,
    )
    rows = {row.id: row for row in catalog.limits()}
    lines = [_line(demand, rows.get(demand.limit_id), own_limits) for demand in demands]
    return tuple(sorted(lines, key=lambda line: (_WEIGHT[line.verdict], -(line.pct or 0.0), line.id)))


_WEIGHT: Final = {"error": 0, "warning": 1, "unknown": 2, "fine": 3, "not-counted": 4}


def _line(demand: Demand, row: "Limit | None", own_limits: Mapping[str, float]) -> LimitLine:
    quota_code = demand.quota_code or (row.quota_code if row is not None else None) or None
    own = _own_limit(demand, quota_code, own_limits)
    limit = own if own is not None else (demand.limit if demand.limit is not None else row.value if row else None)
    pct = 100.0 * demand.used / limit if demand.used is not None and limit else None
    return LimitLine(
        id=demand.id,
        what=demand.what or (row.what if row is not None else demand.limit_id),
        used=demand.used,
        limit=limit,
        pct=pct,
        verdict=_verdict(demand, limit, is_own=own is not None, area=row.area if row is not None else ""),
        unit=demand.unit or (row.unit if row is not None else ""),
        quota_code=quota_code,
        scope=demand.scope or (row.scope if row is not None else ""),
        how_to_raise=_how_to_raise(row, quota_code, demand),
        because=demand.because,
        source="your own limit" if own is not None else (row.source if row is not None else demand.source),
    )


def _own_limit(demand: Demand, quota_code: str | None, own_limits: Mapping[str, float]) -> float | None:
    for key in (demand.id, demand.limit_id, quota_code):
        if key is not None and key in own_limits:
            return float(own_limits[key])
    return None


def _verdict(demand: Demand, limit: float | None, *, is_own: bool, area: str) -> str:
    if demand.not_counted:
        return "not-counted"
    if demand.used is None or limit is None:
        return "unknown"
    if demand.used == 0:
        return "fine"
    pct = 100.0 * demand.used / limit if limit > 0 else float("inf")
    if pct > ERROR_PCT:
        return "unknown" if area == "ec2-quota" and not is_own else "error"
    # a hard bound that is met exactly (one of one) is no risk: nothing else can take from it
    return "warning" if pct >= WARNING_PCT and not demand.exclusive else "fine"


def service_of_limit(line_id: str) -> str:
    """Return the service code that Service Quotas lists a limit under, judged by the limit's id."""
    for prefix, service in _SERVICE_OF_PREFIX.items():
        if line_id.startswith(prefix):
            return service
    return "vpc"


def _how_to_raise(row: "Limit | None", quota_code: str | None, demand: Demand) -> str:
    if demand.how_to_raise:
        return demand.how_to_raise
    if row is None:
        return ""
    if row.adjustable is False:
        return "it cannot be raised" + (f"; {row.rule}" if row.rule else "")
    upper = f", up to {row.adjustable_to:,.0f}" if row.adjustable_to else ""
    if quota_code:
        service = _SERVICE_OF_AREA.get(row.area, row.area)
        return f"request it in Service Quotas: service {service}, quota {quota_code}{upper}"
    if row.adjustable:
        return f"ask AWS Support{upper}"
    return row.rule or "ask AWS: whether it can be raised is not published"
