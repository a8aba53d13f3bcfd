"""Read AWS resources as the stack file that would have made them, with the resource of each key path."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from gpukit.catalog import load_catalog
from gpukit.plan import NetworkInterfacePlan

_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
_LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"
_VOLUME: Final = "aws:ebs/volume:Volume"
_CLUSTER: Final = "aws:eks/cluster:Cluster"
_VPC: Final = "aws:ec2/vpc:Vpc"
_LOGS: Final = "aws:cloudwatch/logGroup:LogGroup"
_INGRESS: Final = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
_RULE: Final = "aws:ec2/securityGroupRule:SecurityGroupRule"
_SECURITY_GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStack:
    """A stack file made of resources: its mapping, the interfaces of each pool, and key path -> URN."""

    mapping: dict[str, Any]
    region: str | None
    urns: dict[str, str]
    interfaces: dict[str, tuple[NetworkInterfacePlan, ...]] = field(default_factory=dict)

    def urn_of(self, path: str) -> str | None:
        """Return the resource of a key path or of its nearest parent; None for the stack as a whole."""
        while path:
            if path in self.urns:
                return self.urns[path]
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return None


def read_resources(resources: Iterable[Any]) -> ReadStack:
    """
    Return the stack file of a stack's resources.

    Values that are not known in a preview are left out; a node group whose instance type is unknown is no pool, because
    nothing can be said of it.
    """
    known = [(item, plain(item.props)) for item in resources]
    found = _Found()
    templates = [(item, props) for item, props in known if item.resource_type == _TEMPLATE]
    for item, props in known:
        if item.resource_type == _GROUP:
            found.add_pool(item, props, _template_of(item, props, templates))
        elif item.resource_type == _LUSTRE:
            found.add_store(item, _lustre(props))
        elif item.resource_type == _VOLUME:
            found.add_store(item, _volume(props))
        else:
            found.add_setting(item, props)
        for key, value in (props.get("tags") or {}).items():
            found.tag(str(key), value, item.urn)
        found.note_region(props)
    return ReadStack(mapping=found.mapping, region=found.region, urns=found.urns, interfaces=found.interfaces)


def plain(value: Any) -> Any:
    """Return plain dicts, lists and scalars; what the engine does not know yet is None."""
    try:
        if isinstance(value, (str, int, float, bool)) or value is None:
            return value
        if hasattr(value, "items"):
            return {str(key): plain(_get(value, key)) for key in list(value)}
        return [plain(item) for item in value]
    except Exception:
        # the SDK raises as soon as an unknown value is looked at
        return None


def _get(value: Any, key: Any) -> Any:
    try:
        return value[key]
    except Exception:
        return None


@dataclass(slots=True)
class _Found:
    mapping: dict[str, Any] = field(default_factory=dict)
    urns: dict[str, str] = field(default_factory=dict)
    interfaces: dict[str, tuple[NetworkInterfacePlan, ...]] = field(default_factory=dict)
    region: str | None = None

    def add_pool(self, item: Any, props: dict[str, Any], template: dict[str, Any]) -> None:
        pool = _pool(props, template)
        if pool is None:
            return
        name = _name(item.name, self.mapping.setdefault("pools", {}))
        self.mapping["pools"][name] = pool
        self.urns[f"pools.{name}"] = item.urn
        self.urns.setdefault("pools", item.urn)
        interfaces = _interfaces(template)
        if interfaces:
            self.interfaces[name] = interfaces

    def add_store(self, item: Any, store: dict[str, Any]) -> None:
        name = _name(item.name, self.mapping.setdefault("storage", {}))
        self.mapping["storage"][name] = store
        self.urns[f"storage.{name}"] = item.urn

    def add_setting(self, item: Any, props: dict[str, Any]) -> None:
        kind = item.resource_type
        network = self.mapping.setdefault("network", {})
        if kind == _CLUSTER:
            access = props.get("vpcConfig") or {}
            cidrs = access.get("publicAccessCidrs") or ["0.0.0.0/0"]
            if access.get("endpointPublicAccess") is not False:
                # EKS opens the endpoint to the world unless it is told otherwise
                self.mapping["access"] = {"public_endpoint_cidrs": cidrs}
                self.urns["access"] = item.urn
        elif kind == _VPC and props.get("cidrBlock"):
            network["cidr"] = props["cidrBlock"]
            self.urns["network.cidr"] = item.urn
        elif kind == _LOGS and props.get("retentionInDays"):
            network["flow_log_days"] = props["retentionInDays"]
            self.urns["network.flow_log_days"] = item.urn
        for rule in _inbound(kind, props):
            self.urns[f"network.ports[{len(network.setdefault('ports', []))}]"] = item.urn
            network["ports"].append(rule)

    def tag(self, key: str, value: Any, urn: str) -> None:
        if isinstance(value, str) and len(value) <= 256:
            self.mapping.setdefault("tags", {})[key] = value
            self.urns.setdefault(f"tags.{key[:80]}", urn)

    def note_region(self, props: dict[str, Any]) -> None:
        region = props.get("region")
        if self.region is None and isinstance(region, str):
            self.region = region


def _template_of(item: Any, props: dict[str, Any], templates: list[tuple[Any, dict[str, Any]]]) -> dict[str, Any]:
    """Return the launch template of a node group: by dependency, by name or id, else the only one of its parent."""
    depended = {other.urn for other in item.property_dependencies.get("launchTemplate", [])}
    wanted = props.get("launchTemplate") or {}
    for other, template in templates:
        named = {value for value in (template.get("name"), template.get("id")) if value}
        if other.urn in depended or named & {wanted.get("name"), wanted.get("id")}:
            return template
    siblings = [
        template
        for other, template in templates
        if item.parent is not None and other.parent is not None and other.parent.urn == item.parent.urn
    ]
    return siblings[0] if len(siblings) == 1 else {}


def _pool(props: dict[str, Any], template: dict[str, Any]) -> dict[str, Any] | None:
    instance_type = template.get("instanceType") or next(iter(props.get("instanceTypes") or []), None)
    catalog = load_catalog()
    if not isinstance(instance_type, str) or not (
        catalog.has_instance_type(instance_type) or catalog.has_helper_type(instance_type)
    ):
        return None
    scaling = props.get("scalingConfig") or {}
    low, high = int(scaling.get("minSize") or 0), int(scaling.get("maxSize") or scaling.get("desiredSize") or 1)
    mode, reservation = _capacity(props, template)
    capacity: dict[str, Any] = {"mode": mode}
    if reservation:
        capacity["reservations"] = [{"id": reservation, "nodes": max(high, 1)}]
    pool: dict[str, Any] = {
        "role": "gpu" if catalog.has_instance_type(instance_type) else "system",
        "instance_type": instance_type,
        "nodes": {"min": low, "max": high},
        "capacity": capacity,
        "labels": props.get("labels") or {},
    }
    group = (template.get("placement") or {}).get("groupName")
    if group:
        pool["placement_group"] = group
    volume = next((item.get("ebs") for item in template.get("blockDeviceMappings") or [] if item.get("ebs")), None)
    if volume:
        pool["root_volume"] = _present(
            gib=volume.get("volumeSize"),
            type=volume.get("volumeType"),
            iops=volume.get("iops"),
            throughput_mb_s=volume.get("throughput"),
        )
    return pool


def _capacity(props: dict[str, Any], template: dict[str, Any]) -> tuple[str, str | None]:
    target = (template.get("capacityReservationSpecification") or {}).get("capacityReservationTarget") or {}
    reservation = target.get("capacityReservationId")
    market = (template.get("instanceMarketOptions") or {}).get("marketType")
    if props.get("capacityType") == "CAPACITY_BLOCK" or market == "capacity-block":
        return "capacity-block", reservation
    if props.get("capacityType") == "SPOT" or market == "spot":
        return "spot", None
    return ("reserved", reservation) if reservation else ("on-demand", None)


def _interfaces(template: dict[str, Any]) -> tuple[NetworkInterfacePlan, ...]:
    return tuple(
        NetworkInterfacePlan(
            network_card=int(item.get("networkCardIndex") or 0),
            device_index=int(item.get("deviceIndex") or 0),
            interface_type=str(item.get("interfaceType") or "interface"),
            takes_address=item.get("interfaceType") != "efa-only",
        )
        for item in template.get("networkInterfaces") or []
    )


def _lustre(props: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "lustre"} | _present(
        gib=props.get("storageCapacity"),
        deployment_type=props.get("deploymentType"),
        throughput_tier=props.get("perUnitStorageThroughput"),
        efa=props.get("efaEnabled"),
        metadata_iops=(props.get("metadataConfiguration") or {}).get("iops"),
        backup_days=props.get("automaticBackupRetentionDays"),
    )


def _volume(props: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "ebs"} | _present(
        gib=props.get("size"),
        volume_type=props.get("type"),
        iops=props.get("iops"),
        throughput_mb_s=props.get("throughput"),
    )


def _inbound(kind: str, props: dict[str, Any]) -> list[dict[str, Any]]:
    if kind == _INGRESS:
        rules = [(props.get("ipProtocol"), props.get("fromPort"), props.get("toPort"), [props.get("cidrIpv4")])]
    elif kind == _RULE and props.get("type") == "ingress":
        rules = [(props.get("protocol"), props.get("fromPort"), props.get("toPort"), props.get("cidrBlocks") or [])]
    elif kind == _SECURITY_GROUP:
        rules = [
            (rule.get("protocol"), rule.get("fromPort"), rule.get("toPort"), rule.get("cidrBlocks") or [])
            for rule in props.get("ingress") or []
        ]
    else:
        return []
    return [
        {
            # "-1" is every protocol and every port
            "protocol": protocol if protocol in ("tcp", "udp") else "tcp",
            "port": int(low) if protocol not in ("-1", -1) and low is not None else 0,
            "to_port": int(high) if protocol not in ("-1", -1) and high is not None else 65_535,
            "cidr": cidr,
        }
        for protocol, low, high, cidrs in rules
        for cidr in cidrs
        if isinstance(cidr, str)
    ]


def _present(**values: Any) -> dict[str, Any]:
    return {key: _whole(value) for key, value in values.items() if value is not None}


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _name(text: str, taken: dict[str, Any]) -> str:
    """Return a name of a stack file that is like a resource's and not taken yet."""
    base = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:34] or "x"
    base = base if base[0].isalpha() else f"x-{base}"
    name, count = base, 2
    while name in taken:
        name, count = f"{base}-{count}", count + 1
    return name
