"""Count what stands in the cloud, by service and region: for `gpukit sandbox status`, `leaks` and tests."""

from typing import Any

from moto.backends import get_backend

from gpukit_sandbox.cloud.state import ACCOUNT_ID, World


def count_world(world: World) -> dict[str, Any]:
    """Return {region: {kind: count}} without what every AWS account has from the start (default VPCs, Amazon's images)."""
    found: dict[str, dict[str, int]] = {}

    def add(region: str, kind: str, number: int) -> None:
        if number:
            counts = found.setdefault(region, {})
            counts[kind] = counts.get(kind, 0) + number

    for key, rows in world.tables.items():
        region, kind = key.split("/", 1)
        if not kind.startswith("_"):
            add(region, kind, sum(1 for row in rows.values() if not (isinstance(row, dict) and row.get("_gone"))))
    for region, backend in get_backend("ec2")[ACCOUNT_ID].items():
        for kind, number in _count_ec2(backend).items():
            add(region, kind, number)
    for service, kinds in _MOTO_KINDS.items():
        for region, backend in get_backend(service)[ACCOUNT_ID].items():  # type: ignore[call-overload]
            for kind, attribute in kinds.items():
                add("global" if region == "aws" else region, kind, _count(getattr(backend, attribute, {})))
    return dict(sorted(found.items()))


def _count(rows: Any) -> int:
    """A key whose deletion is scheduled costs nothing and does nothing: it is gone, as far as its owner can make it."""
    return sum(
        1
        for row in (rows.values() if isinstance(rows, dict) else rows)
        if getattr(row, "key_state", "") != "PendingDeletion"
    )


_MOTO_KINDS: dict[str, dict[str, str]] = {
    "s3": {"s3-buckets": "buckets"},
    "iam": {
        "iam-roles": "roles",
        "iam-instance-profiles": "instance_profiles",
        "iam-oidc-providers": "open_id_providers",
    },
    "kms": {"kms-keys": "keys"},
    "logs": {"log-groups": "groups"},
    "cloudwatch": {"alarms": "alarms", "dashboards": "dashboards"},
    "sns": {"sns-topics": "topics"},
    "ecr": {"ecr-repositories": "repositories"},
    "efs": {"efs-file-systems": "file_systems_by_id", "efs-mount-targets": "mount_targets_by_id"},
}


def _count_ec2(backend: Any) -> dict[str, int]:
    default_vpcs = {vpc.id for vpc in backend.vpcs.values() if str(vpc.is_default).lower() == "true"}
    instances = [
        each
        for reservation in backend.reservations.values()
        for each in reservation.instances
        if each.state != "terminated"
    ]
    return {
        "vpcs": sum(1 for vpc in backend.vpcs if vpc not in default_vpcs),
        "subnets": sum(
            1 for zones in backend.subnets.values() for subnet in zones.values() if subnet.vpc_id not in default_vpcs
        ),
        "security-groups": sum(
            1
            for groups in backend.groups.values()
            for group in groups.values()
            if group.name != "default" and group.vpc_id not in default_vpcs
        ),
        "instances": len(instances),
        "network-interfaces": len(backend.enis),
        "volumes": len(backend.volumes),
        "nat-gateways": sum(
            1 for gateway in backend.nat_gateways.values() if gateway.state not in ("deleted", "failed")
        ),
        "elastic-ips": len(backend.addresses),
        "internet-gateways": sum(
            1 for each in backend.internet_gateways.values() if each.vpc is None or each.vpc.id not in default_vpcs
        ),
        "vpc-endpoints": len(backend.vpc_end_points),
        "flow-logs": len(backend.flow_logs),
    }
