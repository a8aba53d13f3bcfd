"""Security groups: none of them lets the internet in."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

LUSTRE_PORTS = ((988, 988), (1018, 1023))
"""TCP ports between Lustre clients and servers. Source: FSx for Lustre User Guide, "Access control", 2026-08."""

NFS_PORTS = ((2049, 2049),)
"""TCP port of NFS, which EFS speaks."""

_EVERYWHERE = "0.0.0.0/0"


def make_efa_security_group(
    name: str, *, vpc_id: pulumi.Input[str], tags: Mapping[str, str], opts: pulumi.ResourceOptions
) -> Any:
    """
    Create the group that lets EFA traffic through: everything to itself and from itself, and nothing else.

    EFA sends outside of TCP/IP, so a rule for addresses does not cover it: both directions must name the group.
    """
    import pulumi_aws as aws

    return aws.ec2.SecurityGroup(
        f"{name}-efa",
        description="EFA: all traffic between members of this group, in both directions",
        vpc_id=vpc_id,
        ingress=[_within_group("all traffic from this group", "-1", 0, 0)],
        egress=[_within_group("all traffic to this group", "-1", 0, 0)],
        tags={**tags, "Name": f"{name}-efa"},
        opts=opts,
    )


def make_member_ports_group(
    name: str,
    *,
    description: str,
    ports: Sequence[tuple[int, int]],
    vpc_id: pulumi.Input[str],
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
) -> Any:
    """Create a group whose members reach each other on some TCP ports, clients and servers alike."""
    import pulumi_aws as aws

    return aws.ec2.SecurityGroup(
        name,
        description=description,
        vpc_id=vpc_id,
        ingress=[_within_group(f"TCP {first}-{last} from members", "tcp", first, last) for first, last in ports],
        egress=[_within_group(f"TCP {first}-{last} to members", "tcp", first, last) for first, last in ports],
        tags={**tags, "Name": name},
        opts=opts,
    )


def make_closed_security_group(
    name: str,
    *,
    description: str,
    vpc_id: pulumi.Input[str],
    tags: Mapping[str, str],
    opts: pulumi.ResourceOptions,
    ingress: Sequence[Mapping[str, Any]] = (),
) -> Any:
    """Create a group that may call out and that nobody may call, but for the rules given."""
    import pulumi_aws as aws

    return aws.ec2.SecurityGroup(
        name,
        description=description,
        vpc_id=vpc_id,
        ingress=[dict(rule) for rule in ingress],
        egress=[
            {"description": "out", "protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": [_EVERYWHERE]},
        ],
        tags={**tags, "Name": name},
        opts=opts,
    )


def allow_from(
    cidrs: Sequence[pulumi.Input[str]], protocol: str, first: int, last: int, description: str
) -> dict[str, Any]:
    """Return an inbound rule for address blocks."""
    return {
        "description": description,
        "protocol": protocol,
        "from_port": first,
        "to_port": last,
        "cidr_blocks": list(cidrs),
    }


def _within_group(description: str, protocol: str, first: int, last: int) -> dict[str, Any]:
    return {"description": description, "protocol": protocol, "from_port": first, "to_port": last, "self": True}
