"""EKS clusters: create, describe, update, delete, with the interfaces, the security group and the log group that EKS makes itself."""

import base64
import hashlib
import ipaddress
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from moto.backends import get_backend

from gpukit_sandbox.cloud.admin import route
from gpukit_sandbox.cloud.ec2_instances import CardInterface, count_free_addresses, free_addresses, require_address
from gpukit_sandbox.cloud.ec2_launch_rules import find_subnet
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.faults import Faults
from gpukit_sandbox.cloud.iam_lookup import ROLE_ARN, find_role, trusts
from gpukit_sandbox.cloud.images import KUBERNETES_VERSIONS
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, DEFAULT_REGION, World, arn, new_id

KIND: Final = "eks-clusters"
OVERRIDES: Final = "_eks-control-planes"
_NAME: Final = re.compile(r"[0-9A-Za-z][A-Za-z0-9\-_]{0,99}")
_PRIVATE_RANGES: Final = tuple(ipaddress.ip_network(each) for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
_UNROUTABLE: Final = (
    *_PRIVATE_RANGES,
    *(
        ipaddress.ip_network(each)
        for each in ("100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "0.0.0.0/8")
    ),
)
_UNSUPPORTED_ZONE_IDS: Final = frozenset({"use1-az3", "usw1-az2", "cac1-az3"})
"""Source: EKS User Guide, network requirements, "Subnets may not be in these zones"."""
MIN_FREE_ADDRESSES: Final = 6
AUTHENTICATION_ORDER: Final = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_CLUSTER_DOC: Final = (
    "EKS API reference, CreateCluster; EKS User Guide, network requirements, cluster access, envelope encryption"
)


def bad(message: str) -> AwsError:
    """Return EKS's refusal of a parameter."""
    return AwsError("InvalidParameterException", message)


def find_cluster(world: World, region: str, name: str) -> dict[str, Any]:
    """Return a cluster that is not gone. Raises ResourceNotFoundException."""
    cluster = world.table(region, KIND).get(name)
    if cluster is None:
        raise AwsError("ResourceNotFoundException", f"No cluster found for name: {name}.", fields={"clusterName": name})
    settle(world, cluster)
    found: dict[str, Any] = cluster
    return found


def require_active(cluster: Mapping[str, Any]) -> None:
    """Refuse work on a cluster that is not ACTIVE (InvalidRequestException)."""
    if cluster["status"] not in ("ACTIVE", "UPDATING"):
        raise AwsError(
            "InvalidRequestException",
            f"Cluster '{cluster['name']}' is in {cluster['status']} status: it must be ACTIVE.",
        )


def settle(world: World, record: dict[str, Any]) -> None:
    """Bring a record out of its making once its time has come: by default at the next look."""
    ready = record.get("_ready_at")
    if ready is not None and world.now() >= ready:
        record["status"] = record.pop("_then")
        record["_ready_at"] = None


def begin(call: ApiCall, record: dict[str, Any], status: str, then: str) -> None:
    """Put a record into a passing status; a fault may say for how long."""
    seconds = (
        call.environ["gpukit.faults"].creation_seconds(call.action_name) if "gpukit.faults" in call.environ else 0.0
    )
    record["status"], record["_then"] = status, then
    record["_ready_at"] = call.world.now() + timedelta(seconds=seconds)


def check_tags(tags: Mapping[str, str] | None) -> None:
    """Refuse more than 50 tags and AWS's own prefix."""
    if tags and len(tags) > 50:
        raise bad("A resource may have at most 50 tags.")
    for key in tags or ():
        if key.lower().startswith("aws:"):
            raise bad(f"Tag keys may not start with aws: ({key}).")


def minor(version: str) -> int:
    """Return the minor number of `1.33`. Raises InvalidParameterException for another form."""
    match = re.fullmatch(r"1\.(\d{1,2})", version or "")
    if match is None:
        raise bad(f"Invalid Kubernetes version '{version}': it looks like 1.33.")
    return int(match.group(1))


@rule("eks", "CreateCluster", source=_CLUSTER_DOC)
def cluster_name_is_free(call: ApiCall) -> None:
    """Letters, digits, - and _, beginning with a letter or digit, at most 100; unique in a Region."""
    name = call.params.get("name", "")
    if not _NAME.fullmatch(name):
        raise bad(
            f"Cluster name '{name}' is invalid: it must match ^[0-9A-Za-z][A-Za-z0-9\\-_]* and have at most 100 characters."
        )
    table = call.world.table(call.region, KIND)
    if name in table:
        raise AwsError(
            "ResourceInUseException", f"Cluster already exists with name: {name}", fields={"clusterName": name}
        )
    if len(table) >= quota(call.world, call.region, "eks", "clusters"):
        raise AwsError("ResourceLimitExceededException", "The maximum number of clusters has been reached.")


@rule("eks", "CreateCluster", source=_CLUSTER_DOC)
def cluster_version_is_offered(call: ApiCall) -> None:
    """A minor version that EKS offers."""
    version = call.params.get("version")
    if version is not None:
        minor(version)
        if version not in KUBERNETES_VERSIONS:
            raise bad(f"unsupported Kubernetes version {version}; supported: {', '.join(KUBERNETES_VERSIONS)}")


@rule("eks", "CreateCluster", source=_CLUSTER_DOC)
def cluster_settings_go_together(call: ApiCall) -> None:
    """Service range, IP family, encryption of secrets, access mode, endpoint access, Auto Mode."""
    params = call.params
    check_tags(params.get("tags"))
    _check_encryption(params.get("encryptionConfig"))
    network, vpc_config = params.get("kubernetesNetworkConfig") or {}, params.get("resourcesVpcConfig") or {}
    if network.get("ipFamily") == "ipv6" and network.get("serviceIpv4Cidr"):
        raise bad("serviceIpv4Cidr can't be specified with ipFamily ipv6.")
    if network.get("serviceIpv4Cidr"):
        _check_service_range(network["serviceIpv4Cidr"])
    check_endpoint_access(
        vpc_config.get("endpointPublicAccess"),
        vpc_config.get("endpointPrivateAccess"),
        vpc_config.get("publicAccessCidrs"),
    )
    if len(vpc_config.get("publicAccessCidrs") or []) > quota(call.world, call.region, "eks", "public-cidrs"):
        raise bad("publicAccessCidrs has more entries than the limit of 40.")
    access = params.get("accessConfig") or {}
    mode = access.get("authenticationMode") or "CONFIG_MAP"
    if mode == "CONFIG_MAP" and access.get("bootstrapClusterCreatorAdminPermissions") is False:
        raise bad(
            "bootstrapClusterCreatorAdminPermissions must be true if cluster authentication mode is set to CONFIG_MAP."
        )
    _check_auto_mode(params, mode)
    _check_remote_networks(params, mode)


@rule("eks", "CreateCluster", source=_CLUSTER_DOC)
def cluster_role_and_network_exist(call: ApiCall) -> None:
    """A role that EKS may assume; subnets of one VPC in two zones with free addresses; at most four groups of that VPC."""
    params = call.params
    check_role(params.get("roleArn", ""), "eks.amazonaws.com")
    backend = get_backend("ec2")[ACCOUNT_ID][call.region]
    vpc_config = params.get("resourcesVpcConfig") or {}
    subnets = _subnets(backend, vpc_config.get("subnetIds") or [])
    if len(subnets) < 2 or len({each.availability_zone for each in subnets}) < 2:
        raise bad("Subnets specified must be in at least two different AZs")
    if len({each.vpc_id for each in subnets}) > 1:
        raise bad("Subnets specified must belong to the same VPC.")
    for each in subnets:
        if each.availability_zone_id in _UNSUPPORTED_ZONE_IDS:
            raise AwsError(
                "UnsupportedAvailabilityZoneException",
                f"Cannot create cluster '{params['name']}' because {each.availability_zone}, the targeted availability zone, does not currently have "
                "sufficient capacity to support the cluster.",
                fields={"validZones": sorted({zone.availability_zone for zone in subnets} - {each.availability_zone})},
            )
        if count_free_addresses(backend, each) < MIN_FREE_ADDRESSES:
            raise bad(f"Subnet {each.id} has fewer than {MIN_FREE_ADDRESSES} free IP addresses.")
    check_security_groups(call, backend, vpc_config.get("securityGroupIds") or [], subnets[0].vpc_id)
    network = params.get("kubernetesNetworkConfig") or {}
    vpc = backend.get_vpc(subnets[0].vpc_id)
    if network.get("serviceIpv4Cidr"):
        service = ipaddress.ip_network(network["serviceIpv4Cidr"])
        if any(service.overlaps(ipaddress.ip_network(each)) for each in vpc_ranges(vpc)):
            raise bad(f"The service range {service} overlaps with the CIDR blocks of the VPC.")
    if network.get("ipFamily") == "ipv6" and any(not each.ipv6_cidr_block_associations for each in subnets):
        raise bad("ipFamily ipv6 needs subnets with an IPv6 CIDR block.")
    for each in params.get("encryptionConfig") or []:
        _check_key(call, (each.get("provider") or {}).get("keyArn", ""))


@action("eks", "CreateCluster")
def create_cluster(call: ApiCall) -> dict[str, Any]:
    """Make a cluster with its security group, two interfaces in its subnets, the log group, and the creator's access entry."""
    from gpukit_sandbox.cloud.eks_access import add_creator_entry

    params, region = call.params, call.region
    name, vpc_config = params["name"], params["resourcesVpcConfig"]
    backend = get_backend("ec2")[ACCOUNT_ID][region]
    subnets = _subnets(backend, vpc_config["subnetIds"])
    number = hashlib.sha256(f"{region}/{name}".encode()).hexdigest()
    group = _make_cluster_group(backend, name, subnets[0].vpc_id, number)
    access = params.get("accessConfig") or {}
    mode = access.get("authenticationMode") or "CONFIG_MAP"
    network = dict(params.get("kubernetesNetworkConfig") or {})
    family = network.get("ipFamily") or "ipv4"
    logging = _logging(params.get("logging"))
    override = call.world.table(region, OVERRIDES).get(name) or call.world.table("*", OVERRIDES).get("*") or {}
    cluster: dict[str, Any] = {
        "name": name,
        "arn": arn("eks", region, f"cluster/{name}"),
        "createdAt": call.world.now(),
        "version": params.get("version") or KUBERNETES_VERSIONS[-2],
        "endpoint": override.get("endpoint") or _made_up_connection(region, name)[0],
        "roleArn": params["roleArn"],
        "resourcesVpcConfig": {
            "subnetIds": list(vpc_config["subnetIds"]),
            "securityGroupIds": list(vpc_config.get("securityGroupIds") or []),
            "clusterSecurityGroupId": group.id,
            "vpcId": subnets[0].vpc_id,
            "endpointPublicAccess": vpc_config.get("endpointPublicAccess") is not False,
            "endpointPrivateAccess": vpc_config.get("endpointPrivateAccess") is True,
            "publicAccessCidrs": list(vpc_config.get("publicAccessCidrs") or ["0.0.0.0/0"])
            if vpc_config.get("endpointPublicAccess") is not False
            else [],
        },
        "kubernetesNetworkConfig": {
            "ipFamily": family,
            **(
                {
                    "serviceIpv4Cidr": network.get("serviceIpv4Cidr")
                    or _default_service_range(backend.get_vpc(subnets[0].vpc_id))
                }
                if family == "ipv4"
                else {"serviceIpv6Cidr": "fd30:1c53:5f8a::/108"}
            ),
            "elasticLoadBalancing": network.get("elasticLoadBalancing") or {"enabled": False},
        },
        "logging": logging,
        "identity": {"oidc": {"issuer": f"https://oidc.eks.{region}.amazonaws.com/id/{number[:32].upper()}"}},
        "certificateAuthority": {"data": override.get("certificate_authority") or _certificate(number)},
        "platformVersion": "eks.12",
        "tags": dict(params.get("tags") or {}),
        "encryptionConfig": list(params.get("encryptionConfig") or []),
        "health": {"issues": []},
        "accessConfig": {
            "bootstrapClusterCreatorAdminPermissions": access.get("bootstrapClusterCreatorAdminPermissions")
            is not False,
            "authenticationMode": mode,
        },
        "upgradePolicy": params.get("upgradePolicy") or {"supportType": "EXTENDED"},
        "zonalShiftConfig": params.get("zonalShiftConfig") or {"enabled": False},
        "remoteNetworkConfig": params.get("remoteNetworkConfig"),
        "computeConfig": params.get("computeConfig"),
        "storageConfig": params.get("storageConfig"),
        "deletionProtection": bool(params.get("deletionProtection")),
        "controlPlaneScalingConfig": params.get("controlPlaneScalingConfig") or {"tier": "standard"},
        "_bootstrap_self_managed_addons": params.get("bootstrapSelfManagedAddons") is not False,
        "_interfaces": _make_interfaces(backend, name, subnets, group),
    }
    begin(call, cluster, "CREATING", "ACTIVE")
    call.world.table(region, KIND)[name] = cluster
    _make_log_group(call, cluster)
    if mode != "CONFIG_MAP" and cluster["accessConfig"]["bootstrapClusterCreatorAdminPermissions"]:
        add_creator_entry(call, cluster)
    return {"cluster": shown(cluster)}


@action("eks", "DescribeCluster")
def describe_cluster(call: ApiCall) -> dict[str, Any]:
    """Return a cluster."""
    return {"cluster": shown(find_cluster(call.world, call.region, call.params["name"]))}


@action("eks", "ListClusters")
def list_clusters(call: ApiCall) -> dict[str, Any]:
    """Return the names of the clusters."""
    return {"clusters": sorted(call.world.table(call.region, KIND))}


@action("eks", "DescribeClusterVersions")
def describe_cluster_versions(call: ApiCall) -> dict[str, Any]:
    """Return the Kubernetes versions that EKS offers."""
    wanted = call.params.get("clusterVersions") or KUBERNETES_VERSIONS
    return {
        "clusterVersions": [
            {
                "clusterVersion": each,
                "clusterType": "eks",
                "defaultVersion": each == KUBERNETES_VERSIONS[-2],
                "versionStatus": "STANDARD_SUPPORT",
                "status": "STANDARD_SUPPORT",
            }
            for each in KUBERNETES_VERSIONS
            if each in wanted
        ]
    }


@action("eks", "DeleteCluster")
def delete_cluster(call: ApiCall) -> dict[str, Any]:
    """Delete a cluster without node groups, with everything that EKS made for it."""
    from gpukit_sandbox.cloud.eks_nodegroups import nodegroups_of

    cluster = find_cluster(call.world, call.region, call.params["name"])
    if nodegroups_of(call.world, call.region, cluster["name"]):
        raise AwsError(
            "ResourceInUseException", "Cluster has nodegroups attached", fields={"clusterName": cluster["name"]}
        )
    if cluster["deletionProtection"]:
        raise AwsError(
            "InvalidRequestException", f"Cluster {cluster['name']} has deletion protection enabled: disable it first."
        )
    if cluster["status"] == "CREATING":
        raise AwsError("ResourceInUseException", f"Cluster {cluster['name']} is being created.")
    backend = get_backend("ec2")[ACCOUNT_ID][call.region]
    for identifier in cluster["_interfaces"]:
        backend.enis.pop(identifier, None)
    group_id = cluster["resourcesVpcConfig"]["clusterSecurityGroupId"]
    if not any(group_id in {group.id for group in interface.group_set} for interface in backend.enis.values()):
        # As on AWS: a cluster group that somebody still uses stays behind.
        for groups in backend.groups.values():
            groups.pop(group_id, None)
    for kind in ("eks-addons", "eks-access-entries", "eks-pod-identities", "_eks-updates"):
        table = call.world.table(call.region, kind)
        for key in [key for key in table if key.split("\x00", 1)[0] == cluster["name"]]:
            del table[key]
    del call.world.table(call.region, KIND)[cluster["name"]]
    return {"cluster": {**shown(cluster), "status": "DELETING"}}


def shown(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cluster as EKS describes it."""
    return {key: value for key, value in cluster.items() if not key.startswith("_") and value is not None}


def check_role(role_arn: str, service: str) -> None:
    """Refuse a role that is none, of another account, absent, or that the service may not assume."""
    match = ROLE_ARN.fullmatch(role_arn)
    if match is None:
        raise bad(f"Invalid role ARN: {role_arn}")
    if match.group(1) != ACCOUNT_ID:
        raise bad("Cross-account pass role is not allowed.")
    role = find_role(role_arn)
    if role is None or not trusts(role, service):
        raise bad(
            f"Role with arn: {role_arn}, could not be assumed because it does not exist or the trusted entity is not correct"
        )


def check_endpoint_access(public: bool | None, private: bool | None, cidrs: Sequence[str] | None) -> None:
    """Refuse a cluster that nothing reaches, and public ranges that are not public."""
    if public is False and private is not True:
        raise bad("Private and public endpoint access cannot be false.")
    seen: set[str] = set()
    for each in cidrs or ():
        try:
            network = ipaddress.ip_network(each)
        except ValueError as problem:
            raise bad(f"The following CIDRs are invalid in publicAccessCidrs: [{each}]") from problem
        if each in seen:
            raise bad(f"publicAccessCidrs has {each} twice.")
        seen.add(each)
        if network.version == 4 and network.prefixlen > 0 and any(network.overlaps(other) for other in _UNROUTABLE):
            raise bad(f"The following CIDRs are not allowed in publicAccessCidrs: [{each}]")


def check_security_groups(call: ApiCall, backend: Any, identifiers: Sequence[str], vpc_id: str) -> None:
    """Refuse groups that do not exist, of another VPC, or more than four."""
    if len(identifiers) > quota(call.world, call.region, "eks", "control-plane-sgs"):
        raise bad("A cluster takes at most 4 security groups.")
    for identifier in identifiers:
        group = backend.get_security_group_from_id(identifier)
        if group is None:
            raise bad(f"The security group ID '{identifier}' does not exist")
        if group.vpc_id != vpc_id:
            raise bad(f"Security group(s) [{identifier}] are not in the same VPC as the subnets.")


def vpc_ranges(vpc: Any) -> list[str]:
    """Return the IPv4 ranges of a VPC."""
    return [each["cidr_block"] for each in vpc.get_cidr_block_association_set()]


def subnets_of(backend: Any, identifiers: Sequence[str]) -> list[Any]:
    """Return subnets by id. Raises InvalidParameterException."""
    return _subnets(backend, identifiers)


def _subnets(backend: Any, identifiers: Sequence[str]) -> list[Any]:
    found = []
    for identifier in identifiers:
        try:
            found.append(find_subnet(backend, identifier))
        except AwsError as problem:
            raise bad(f"The subnet ID '{identifier}' does not exist") from problem
    return found


def _check_encryption(configuration: Sequence[Mapping[str, Any]] | None) -> None:
    if configuration is None:
        return
    if len(configuration) > 1:
        raise bad("encryptionConfig takes one entry.")
    for each in configuration:
        if list(each.get("resources") or []) != ["secrets"]:
            raise bad(
                f"Invalid resources {each.get('resources')} in encryptionConfig: the only supported value is secrets."
            )
        if not (each.get("provider") or {}).get("keyArn"):
            raise bad("encryptionConfig needs provider.keyArn.")


def _check_key(call: ApiCall, key_arn: str) -> None:
    match = re.fullmatch(r"arn:aws[a-z-]*:kms:([a-z0-9-]+):(\d{12}):(key/[A-Za-z0-9-]+|alias/.+)", key_arn)
    if match is None:
        raise bad(f"The keyArn in encryptionConfig provider is invalid: {key_arn}")
    if match.group(1) != call.region:
        raise bad("The key in encryptionConfig must be in the Region of the cluster.")
    if match.group(2) != ACCOUNT_ID or not match.group(3).startswith("key/"):
        return
    key = get_backend("kms")[ACCOUNT_ID][call.region].keys.get(match.group(3).removeprefix("key/"))
    if key is None or key.key_state != "Enabled":
        raise bad(f"The key {key_arn} does not exist or is not enabled.")
    if getattr(key, "key_spec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT":
        raise bad("The key in encryptionConfig must be symmetric.")


def _check_service_range(text: str) -> None:
    try:
        network = ipaddress.ip_network(text)
    except ValueError as problem:
        raise bad(f"Invalid serviceIpv4Cidr: {text}") from problem
    if network.version != 4 or not any(network.subnet_of(each) for each in _PRIVATE_RANGES):  # type: ignore[arg-type]
        raise bad("The specified service CIDR must be within 10.0.0.0/8, 172.16.0.0/12, or 192.168.0.0/16.")
    if not 12 <= network.prefixlen <= 24:
        raise bad("The netmask of the service CIDR must be between /24 and /12.")


def _check_auto_mode(params: Mapping[str, Any], mode: str) -> None:
    compute = (params.get("computeConfig") or {}).get("enabled")
    storage = ((params.get("storageConfig") or {}).get("blockStorage") or {}).get("enabled")
    balancing = ((params.get("kubernetesNetworkConfig") or {}).get("elasticLoadBalancing") or {}).get("enabled")
    if len({bool(compute), bool(storage), bool(balancing)}) > 1:
        raise bad(
            "For EKS Auto Mode, please ensure that all required configs, including computeConfig, kubernetesNetworkConfig, and blockStorage are all either fully enabled or fully disabled."
        )
    if compute:
        if mode == "CONFIG_MAP":
            raise bad("EKS Auto Mode needs the authentication mode API or API_AND_CONFIG_MAP.")
        if params.get("bootstrapSelfManagedAddons") is True:
            raise bad("EKS Auto Mode needs bootstrapSelfManagedAddons to be false.")
        pools = params["computeConfig"].get("nodePools") or []
        if set(pools) - {"general-purpose", "system"}:
            raise bad("nodePools may hold general-purpose and system.")
        if pools and not params["computeConfig"].get("nodeRoleArn"):
            raise bad("When Compute Config nodePools is not empty, nodeRoleArn must be specified.")


def _check_remote_networks(params: Mapping[str, Any], mode: str) -> None:
    remote = params.get("remoteNetworkConfig")
    if not remote:
        return
    if mode == "CONFIG_MAP":
        raise bad("Remote networks need the authentication mode API or API_AND_CONFIG_MAP.")
    for group in [*(remote.get("remoteNodeNetworks") or []), *(remote.get("remotePodNetworks") or [])]:
        for text in group.get("cidrs") or []:
            try:
                network = ipaddress.ip_network(text)
            except ValueError as problem:
                raise bad(f"Invalid CIDR in remoteNetworkConfig: {text}") from problem
            allowed = (*_PRIVATE_RANGES, ipaddress.ip_network("100.64.0.0/10"))
            if network.version != 4 or not any(network.subnet_of(each) for each in allowed):  # type: ignore[arg-type]
                raise bad(f"Remote networks must be within RFC 1918 or 100.64.0.0/10: {text}")


def _logging(wanted: Mapping[str, Any] | None) -> dict[str, Any]:
    enabled = {
        kind
        for each in (wanted or {}).get("clusterLogging") or []
        if each.get("enabled")
        for kind in each.get("types") or []
    }
    setup = [{"types": [kind for kind in LOG_TYPES if kind in enabled], "enabled": True}] if enabled else []
    rest = [kind for kind in LOG_TYPES if kind not in enabled]
    return {"clusterLogging": setup + ([{"types": rest, "enabled": False}] if rest else [])}


def merge_logging(current: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the logging setup after an update that names some types."""
    enabled = {kind for each in current["clusterLogging"] if each["enabled"] for kind in each["types"]}
    for each in wanted.get("clusterLogging") or []:
        kinds = set(each.get("types") or [])
        enabled = enabled | kinds if each.get("enabled") else enabled - kinds
    return _logging({"clusterLogging": [{"types": sorted(enabled), "enabled": True}]})


def _make_cluster_group(backend: Any, name: str, vpc_id: str, number: str) -> Any:
    label = f"eks-cluster-sg-{name}-{int(number[:8], 16)}"
    description = "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as well as any managed workloads."
    group = backend.create_security_group(
        label,
        description,
        vpc_id=vpc_id,
        tags={"Name": label, f"kubernetes.io/cluster/{name}": "owned", "aws:eks:cluster-name": name},
    )
    backend.authorize_security_group_ingress(group.id, "-1", None, None, [], source_groups=[{"GroupId": group.id}])
    return group


def _make_interfaces(backend: Any, name: str, subnets: Sequence[Any], group: Any) -> list[str]:
    made, zones = [], set()
    for subnet in subnets:
        if subnet.availability_zone in zones or len(made) == 2:
            continue
        zones.add(subnet.availability_zone)
        address = require_address(free_addresses(backend, subnet), subnet)
        interface = CardInterface(
            backend,
            subnet,
            address=address,
            groups=[group],
            settings={"Description": f"Amazon EKS {name}"},
            hostnames=False,
        )
        interface.requester_managed = True
        interface.requester_id = "AROAEKSCONTROLPLANE"
        interface.status = "in-use"
        backend.enis[interface.id] = interface
        made.append(interface.id)
    return made


def _make_log_group(call: ApiCall, cluster: Mapping[str, Any]) -> None:
    if not any(each["enabled"] for each in cluster["logging"]["clusterLogging"]):
        return
    logs = get_backend("logs")[ACCOUNT_ID][call.region]
    name = f"/aws/eks/{cluster['name']}/cluster"
    if name not in logs.groups:
        logs.create_log_group(name, {})


def make_log_group(call: ApiCall, cluster: Mapping[str, Any]) -> None:
    """Make the cluster's log group when a log type is on and the group is not there; EKS never deletes it."""
    _make_log_group(call, cluster)


def _default_service_range(vpc: Any) -> str:
    first = ipaddress.ip_network("10.100.0.0/16")
    return (
        "172.20.0.0/16"
        if any(first.overlaps(ipaddress.ip_network(each)) or each.startswith("10.") for each in vpc_ranges(vpc))
        else str(first)
    )


def _certificate(number: str) -> str:
    body = base64.b64encode(bytes.fromhex(number) * 20).decode()
    lines = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
    return base64.b64encode(f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n".encode()).decode()


@route("POST", "/clusters")
def _set_control_plane(request: dict[str, Any], world: World, _faults: Faults) -> Any:
    """
    Let a cluster of a name answer at a real control plane: `name`, `endpoint`, `certificate_authority` (base64), `region`.

    Name and region `*` are every cluster, those to come included; without an endpoint each has its own made-up one again.
    """
    region, name = str(request.get("region", DEFAULT_REGION)), str(request["name"])
    override = {"endpoint": request.get("endpoint"), "certificate_authority": request.get("certificate_authority")}
    world.table(region, OVERRIDES)[name] = override if override["endpoint"] else {}
    places = world.regions_with(KIND) if region == "*" else [region]
    for place in places:
        for cluster in world.table(place, KIND).values():
            if name in ("*", cluster["name"]):
                endpoint, authority = _made_up_connection(place, cluster["name"])
                cluster["endpoint"] = override["endpoint"] or endpoint
                cluster["certificateAuthority"] = {"data": override["certificate_authority"] or authority}
    return {"name": name, "region": region, **override}


def _made_up_connection(region: str, name: str) -> tuple[str, str]:
    """Return the address of a cluster that no control plane stands behind, and its certificate."""
    number = hashlib.sha256(f"{region}/{name}".encode()).hexdigest()
    return f"https://{number[:32].upper()}.gr7.{region}.eks.amazonaws.com", _certificate(number)


def update_id() -> str:
    """Return the id of an update: a UUID."""
    raw = new_id("u", 32).removeprefix("u-")
    return f"{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"
